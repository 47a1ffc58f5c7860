use super::{assembly::is_whole, reader::Reader};
use crate::{
    domain::Task,
    languages::outline::{Outline, text_around_last_method},
};

/// Closing braces that a completion may leave out: those of a method, a class and one around it.
const MAX_CLOSERS: usize = 3;

/// The program that `code` is below the task's signature, in a language of braces: the body of the function, with or
/// without the braces that close it, or the whole method, where the signature opens a class around it.
pub fn completed(reader: &mut Reader, task: &Task, code: &str) -> Option<(String, Outline)> {
    let signature = task.signature.as_deref().map(str::trim_end).filter(|text| !text.is_empty())?;
    let brace = if signature.ends_with('{') { "" } else { " {" };
    let head = format!("{signature}{brace}");
    if let Some(around) = text_around_last_method(task.language, &head) {
        let method = (0..=MAX_CLOSERS).find_map(|closers| joined(reader, task, around, code, closers));
        if method.is_some() {
            return method;
        }
    }
    let head = format!("{head}\n");
    let with_own_end = joined(reader, task, &head, code, 0);
    if with_own_end.is_some() || !reads_as_body(code) {
        return with_own_end;
    }
    (1..=MAX_CLOSERS).find_map(|closers| joined(reader, task, &head, code, closers))
}

fn joined(reader: &mut Reader, task: &Task, head: &str, code: &str, closers: usize) -> Option<(String, Outline)> {
    let gap = if closers == 0 || code.ends_with('\n') { "" } else { "\n" };
    let text = format!("{head}{code}{gap}{}", "}\n".repeat(closers));
    let outline = reader.read(&text).filter(|outline| is_whole(task, outline))?;
    Some((text, outline))
}

/// Whether code that does not close what the signature opened may be its body: a word of prose is an expression too.
fn reads_as_body(code: &str) -> bool {
    let is_comment = |line: &str| line.trim_start().starts_with("//") || line.trim_start().starts_with("/*");
    let first_line = code.lines().find(|line| !line.trim().is_empty() && !is_comment(line)).unwrap_or_default();
    let mut words = code.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    first_line.starts_with([' ', '\t']) || words.any(|word| word == "return")
}
