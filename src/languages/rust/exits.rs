use tree_sitter::Node;

use crate::{
    domain::{Assertion, Language},
    languages::{ENDING_IN_C, syntax::Syntax},
};

/// Calls of such functions, and assembly, which may do the same, inside of macros too; attributes that start early; and what
/// undoes the promises of the language: `unsafe` and functions of elsewhere.
pub(super) fn exits(program: &str) -> Vec<Assertion> {
    let Ok(syntax) = Syntax::parse(Language::Rust, tree_sitter_rust::LANGUAGE, program) else { return Vec::new() };
    let nodes = syntax.nodes();
    let mut found: Vec<Assertion> =
        nodes.iter().filter_map(|node| ending(&syntax, *node)).map(|node| syntax.listed(node)).collect();
    found.dedup();
    found
}

fn ending<'t>(syntax: &Syntax<'_>, node: Node<'t>) -> Option<Node<'t>> {
    match node.kind() {
        "call_expression" => {
            let function = node.child_by_field_name("function")?;
            let path: Vec<&str> = syntax.source(function).split("::").map(str::trim).collect();
            let is_path = matches!(function.kind(), "identifier" | "scoped_identifier");
            let ends =
                path.last().is_some_and(|name| ENDING_IN_C.contains(name)) || path.ends_with(&["Command", "new"]);
            (is_path && ends).then_some(node)
        }
        "macro_invocation" => {
            let name = syntax.source(node.child_by_field_name("macro")?);
            matches!(name.rsplit("::").next(), Some("asm" | "global_asm" | "naked_asm")).then_some(node)
        }
        // A function that runs before or in place of others.
        "attribute_item" => {
            let text = syntax.source(node);
            ["link_section", "no_mangle", "export_name"].iter().any(|name| text.contains(name)).then_some(node)
        }
        "unsafe_block" | "foreign_mod_item" => Some(node),
        // Arguments of macros are words only.
        "identifier" if node.parent().is_some_and(|parent| parent.kind() == "token_tree") => {
            let next = node.next_sibling()?;
            let is_call = next.kind() == "token_tree" && syntax.source(next).starts_with('(');
            let is_method = node.prev_sibling().is_some_and(|before| before.kind() == ".");
            let name = syntax.source(node);
            let command = name == "new"
                && syntax
                    .root()
                    .descendant_for_byte_range(node.start_byte().saturating_sub(3), node.start_byte().saturating_sub(3))
                    .is_some_and(|before| syntax.source(before) == "Command");
            (is_call && !is_method && (ENDING_IN_C.contains(&name) || command)).then_some(node)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::exits;

    #[test]
    fn calls_are_found_but_neither_comments_nor_strings_nor_methods() {
        let program = "// exit(0)\nfn f(door: Door) {\n    let s = \"exit(1)\";\n    door.exit();\n    std::process::exit(0);\n    \
                       vec![process::abort(), door.abort()];\n    println!(\"{:?}\", Command::new(\"sh\"));\n    Command::new(s);\n}\n#[link_section = \".init_array\"]\nstatic S: fn() = f;\n";
        let found: Vec<_> = exits(program).into_iter().map(|found| (found.line, found.text)).collect();
        let expected = [
            (5, "std::process::exit(0)"),
            (6, "abort"),
            (7, "new"),
            (8, "Command::new(s)"),
            (10, "#[link_section = \".init_array\"]"),
        ];
        assert_eq!(found, expected.map(|(line, text)| (line, text.to_owned())));
    }

    #[test]
    fn what_starts_early_or_is_unsafe_is_found() {
        let program = "#[derive(Debug)]\nstruct S;\n#[used]\n#[link_section = \".init_array\"]\nstatic E: fn() = f;\nextern \"C\" { fn dup(d: \
                       i32) -> i32; }\nfn f() { unsafe { dup(3) }; }\n";
        let lines: Vec<_> = exits(program).into_iter().map(|found| found.line).collect();
        assert_eq!(lines, [4, 6, 7]);
    }
}
