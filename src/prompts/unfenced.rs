use super::{
    assembly::{Fit, fit},
    reader::Reader,
};
use crate::{
    domain::{Language, Task},
    languages::outline::{StatementKind, facts},
};

/// The program that stands in a reply without fences: the longest run of lines that is one, between prose.
///
/// A run begins and ends where a line begins in the first column. Words of prose that happen to be expressions
/// (`Done`) are left out at its ends. Where the line after (or before) the run is code too, the run is a part of a
/// program that is broken elsewhere, and there is none: half a program is worse than a second question.
pub fn program_without_fences(reader: &mut Reader, task: &Task, lines: &[&str]) -> Option<String> {
    let language = task.language;
    let begins = |line: &usize| begins_chunk(language, lines[*line]);
    let starts: Vec<usize> = (0..lines.len()).filter(begins).chain([lines.len()]).collect();
    let text = |from: usize, to: usize| lines[starts[from]..starts[to]].iter().flat_map(|line| [*line, "\n"]).collect();
    let mut best: Option<(usize, usize)> = None;
    let mut from = 0;
    while from + 1 < starts.len() && !reader.is_spent() {
        let mut end = None;
        for to in from + 1..starts.len() {
            let run: String = text(from, to);
            if reader.read(&run).is_some() {
                end = Some(to);
            } else if reader.is_spent() || (to == from + 1 && !may_go_on(language, &run)) {
                break;
            }
        }
        let Some(to) = end else {
            from += 1;
            continue;
        };
        let (from_code, to_code) = without_words(reader, from, to, &text);
        let is_whole = from_code < to_code && matches!(fit(reader, task, &text(from_code, to_code)), Fit::Whole(_));
        let is_longer = best.is_none_or(|(from, to)| starts[to] - starts[from] < starts[to_code] - starts[from_code]);
        if is_whole && is_longer {
            best = Some((from_code, to_code));
        }
        from = to;
    }
    let (from, to) = best?;
    let before = lines[..starts[from]].iter().rfind(|line| !line.trim().is_empty());
    let after = lines[starts[to]..].iter().find(|line| !line.trim().is_empty());
    if [before, after].into_iter().flatten().any(|line| looks_like_code(language, line)) {
        return None;
    }
    match fit(reader, task, &text(from, to)) {
        Fit::Whole(program) => Some(program),
        Fit::Part(_) | Fit::Broken => None,
    }
}

/// Whether a new chunk begins with this line: text in the first column that closes or opens no braces of the chunk before.
fn begins_chunk(language: Language, line: &str) -> bool {
    let goes_on = |first: char| language != Language::Python && matches!(first, '{' | '}' | ')' | ']');
    line.chars().next().is_some_and(|first| !first.is_whitespace() && !goes_on(first))
}

/// Whether a chunk that is no module may become one with the chunks below it.
fn may_go_on(language: Language, chunk: &str) -> bool {
    let first_word = chunk.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    let braces = language != Language::Python
        && (first_word == "template"
            || chunk.starts_with("#[")
            || chunk.matches("/*").count() > chunk.matches("*/").count()
            || chunk.matches('`').count() % 2 == 1);
    braces
        || first_word == "try"
        || chunk.starts_with('@')
        || ["'''", "\"\"\""].iter().any(|quotes| chunk.matches(quotes).count() % 2 == 1)
        || [('(', ')'), ('[', ']'), ('{', '}')]
            .iter()
            .any(|(open, close)| chunk.matches(*open).count() > chunk.matches(*close).count())
        || chunk.trim_end().ends_with('\\')
}

/// Narrows a run of chunks by those at its ends that are nothing but words.
fn without_words(
    reader: &mut Reader,
    mut from: usize,
    mut to: usize,
    text: &dyn Fn(usize, usize) -> String,
) -> (usize, usize) {
    let mut is_words = |from: usize, to: usize| {
        reader
            .read(&text(from, to))
            .is_some_and(|module| module.statements.iter().all(|statement| statement.kind == StatementKind::Bare))
    };
    while from < to && is_words(from, from + 1) {
        from += 1;
    }
    while from < to && is_words(to - 1, to) {
        to -= 1;
    }
    (from, to)
}

/// Whether a line is code rather than prose, by how it begins.
fn looks_like_code(language: Language, line: &str) -> bool {
    match facts(language) {
        Some(facts) => {
            let line = line.trim();
            line.ends_with(['{', '}', ';']) || facts.line_starts.iter().any(|start| line.starts_with(start))
        }
        None => looks_like_python(line),
    }
}

fn looks_like_python(line: &str) -> bool {
    let indented = line.starts_with([' ', '\t']);
    let line = line.trim();
    let begins =
        ["def ", "class ", "async def ", "import ", "@", "elif ", "else:", "except", "finally:", "try:", "if __name__"];
    let assigns = line.split_once(" = ").is_some_and(|(left, _)| {
        !left.is_empty() && left.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | ',' | ' ' | '[' | ']'))
    });
    begins.iter().any(|start| line.starts_with(start))
        || (line.starts_with("from ") && line.contains(" import "))
        || (indented && (line.starts_with("return ") || line.ends_with(':')))
        || (assigns && !line.ends_with('.'))
}
