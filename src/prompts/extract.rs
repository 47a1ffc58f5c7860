use super::{
    assembly::{Fit, fit},
    fences::{Block, Tag, blocks, continued_block, without_info_line},
    reader::{MAX_TEXT_BYTES, Reader},
    unfenced::program_without_fences,
};
use crate::{
    domain::{Language, Task},
    llm::split_reasoning,
};

/// The program in a reply, assembled as [`assemble`](super::assemble) says; `None` = the reply holds none.
///
/// Reasoning that the reply begins with is no part of it ([`split_reasoning`]), nor are a byte-order mark, the carriage
/// returns of CRLF line ends, empty lines at its beginning, and a first line that is the language's name alone (the
/// opening fence was in the prompt). A text *fits* when it is a program that defines the entry point, or a completion
/// of the signature; for a task without entry point, when it is a program that does something. The first of these
/// that exists is the program:
///
/// 1. the whole reply, where it fits;
/// 2. the last fenced block that fits and is not marked as another language or as prose;
/// 3. the beginning of the reply up to a bare fence, where it fits: the opening fence was in the prompt;
/// 4. the last fenced block that fits, whatever it is marked as;
/// 5. none, where a fence was never closed: the reply was cut;
/// 6. the last block of the task's language, or without a language, that is closed and defines anything or is broken but
///    names the entry point (without an entry point: any block marked as the task's language): it goes to the tests as
///    it is, so that what they say can be repaired;
/// 7. the longest run of lines that fits, where no code stands next to it.
///
/// A fence is a line of three or more backticks or tildes, indented or not; it is closed by a line of the same mark, at
/// least as long, with nothing behind it. A block ends at the first closing fence at which it is a program, so fences
/// inside its strings do not cut it. One that is never closed ends with the reply, where it then fits. The indentation of
/// the opening fence is taken off its lines. Nothing else is ever cut: no stop words, no clean-up, and no trimming.
///
/// No input panics. Work is bounded: a reply of more than 512 KiB (reasoning apart) holds no program, and past 2 MiB of
/// attempts at one reply nothing more is found in it.
pub fn extract_program(reply: &str, task: &Task) -> Option<String> {
    extract(reply, task, false)
}

/// The program in a reply that a limit of tokens ended. A block that is never closed is then half a program, however well
/// that half reads: what counts is a closed block, or a reply without a fence.
pub fn extract_program_of_cut(reply: &str, task: &Task) -> Option<String> {
    extract(reply, task, true)
}

fn extract(reply: &str, task: &Task, was_cut: bool) -> Option<String> {
    let (_, answer) = split_reasoning(reply.trim_start_matches('\u{feff}'));
    let answer = answer.replace("\r\n", "\n");
    let answer = without_info_line(answer.trim_start_matches('\n'), task.language);
    if answer.len() > MAX_TEXT_BYTES {
        return None;
    }
    let mut reader = Reader::new(task.language);
    if let Some(program) = whole(&mut reader, task, answer) {
        return Some(program);
    }
    let lines: Vec<&str> = answer.lines().collect();
    let blocks = blocks(&lines, task.language, &mut |text| whole(&mut reader, task, text).is_some());
    let mut last = |wanted: &dyn Fn(&Block) -> bool| {
        blocks
            .iter()
            .rfind(|block| block.accepted && (block.closed || !was_cut) && wanted(block))
            .and_then(|block| whole(&mut reader, task, &block.text))
    };
    if let Some(program) = last(&|block| block.tag != Tag::Other) {
        return Some(program);
    }
    let foreign = last(&|block| block.tag == Tag::Other);
    if let Some(text) = continued_block(&lines, &mut |text| whole(&mut reader, task, text).is_some()) {
        return whole(&mut reader, task, &text);
    }
    if foreign.is_some() {
        return foreign;
    }
    if blocks.iter().any(|block| !block.closed && block.tag != Tag::Other && !block.text.trim().is_empty()) {
        return None;
    }
    let second_best = blocks.iter().rev().find_map(|block| as_it_is(&mut reader, task, block));
    second_best.or_else(|| program_without_fences(&mut reader, task, &lines))
}

fn whole(reader: &mut Reader, task: &Task, text: &str) -> Option<String> {
    match fit(reader, task, text) {
        Fit::Whole(program) => Some(program),
        Fit::Part(_) | Fit::Broken => None,
    }
}

/// A block that does not fit, where it is still what the model meant as its program.
fn as_it_is(reader: &mut Reader, task: &Task, block: &Block) -> Option<String> {
    if block.tag == Tag::Other || block.text.trim().is_empty() {
        return None;
    }
    match (&task.entry_point, fit(reader, task, &block.text)) {
        (Some(_), Fit::Part(program)) => {
            reader.read(&block.text).is_some_and(|module| module.defines_something()).then_some(program)
        }
        (Some(name), Fit::Broken) => names_function(task.language, &block.text, name).then(|| block.text.clone()),
        (None, Fit::Broken) => (block.tag == Tag::Ours).then(|| block.text.clone()),
        (None, Fit::Part(_)) | (_, Fit::Whole(_)) => None,
    }
}

/// Whether a text that is broken seems to define the function all the same.
fn names_function(language: Language, text: &str, name: &str) -> bool {
    match language {
        Language::Python => text.contains(&format!("def {name}")),
        _ => text.contains(name),
    }
}
