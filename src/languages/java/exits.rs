use super::sources::parsed;
use crate::domain::Assertion;

/// Methods that end the process or start another, with what they are called on; `""`: anything.
const ENDING: &[(&str, &[&str])] = &[
    ("System", &["exit"]),
    ("java.lang.System", &["exit"]),
    ("", &["halt", "exec"]),
    ("ProcessBuilder", &["startPipeline"]),
    ("ProcessHandle", &["current", "of", "allProcesses"]),
];

/// Calls of such methods, `Runtime.getRuntime().exit(…)` too, and new objects of ProcessBuilder.
pub(super) fn exits(program: &str) -> Vec<Assertion> {
    let Ok(syntax) = parsed(program) else { return Vec::new() };
    let part = |node: tree_sitter::Node<'_>, field: &str| {
        node.child_by_field_name(field).map(|node| syntax.source(node)).unwrap_or_default()
    };
    let ends = |node: &tree_sitter::Node<'_>| match node.kind() {
        "method_invocation" => {
            let (object, name) = (part(*node, "object"), part(*node, "name"));
            ENDING.iter().any(|(owner, names)| {
                names.contains(&name) && (*owner == object || owner.is_empty() && !object.is_empty())
            }) || name == "exit" && (object.contains("getRuntime") || object.is_empty())
        }
        "object_creation_expression" => part(*node, "type").ends_with("ProcessBuilder"),
        _ => false,
    };
    syntax.nodes().iter().filter(|node| ends(node)).map(|node| syntax.listed(*node)).collect()
}

#[cfg(test)]
mod tests {
    use super::exits;

    #[test]
    fn calls_are_found_but_neither_in_comments_nor_in_strings() {
        let program = "// System.exit(0)\nclass A { String s = \"System.exit(1)\";\n  void f(Door d) { d.exit();\n  \
                       System.exit(2);\n  Runtime.getRuntime().halt(3);\n  new ProcessBuilder(s).start(); } }\n";
        let found: Vec<_> = exits(program).into_iter().map(|found| (found.line, found.text)).collect();
        let expected = [(4, "System.exit(2)"), (5, "Runtime.getRuntime().halt(3)"), (6, "new ProcessBuilder(s)")];
        assert_eq!(found, expected.map(|(line, text)| (line, text.to_owned())));
    }
}
