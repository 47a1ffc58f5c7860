use tree_sitter::Node;

use super::{Import, facts::Facts};

pub(super) static FACTS: Facts = Facts {
    grammar: || tree_sitter_cpp::LANGUAGE.into(),
    first: &[],
    imports: &["preproc_include", "using_declaration"],
    imported,
    transparent: &["template_declaration", "linkage_specification", "declaration_list"],
    binders: &[
        "function_definition",
        "declaration",
        "class_specifier",
        "struct_specifier",
        "union_specifier",
        "enum_specifier",
        "alias_declaration",
        "concept_definition",
        "preproc_def",
        "preproc_function_def",
    ],
    classes: &[],
    refused: &[],
    main: Some("main"),
    calls: &["call_expression"],
    line_starts: &["#include", "#define", "using ", "template", "struct ", "class ", "namespace ", "int ", "return "],
};

/// An include, or a `using` of a name or namespace; neither is bound twice by standing there twice.
fn imported(node: Node<'_>, text: &str) -> Vec<Import> {
    let words: Vec<&str> = text[node.byte_range()].split_whitespace().collect();
    let key = words.concat();
    vec![Import { name: Some(key), text: text[node.byte_range()].trim_end().to_owned(), needed_for: Vec::new() }]
}
