//! What of a compiler's output may be shown: messages about the program, never those that quote the tests.

use crate::languages::Unit;

/// The messages about the program. Of a unit with other files (tests, a harness) the messages about those are left out and
/// counted, since they repeat lines of tests that nobody may see.
pub(super) fn of_program(said: &str, unit: &Unit) -> String {
    let others: Vec<&str> =
        unit.files.iter().map(|file| file.path.as_str()).filter(|path| *path != unit.program_file).collect();
    if others.is_empty() {
        return said.to_owned();
    }
    let (mut kept, mut hidden) = (Vec::new(), 0);
    for message in messages(said, unit) {
        if others.iter().any(|path| message.iter().any(|line| line.contains(path))) {
            hidden += 1;
        } else {
            kept.extend(message);
        }
    }
    let mut text = kept.join("\n");
    if hidden > 0 {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&format!("[{hidden} messages about the tests are not shown: they do not fit the program]"));
    }
    text
}

/// The output in messages: one begins with a line that names a file of the unit and a line in it, or with `error` or
/// `warning`, and goes on to the next.
fn messages<'s>(said: &'s str, unit: &Unit) -> Vec<Vec<&'s str>> {
    let names_a_place = |line: &str| {
        unit.files.iter().any(|file| {
            line.strip_prefix(file.path.as_str()).is_some_and(|rest| rest.starts_with(':'))
                || line.strip_prefix("./").is_some_and(|rest| rest.starts_with(file.path.as_str()))
        })
    };
    let begins = |line: &str| {
        let word = line.split(['[', ':']).next().unwrap_or_default();
        matches!(word, "error" | "warning" | "note") || line.starts_with("In file included from") || names_a_place(line)
    };
    let mut messages: Vec<Vec<&str>> = Vec::new();
    for line in said.lines() {
        match messages.last_mut() {
            Some(message) if !begins(line) => message.push(line),
            _ => messages.push(vec![line]),
        }
    }
    messages
}

#[cfg(test)]
mod tests {
    use super::of_program;
    use crate::languages::{SourceFile, Unit};

    fn unit(names: &[&str]) -> Unit {
        let files = names.iter().map(|name| SourceFile { path: (*name).to_owned(), text: String::new() }).collect();
        Unit { files, entry: String::new(), program_file: names[0].to_owned() }
    }

    #[test]
    fn messages_that_quote_the_tests_are_not_shown() {
        let said = "program.cpp:3:5: error: no semicolon\n    3 |   x\ntests_1.cpp:9:2: error: no match\n    9 | assert(f(98765) == 98766)\n";
        let shown = of_program(said, &unit(&["program.cpp", "tests_1.cpp"]));
        assert!(shown.contains("no semicolon") && shown.contains("   3 |   x"), "{shown}");
        assert!(!shown.contains("98765") && shown.contains("[1 messages about the tests"), "{shown}");
    }

    #[test]
    fn a_place_below_the_message_counts_too() {
        let said = "error[E0308]: mismatched types\n --> tests_1.rs:4:5\n  |\n4 | f(98765)\n\nwarning: unused\n --> main.rs:1:1\n";
        let shown = of_program(said, &unit(&["main.rs", "tests_1.rs"]));
        assert!(!shown.contains("98765") && shown.contains("main.rs:1:1"), "{shown}");
    }

    #[test]
    fn a_program_alone_hides_nothing() {
        assert_eq!(of_program("Main.java:1: error: x\n", &unit(&["Main.java"])), "Main.java:1: error: x\n");
    }
}
