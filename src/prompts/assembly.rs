use super::python::{Module, Reader, Statement, StatementKind};
use crate::domain::{Language, Task};

/// How well a text fits its task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fit {
    /// A program, assembled, that defines the entry point (or, where the task has none, calls something).
    Whole(String),
    /// A program, assembled, that does not.
    Part(String),
    /// Not a program.
    Broken,
}

/// The program that `code` is meant to be: a whole program, or a completion of the task's signature.
///
/// 1. Code that defines the entry point is the program. Where only all of it is indented, that indentation goes.
/// 2. Else, code whose first line is indented, and which is a program below the task's signature, is a completion: it
///    is joined below the signature. It is never trimmed before, since its indentation is part of it.
/// 3. Statements of the preamble are put on top, except those whose names the code binds itself and those that it
///    repeats; below its own docstring and `__future__` imports, where it has them.
/// 4. Code that is neither a program nor a completion comes back as it is.
///
/// The result is `code` or contains every line of it; nothing is ever cut away. The task's language says how code is
/// read. Used for replies of models and for samples of published files alike.
pub fn assemble(task: &Task, code: &str) -> String {
    match fit(&mut Reader::new(), task, code) {
        Fit::Whole(program) | Fit::Part(program) => program,
        Fit::Broken => code.to_owned(),
    }
}

/// What `code` is to `task`, assembled as [`assemble`] says.
pub fn fit(reader: &mut Reader, task: &Task, code: &str) -> Fit {
    match task.language {
        Language::Python => fit_python(reader, task, code),
        _ => Fit::Part(code.to_owned()),
    }
}

fn fit_python(reader: &mut Reader, task: &Task, code: &str) -> Fit {
    let is_whole = |module: &Module| match &task.entry_point {
        Some(name) => module.binds(name),
        None => module.calls,
    };
    let read = reader.read(code);
    if let Some(module) = &read
        && is_whole(module)
    {
        return Fit::Whole(with_preamble(reader, task, code, module));
    }
    // A comment has no indentation in Python.
    let is_code = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let first_line = code.lines().find(is_code).unwrap_or_default();
    if first_line.starts_with([' ', '\t']) {
        let shifted = without_common_indentation(code);
        if let Some(module) = reader.read(&shifted).filter(is_whole) {
            return Fit::Whole(with_preamble(reader, task, &shifted, &module));
        }
        if let Some(signature) = &task.signature {
            let joined = format!("{}\n{code}", signature.trim_end());
            if let Some(module) = reader.read(&joined).filter(is_whole) {
                return Fit::Whole(with_preamble(reader, task, &joined, &module));
            }
        }
    }
    match read {
        Some(module) => Fit::Part(with_preamble(reader, task, code, &module)),
        None => Fit::Broken,
    }
}

/// Puts on top what the preamble has and the code lacks.
fn with_preamble(reader: &mut Reader, task: &Task, code: &str, module: &Module) -> String {
    let Some(preamble) = task.preamble.as_deref().filter(|text| !text.trim().is_empty()) else {
        return code.to_owned();
    };
    let Some(head) = reader.read(preamble) else {
        return code.to_owned();
    };
    let present = |kind, text: &str| {
        kind == StatementKind::Text || module.statements.iter().any(|statement| statement.text == text)
    };
    let (kept, dropped): (Vec<_>, Vec<_>) = head.statements.iter().partition(|statement| {
        let bound = !statement.names.is_empty() && statement.names.iter().all(|name| module.binds(name));
        !bound && !present(statement.kind, &statement.text)
    });
    if kept.is_empty() {
        return code.to_owned();
    }
    let is_dropped = |line: usize| {
        let on_line = |statement: &&Statement| (statement.first_line..=statement.last_line).contains(&line);
        dropped.iter().any(&on_line) && !kept.iter().any(on_line)
    };
    let head: Vec<&str> =
        preamble.lines().enumerate().filter(|(line, _)| !is_dropped(*line)).map(|(_, line)| line).collect();
    let head = head.join("\n");
    // `__future__` imports stay first; only a docstring may stand above them.
    let is_future_import = |statement: &&Statement| statement.kind == StatementKind::FutureImport;
    let first_free_line =
        module.statements.iter().rfind(is_future_import).map_or(0, |statement| statement.last_line + 1);
    let lines: Vec<&str> = code.split_inclusive('\n').collect();
    let (top, rest) = lines.split_at(first_free_line.min(lines.len()));
    let top = top.concat();
    let gap = if top.is_empty() || top.ends_with('\n') { "" } else { "\n" };
    format!("{top}{gap}{}\n\n\n{}", head.trim_matches('\n'), rest.concat().trim_start_matches('\n'))
}

/// The text without the blank space that all of its lines begin with.
fn without_common_indentation(text: &str) -> String {
    let indentation = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let common = text.lines().filter(|line| !line.trim().is_empty()).map(indentation).min().unwrap_or(0);
    text.split_inclusive('\n').map(|line| line.get(common..).unwrap_or("\n")).collect()
}
