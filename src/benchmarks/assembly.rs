use std::collections::BTreeSet;

use tree_sitter::Node;

use super::python_syntax::{GrammarMissing, PythonText};
use crate::domain::{Language, Task};

/// Makes the program that a reply to `task` means.
///
/// A reply that begins with an indented line is the body of the function asked for: it is put below the task's preamble
/// and signature. Any other reply is a program of its own, and gets those statements of the preamble that it does not
/// have itself (after its `from __future__` imports, which must stay first). The reply's own text is never changed or
/// trimmed.
pub(super) fn assemble(task: &Task, reply: &str) -> String {
    match (task.language, &task.entry_point) {
        (_, None) => reply.to_owned(),
        (Language::Python, Some(_)) => python(task, reply),
    }
}

fn python(task: &Task, reply: &str) -> String {
    let preamble = task.preamble.as_deref().unwrap_or_default();
    match &task.signature {
        Some(signature) if begins_indented(reply) => {
            let above = if preamble.is_empty() { String::new() } else { format!("{}\n\n\n", preamble.trim_end()) };
            format!("{above}{signature}\n{reply}")
        }
        // a reply that our grammar cannot be loaded for is judged as it is
        _ => with_preamble(preamble, reply).unwrap_or_else(|GrammarMissing| reply.to_owned()),
    }
}

/// Whether the first line of code (comments have no indentation in Python) is indented.
fn begins_indented(reply: &str) -> bool {
    let mut lines = reply.lines().filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'));
    lines.next().is_some_and(|line| line.starts_with([' ', '\t']))
}

fn with_preamble(preamble: &str, reply: &str) -> Result<String, GrammarMissing> {
    let (above, program) = (PythonText::parse(preamble)?, PythonText::parse(reply)?);
    let own: BTreeSet<_> = program.statements().into_iter().flat_map(|node| program.bound_names(node)).collect();
    let is_missing = |node: &Node<'_>| {
        let names = above.bound_names(*node);
        let known = names.iter().all(|name| own.contains(name));
        if names.is_empty() { !reply.contains(above.source(*node)) } else { !known }
    };
    let statements = above.statements();
    let missing: Vec<_> = statements.iter().filter(|node| is_missing(node)).collect();
    let added = if missing.len() == statements.len() {
        preamble.trim_end().to_owned()
    } else {
        missing.iter().map(|node| above.source(**node)).collect::<Vec<_>>().join("\n")
    };
    if added.is_empty() {
        return Ok(reply.to_owned());
    }
    let first = program.statements().into_iter().rfind(|node| node.kind() == "future_import_statement");
    Ok(match first {
        Some(future) => {
            let (head, rest) = reply.split_at(future.end_byte());
            format!("{head}\n{added}\n{rest}")
        }
        None => format!("{added}\n\n\n{reply}"),
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::assemble;
    use crate::{
        domain::{Language, Limits, OutputRule, Task, TestSuite},
        ids::TaskId,
    };

    fn task(preamble: Option<&str>) -> Task {
        Task {
            id: TaskId("inc".to_owned()),
            dataset: "test".to_owned(),
            language: Language::Python,
            statement: "add one".to_owned(),
            entry_point: Some("inc".to_owned()),
            signature: Some("def inc(n):".to_owned()),
            preamble: preamble.map(str::to_owned),
            support: None,
            visible: Arc::new(TestSuite::Io { cases: Vec::new(), rule: OutputRule::Tokens }),
            starter: None,
            faulty_lines: Vec::new(),
            limits: Limits::default(),
        }
    }

    fn assembled(preamble: Option<&str>, reply: &str) -> String {
        assemble(&task(preamble), reply)
    }

    #[test]
    fn e20_a_body_is_joined_with_its_indentation_and_a_whole_function_replaces_the_head() {
        assert_eq!(assembled(None, "    return n + 1\n"), "def inc(n):\n    return n + 1\n");
        assert_eq!(assembled(None, "\n\t# why\n\treturn n + 1"), "def inc(n):\n\n\t# why\n\treturn n + 1");
        assert_eq!(assembled(None, "# why\n    return n + 1\n"), "def inc(n):\n# why\n    return n + 1\n");
        let whole = "def inc(n):\n    return n + 1\n";
        assert_eq!(assembled(None, whole), whole);
        let body_and_more = "    return more(n)\n\ndef more(n):\n    return n + 1\n";
        assert_eq!(assembled(None, body_and_more), format!("def inc(n):\n{body_and_more}"));
    }

    #[test]
    fn e21_the_preamble_is_put_above_where_it_is_missing_and_only_there() {
        let preamble = "import math\nfrom typing import List\n\ndef one():\n    return 1\n";
        let body = "    return n + one()\n";
        assert_eq!(assembled(Some(preamble), body), format!("{}\n\n\ndef inc(n):\n{body}", preamble.trim_end()));
        let whole = "def inc(n: List) -> int:\n    return n + one()\n";
        assert_eq!(assembled(Some(preamble), whole), format!("{}\n\n\n{whole}", preamble.trim_end()));
        let with_some = format!("from typing import Dict, List\nimport math\n{whole}");
        assert_eq!(assembled(Some(preamble), &with_some), format!("def one():\n    return 1\n\n\n{with_some}"));
        let with_all = format!("{preamble}\n\n{whole}");
        assert_eq!(assembled(Some(preamble), &with_all), with_all);
    }

    #[test]
    fn future_imports_stay_first() {
        let reply = "from __future__ import annotations\ndef inc(n: List):\n    return n\n";
        let expected =
            "from __future__ import annotations\nfrom typing import List\n\ndef inc(n: List):\n    return n\n";
        assert_eq!(assembled(Some("from typing import List\n"), reply), expected);
    }

    #[test]
    fn a_whole_program_for_stdin_and_stdout_is_taken_as_it_is() {
        let task = Task { entry_point: None, ..task(Some("import sys")) };
        assert_eq!(assemble(&task, "  print(1)"), "  print(1)");
    }
}
