use std::collections::BTreeSet;

use tree_sitter::Node;

use super::test_text::TestText;
use crate::languages::syntax::{Syntax, named_children, nodes_below};

/// Types of the standard library that a field may have, unless the program gives the name another meaning.
const PLAIN: &[&str] = &["Box", "Option", "Result", "String", "Vec"];

/// The program as the root of a crate: without a `main` of its own that would be run, and with our modules at its end.
pub(super) fn root(program: &str, support: Option<&str>, modules: &str) -> String {
    let mark = if program.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    // A first line for the shell, which is none of Rust's attributes.
    let is_shell = program[mark..].starts_with("#!") && !program[mark + 2..].trim_start().starts_with('[');
    let start = if is_shell { program.find('\n').map_or(program.len(), |end| end + 1) } else { mark };
    let (before, after) = program.split_at(start);
    let support = support.unwrap_or_default();
    let gap = if before.is_empty() || before.ends_with('\n') || !is_shell { "" } else { "\n" };
    format!("{before}{gap}#![no_main] {after}\n{support}\n{modules}\n")
}

/// Types of the program whose equality is the derived one and whose values the tests write out themselves: variants and
/// fields of plain types, so that they are equal only where their fields are.
pub(super) fn derived(program: &Syntax<'_>, tests: &TestText<'_>) -> Vec<String> {
    let defined: BTreeSet<&str> = super::preamble::names(program).into_iter().collect();
    let paths = tests.paths();
    let items = named_children(program.root());
    let derived = items.iter().filter(|item| {
        let Some(name) = item.child_by_field_name("name").map(|name| program.source(name)) else { return false };
        let variants: Vec<&str> = match item.kind() {
            "enum_item" => variants(program, **item),
            "struct_item" => Vec::new(),
            _ => return false,
        };
        let called = paths.iter().filter(|(first, _)| *first == name).all(|(_, second)| variants.contains(second));
        called && derives_equality(program, **item) && has_plain_fields(program, **item, &defined)
    });
    derived.filter_map(|item| item.child_by_field_name("name")).map(|name| program.source(name).to_owned()).collect()
}

fn variants<'a>(program: &Syntax<'a>, item: Node<'_>) -> Vec<&'a str> {
    let nodes = nodes_below(item).into_iter().filter(|node| node.kind() == "enum_variant");
    nodes.filter_map(|node| node.child_by_field_name("name")).map(|name| program.source(name)).collect()
}

fn derives_equality(program: &Syntax<'_>, item: Node<'_>) -> bool {
    let mut before = item.prev_sibling();
    while let Some(node) =
        before.filter(|node| matches!(node.kind(), "attribute_item" | "line_comment" | "block_comment"))
    {
        let text: String = program.source(node).split_whitespace().collect();
        let derives = text.strip_prefix("#[derive(").and_then(|text| text.strip_suffix(")]"));
        if node.kind() == "attribute_item"
            && derives.is_some_and(|names| names.split(',').any(|name| name == "PartialEq"))
        {
            return true;
        }
        before = node.prev_sibling();
    }
    false
}

fn has_plain_fields(program: &Syntax<'_>, item: Node<'_>, defined: &BTreeSet<&str>) -> bool {
    let parameters = item.child_by_field_name("type_parameters").map(nodes_below).unwrap_or_default();
    let parameters: Vec<&str> =
        parameters.iter().filter(|node| node.kind() == "type_identifier").map(|node| program.source(*node)).collect();
    let Some(body) = item.child_by_field_name("body") else { return true };
    nodes_below(body).into_iter().all(|node| match node.kind() {
        "type_identifier" => {
            let name = program.source(node);
            parameters.contains(&name) || (PLAIN.contains(&name) && !defined.contains(name))
        }
        "scoped_type_identifier"
        | "dynamic_type"
        | "abstract_type"
        | "function_type"
        | "pointer_type"
        | "macro_invocation"
        | "attribute_item" => false,
        _ => true,
    })
}

#[cfg(test)]
mod tests {
    use super::{TestText, derived, root};
    use crate::{domain::Language, languages::syntax::Syntax};

    fn types(program: &str, tests: &str) -> Vec<String> {
        let program = Syntax::parse(Language::Rust, tree_sitter_rust::LANGUAGE, program).unwrap();
        derived(&program, &TestText::parse(tests).unwrap())
    }

    #[test]
    fn our_attribute_stands_where_attributes_of_a_crate_may() {
        assert_eq!(root("fn f() {}", None, "M"), "#![no_main] fn f() {}\n\nM\n");
        assert_eq!(root("#![allow(x)]\n", Some("S"), "M"), "#![no_main] #![allow(x)]\n\nS\nM\n");
        assert_eq!(root("#!/bin/x\nfn f() {}", None, "M"), "#!/bin/x\n#![no_main] fn f() {}\n\nM\n");
        assert!(root("\u{feff}fn f() {}", None, "M").starts_with("\u{feff}#![no_main] fn"));
    }

    #[test]
    fn derived_equality_of_variants_that_the_tests_write_is_trusted() {
        let program = "#[derive(Debug, PartialEq)]\n// Either.\npub enum E<T> { A(T), B(Vec<String>), C { x: i32 } }";
        let tests = "#[test] fn t() { assert_eq!(f(), E::A(1)); assert_eq!(f(), E::C { x: 2 }); }";
        assert_eq!(types(program, tests), ["E"]);
    }

    #[test]
    fn equality_that_could_always_hold_is_not_trusted() {
        let tests = "#[test] fn t() { assert_eq!(f(), E::A(1)); }";
        for program in [
            "enum E { A(i32) } impl PartialEq for E { fn eq(&self, _: &E) -> bool { true } }",
            "#[derive(PartialEq)] enum E { B } impl E { fn A(_: i32) -> E { E::B } }",
            "#[derive(PartialEq)] enum E { A(Own) }",
            "#[derive(PartialEq)] enum E { A(String) } struct String;",
            "#[derive(PartialEq)] struct E; impl E { fn A(_: i32) -> E { E } }",
            "#[derive(Debug)] enum E { A(i32) }",
            "#[cfg_attr(any(), derive(PartialEq))] enum E { A(i32) }",
        ] {
            assert!(types(program, tests).is_empty(), "{program}");
        }
    }
}
