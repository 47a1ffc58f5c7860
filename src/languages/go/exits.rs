use super::sources::{imports, parsed};
use crate::{domain::Assertion, languages::syntax::nodes_below};

/// Functions that end or replace the process, start another or reach its memory, by the path of their package.
const ENDING: &[(&str, &[&str])] = &[
    ("os", &["Exit", "StartProcess", "NewFile"]),
    ("os/exec", &["Command", "CommandContext"]),
    ("log", &["Fatal", "Fatalf", "Fatalln"]),
    ("runtime", &["Goexit"]),
    ("runtime/debug", &["WriteHeapDump"]),
    ("plugin", &["Open"]),
];

/// Packages that undo what the language promises, or reach the kernel and any descriptor.
const UNSAFE: &[&str] = &["unsafe", "C", "syscall"];

/// Calls of such functions, by whatever name their package is imported, and imports of what undoes the language's types.
pub(super) fn exits(program: &str) -> Vec<Assertion> {
    let Ok(syntax) = parsed(program) else { return Vec::new() };
    let imports = imports(&syntax);
    let ends = |package: &str, function: &str| {
        let paths = imports.iter().filter(|(name, ..)| name == package).map(|(_, path, _)| *path);
        paths.into_iter().any(|path| ENDING.iter().any(|(known, names)| *known == path && names.contains(&function)))
    };
    let is_found = |node: &tree_sitter::Node<'_>| match node.kind() {
        "import_spec" => nodes_below(*node).into_iter().any(|node| {
            UNSAFE.contains(&syntax.source(node).trim_matches(['"', '`'])) && node.kind().contains("string")
        }),
        "selector_expression" => {
            let part = |field| node.child_by_field_name(field).map(|node| syntax.source(node)).unwrap_or_default();
            ends(part("operand"), part("field"))
        }
        "call_expression" => node
            .child_by_field_name("function")
            .is_some_and(|function| function.kind() == "identifier" && ends(".", syntax.source(function))),
        _ => false,
    };
    let found = syntax.nodes().into_iter().filter(is_found);
    // A function that is called is named with its arguments.
    let whole = found.map(|node| match node.parent() {
        Some(call) if call.kind() == "call_expression" && call.child_by_field_name("function") == Some(node) => call,
        _ => node,
    });
    whole.map(|node| syntax.listed(node)).collect()
}

#[cfg(test)]
mod tests {
    use super::exits;

    #[test]
    fn functions_are_found_by_package_but_neither_in_comments_nor_in_strings() {
        let program = "package main\nimport (\n\t\"os\"\n\tp \"os/exec\"\n\t\"unsafe\"\n)\n// os.Exit(0)\nvar s = \
                       \"os.Exit(1)\"\nfunc f(d Door) {\n\td.Exit(1)\n\tos.Exit(2)\n\tp.Command(s)\n\tg := \
                       os.Exit\n}\n";
        let found: Vec<_> = exits(program).into_iter().map(|found| (found.line, found.text)).collect();
        let expected = [(5, "\"unsafe\""), (11, "os.Exit(2)"), (12, "p.Command(s)"), (13, "os.Exit")];
        assert_eq!(found, expected.map(|(line, text)| (line, text.to_owned())));
    }
}
