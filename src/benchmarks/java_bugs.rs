//! What the data sets of Java bugs with JUnit tests have in common.

use std::sync::Arc;

use tree_sitter::Node;

use super::{BenchmarkError, feedback::Split, names::shown, records::Record, suites::suite};
use crate::{
    domain::{Language, Problem, Program, Task},
    ids::TaskId,
    languages::{
        limits,
        outline::function_head,
        syntax::{Syntax, named_children},
    },
};

/// Why nothing is hidden.
pub(super) const NO_SPLIT: &str = "the data set has one set of tests only: scored on feedback tests";

/// Test methods that ask more of a right program than it may use, and that are not marked so.
const LEFT_OUT: &[(&str, &str)] = &[("QuixBugs/java/KNAPSACK", "test_9")];

/// Why a test method is left out.
const TOO_MUCH: &str = "it is marked as ignored, or needs more than a program may use";

/// The problem of a record: `buggy_code` is the starter, `tests` are those of one JUnit class, each assertion one test, and
/// `support_files` are classes that these need. Where these are of the program's package, so are the tests then.
///
/// What a prompt says of the function comes from the buggy program, which roles see anyway.
pub(super) fn java_problem(
    record: &Record,
    dataset: &str,
    faulty_lines: impl Fn(&str, &str) -> Result<Vec<u32>, BenchmarkError>,
) -> Result<Problem, BenchmarkError> {
    let language = Language::Java;
    expect_language(record, language)?;
    let entry_point = record.name("entry_point")?;
    let (buggy, reference) = (record.code("buggy_code")?, record.code("reference")?);
    let head = function_head(language, &buggy, entry_point).ok_or_else(|| {
        record.field_mistake("buggy_code", format_args!("does not define the method `{entry_point}`"))
    })?;
    let (support, tests) = support(record, &buggy)?;
    let id = record.string("task_id")?;
    let (tests, left_out) = without_ignored(id, &tests);
    let tests = suite(language, &tests, entry_point).map_err(|error| record.test_mistake("tests", &error))?;
    let Split { visible, hidden, feedback, mut notes } = Split::none(tests, NO_SPLIT);
    notes.extend(left_out.iter().map(|name| format!("`{name}` of its tests is left out: {TOO_MUCH}")));
    let task = Task {
        id: TaskId(id.to_owned()),
        dataset: dataset.to_owned(),
        language,
        statement: record.string("prompt")?.trim().to_owned(),
        entry_point: Some(entry_point.to_owned()),
        signature: Some(head.signature),
        preamble: head.preamble,
        support,
        feedback: visible.clone(),
        visible,
        source: None,
        faulty_lines: faulty_lines(&buggy, &reference)?,
        starter: Some(Arc::new(Program::new(language, buggy))),
        limits: limits(language),
    };
    let reference = Some(Arc::new(Program::new(language, reference)));
    Ok(Problem { task: Arc::new(task), feedback, validation: None, hidden, reference, notes })
}

/// The tests without the methods that are marked as ignored or in [`LEFT_OUT`], and the names of these.
fn without_ignored(task: &str, tests: &str) -> (String, Vec<String>) {
    let (mut text, mut copied, mut names) = (String::new(), 0, Vec::new());
    let Ok(syntax) = Syntax::parse(Language::Java, tree_sitter_java::LANGUAGE, tests) else {
        return (tests.to_owned(), names);
    };
    for method in syntax.nodes().into_iter().filter(|node| node.kind() == "method_declaration") {
        let name = method.child_by_field_name("name").map(|name| syntax.source(name)).unwrap_or_default();
        let modifiers = named_children(method).into_iter().filter(|node| node.kind() == "modifiers");
        let is_ignored = |node: Node<'_>| {
            let name = node.child_by_field_name("name").map(|name| syntax.source(name)).unwrap_or_default();
            matches!(name.rsplit('.').next(), Some("Ignore" | "Disabled"))
        };
        let ignored = modifiers.flat_map(named_children).any(is_ignored);
        if ignored || LEFT_OUT.contains(&(task, name)) {
            text.push_str(&tests[copied..method.start_byte()]);
            copied = method.end_byte();
            names.push(name.to_owned());
        }
    }
    text.push_str(&tests[copied..]);
    (text, names)
}

/// Refuses a record that says to be of another language.
pub(super) fn expect_language(record: &Record, language: Language) -> Result<(), BenchmarkError> {
    let stated = record.string("language")?;
    if stated == language.name() {
        return Ok(());
    }
    Err(record.field_mistake("language", format_args!("expected `{language}`, found `{}`", shown(stated))))
}

/// Support classes as one text, and the tests. Several files can only be one where they are of one package, and then but
/// for the first without `public`: so the tests move into that package with them.
fn support(record: &Record, program: &str) -> Result<(Option<String>, String), BenchmarkError> {
    let tests = record.code("tests")?;
    let files = record.texts("support_files")?;
    if files.is_empty() {
        return Ok((None, tests));
    }
    let texts: Vec<Java<'_>> = files.iter().map(|(_, text)| Java::of(text)).collect();
    let package = texts[0].package;
    if texts.iter().any(|text| text.package != package) {
        return Err(record.field_mistake("support_files", "files of several packages are not known here"));
    }
    let mut support = package.map_or_else(String::new, |package| format!("package {package};\n"));
    for text in &texts {
        support.push_str(&text.imports);
    }
    for (place, text) in texts.iter().enumerate() {
        let rest = if place == 0 { text.rest.clone() } else { text.rest.replacen("public class ", "class ", 1) };
        support.push_str(&rest);
    }
    let moved = package.is_some() && package == Java::of(program).package;
    let tests = if moved { Java::of(&tests).without_package() } else { tests };
    Ok((Some(support), tests))
}

/// A file of Java by its lines.
struct Java<'a> {
    package: Option<&'a str>,
    imports: String,
    rest: String,
}

impl<'a> Java<'a> {
    fn of(text: &'a str) -> Self {
        let mut java = Self { package: None, imports: String::new(), rest: String::new() };
        for line in text.lines() {
            let statement = line.trim();
            if let Some(name) = statement.strip_prefix("package ") {
                java.package = Some(name.trim_end_matches(';').trim());
                continue;
            }
            let kept = if statement.starts_with("import ") { &mut java.imports } else { &mut java.rest };
            kept.push_str(line);
            kept.push('\n');
        }
        java
    }

    fn without_package(&self) -> String {
        format!("{}{}", self.imports, self.rest)
    }
}

#[cfg(test)]
mod tests {
    use super::without_ignored;

    #[test]
    fn ignored_methods_are_left_out_and_named() {
        let text =
            "class T {\n  @Test @org.junit.Ignore public void a() { f(); }\n  @Test public void test_9() { g(); }\n}\n";
        let left = "class T {\n  \n  @Test public void test_9() { g(); }\n}\n";
        assert_eq!(without_ignored("x", text), (left.to_owned(), vec!["a".to_owned()]));
        let (left, names) = without_ignored("QuixBugs/java/KNAPSACK", text);
        assert_eq!((left.as_str(), names.len()), ("class T {\n  \n  \n}\n", 2));
    }
}
