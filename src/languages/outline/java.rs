use tree_sitter::Node;

use super::{Import, facts::Facts};
use crate::languages::syntax::named_children;

pub(super) static FACTS: Facts = Facts {
    grammar: || tree_sitter_java::LANGUAGE.into(),
    first: &["package_declaration"],
    imports: &["import_declaration"],
    imported,
    transparent: &[],
    binders: CLASSES,
    classes: CLASSES,
    refused: &["local_variable_declaration", "method_declaration", "block", "field_declaration"],
    main: Some("main"),
    calls: &["method_invocation"],
    line_starts: &["import ", "package ", "public ", "private ", "class ", "static ", "final ", "return ", "@"],
};

const CLASSES: &[&str] = &[
    "class_declaration",
    "interface_declaration",
    "enum_declaration",
    "record_declaration",
    "annotation_type_declaration",
];

fn imported(node: Node<'_>, text: &str) -> Vec<Import> {
    let path = named_children(node).into_iter().find(|child| child.kind() != "asterisk");
    let whole = text[node.byte_range()].split_whitespace().collect::<Vec<_>>().join(" ");
    let all = named_children(node).iter().any(|child| child.kind() == "asterisk");
    let name = path.filter(|_| !all).and_then(|path| text[path.byte_range()].rsplit('.').next());
    // A whole package binds no name of its own; standing there twice, it is the same import.
    let name = name.map_or_else(|| whole.clone(), |name| name.trim().to_owned());
    vec![Import { name: Some(name), text: whole, needed_for: Vec::new() }]
}
