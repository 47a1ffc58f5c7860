use super::{braces, preamble::with_preamble, reader::Reader};
use crate::{
    domain::{Language, Task},
    languages::outline::Outline,
};

/// How well a text fits its task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fit {
    /// A program, assembled, that defines the entry point (or, where the task has none, does something).
    Whole(String),
    /// A program, assembled, that does not.
    Part(String),
    /// Not a program.
    Broken,
}

/// The program that `code` is meant to be: a whole program, or a completion of the task's signature.
///
/// 1. Code that defines the entry point is the program. Where only all of it is indented, that indentation goes.
/// 2. Else, code that is a program below the task's signature is a completion: it is joined below the signature. In
///    Python its first line must be indented; elsewhere it may leave out the braces that close what the signature opens.
///    It is never trimmed before, since its indentation is part of it.
/// 3. In a language of classes, code that is a method alone is joined below what the signature opens around it.
/// 4. What the preamble has is put on top, except what binds names that the code binds itself, what it repeats, and
///    imports that nothing has a use for where those are an error; below what must stand first.
/// 5. Code that is neither a program nor a completion comes back as it is.
///
/// The result is `code` or contains every line of it; nothing is ever cut away. The task's language says how code is
/// read. Used for replies of models and for samples of published files alike.
pub fn assemble(task: &Task, code: &str) -> String {
    match fit(&mut Reader::new(task.language), task, code) {
        Fit::Whole(program) | Fit::Part(program) => program,
        Fit::Broken => code.to_owned(),
    }
}

/// What `code` is to `task`, assembled as [`assemble`] says.
pub fn fit(reader: &mut Reader, task: &Task, code: &str) -> Fit {
    let read = reader.read(code);
    if let Some(outline) = &read
        && is_whole(task, outline)
    {
        return Fit::Whole(with_preamble(reader, task, code, outline));
    }
    let completed = match task.language {
        Language::Python => completed_by_indentation(reader, task, code),
        _ => braces::completed(reader, task, code),
    };
    if let Some((program, outline)) = completed {
        return Fit::Whole(with_preamble(reader, task, &program, &outline));
    }
    match read {
        Some(outline) => Fit::Part(with_preamble(reader, task, code, &outline)),
        None => Fit::Broken,
    }
}

/// Whether a text with this outline is what the task asks for.
pub fn is_whole(task: &Task, outline: &Outline) -> bool {
    match &task.entry_point {
        Some(name) => outline.offers(name),
        None => outline.runs,
    }
}

/// A Python function whose lines are all indented, or the body of one.
fn completed_by_indentation(reader: &mut Reader, task: &Task, code: &str) -> Option<(String, Outline)> {
    // A comment has no indentation in Python.
    let is_code = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let first_line = code.lines().find(is_code).unwrap_or_default();
    if !first_line.starts_with([' ', '\t']) {
        return None;
    }
    let shifted = without_common_indentation(code);
    if let Some(outline) = reader.read(&shifted).filter(|outline| is_whole(task, outline)) {
        return Some((shifted, outline));
    }
    let joined = format!("{}\n{code}", task.signature.as_ref()?.trim_end());
    let outline = reader.read(&joined).filter(|outline| is_whole(task, outline))?;
    Some((joined, outline))
}

/// The text without the blank space that all of its lines begin with.
fn without_common_indentation(text: &str) -> String {
    let indentation = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let common = text.lines().filter(|line| !line.trim().is_empty()).map(indentation).min().unwrap_or(0);
    text.split_inclusive('\n').map(|line| line.get(common..).unwrap_or("\n")).collect()
}
