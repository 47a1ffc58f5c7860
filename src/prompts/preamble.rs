use std::collections::BTreeSet;

use super::reader::Reader;
use crate::{
    domain::{Language, Task},
    languages::outline::{Outline, Statement, StatementKind, mentions},
};

/// Puts on top of `code` what the task's preamble has and the code lacks.
pub fn with_preamble(reader: &mut Reader, task: &Task, code: &str, outline: &Outline) -> String {
    let Some(preamble) = task.preamble.as_deref().filter(|text| !text.trim().is_empty()) else {
        return code.to_owned();
    };
    let Some(head) = reader.read(preamble) else {
        return code.to_owned();
    };
    let (kept, dropped): (Vec<&Statement>, Vec<&Statement>) =
        head.statements.iter().partition(|statement| is_kept(task.language, statement, outline));
    let items = lines_of(preamble, &kept, &dropped);
    let mut names = mentions(task.language, code);
    names.extend(mentions(task.language, &items));
    let imports = imports_of(&head, outline, &names);
    // What must stand first stays there; only a docstring may stand above it.
    let is_first = |statement: &&Statement| statement.kind == StatementKind::First;
    let first_free_line = outline.statements.iter().rfind(is_first).map_or(0, |statement| statement.last_line + 1);
    let own_imports = outline.statements.iter().skip_while(|statement| statement.first_line < first_free_line);
    let own_imports = own_imports.take_while(|statement| statement.kind == StatementKind::Import);
    let first_item_line = own_imports.last().map_or(first_free_line, |statement| statement.last_line + 1);
    let code = insert(code, first_item_line, &items, "\n\n\n");
    let code = insert(&code, first_free_line, &imports, if items.is_empty() { "\n\n" } else { "\n" });
    insert(&code, 0, &firsts_of(task.language, &head, outline), "\n\n")
}

/// What stands first in the preamble, for code that has nothing of the kind. A `__future__` import of Python is like any
/// other, since the whole preamble goes to the top there.
fn firsts_of(language: Language, head: &Outline, outline: &Outline) -> String {
    let firsts = |outline: &Outline| -> Vec<String> {
        let statements = outline.statements.iter().filter(|statement| statement.kind == StatementKind::First);
        statements.map(|statement| statement.text.clone()).collect()
    };
    if language == Language::Python || !firsts(outline).is_empty() { String::new() } else { firsts(head).join("\n") }
}

/// Whether a statement of the preamble is put on top of the code as an item; imports and what must stand first are
/// looked at elsewhere.
fn is_kept(language: Language, statement: &Statement, outline: &Outline) -> bool {
    let present = |text: &str| outline.statements.iter().any(|statement| statement.text == text);
    match statement.kind {
        StatementKind::Import => false,
        StatementKind::First if language != Language::Python => false,
        StatementKind::Text => true,
        _ => {
            let bound = !statement.names.is_empty() && statement.names.iter().all(|name| outline.binds(name));
            !bound && !present(&statement.text)
        }
    }
}

/// The lines of the preamble without those of the dropped statements; nothing, where nothing is kept.
fn lines_of(preamble: &str, kept: &[&Statement], dropped: &[&Statement]) -> String {
    if kept.is_empty() {
        return String::new();
    }
    let is_dropped = |line: usize| {
        let on_line = |statement: &&&Statement| (statement.first_line..=statement.last_line).contains(&line);
        dropped.iter().any(|statement| on_line(&statement)) && !kept.iter().any(|statement| on_line(&statement))
    };
    let lines = preamble.lines().enumerate().filter(|(line, _)| !is_dropped(*line)).map(|(_, line)| line);
    lines.collect::<Vec<_>>().join("\n").trim_matches('\n').to_owned()
}

/// The imports of the preamble that the code lacks and has a use for. An import statement of which all is kept stays as
/// it is written.
fn imports_of(head: &Outline, outline: &Outline, mentioned: &BTreeSet<String>) -> String {
    let own: BTreeSet<&str> =
        outline.statements.iter().flat_map(|statement| &statement.imports).map(|import| import.text.as_str()).collect();
    let mut lines: Vec<&str> = Vec::new();
    for statement in &head.statements {
        let lacking = statement.imports.iter().filter(|import| {
            let bound = import.name.as_ref().is_some_and(|name| outline.binds(name));
            !bound && !own.contains(import.text.as_str()) && import.is_needed(mentioned)
        });
        let lacking: Vec<&str> = lacking.map(|import| import.text.as_str()).collect();
        if lacking.len() == statement.imports.len() && !lacking.is_empty() {
            lines.push(&statement.text);
        } else {
            lines.extend(lacking);
        }
    }
    lines.dedup();
    lines.join("\n")
}

/// `code` with `text` and `gap` above line `line`.
fn insert(code: &str, line: usize, text: &str, gap: &str) -> String {
    if text.is_empty() {
        return code.to_owned();
    }
    let lines: Vec<&str> = code.split_inclusive('\n').collect();
    let (top, rest) = lines.split_at(line.min(lines.len()));
    let top = top.concat();
    let end = if top.is_empty() || top.ends_with('\n') { "" } else { "\n" };
    format!("{top}{end}{text}{gap}{}", rest.concat().trim_start_matches('\n'))
}
