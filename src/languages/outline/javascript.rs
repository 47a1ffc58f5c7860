use tree_sitter::Node;

use super::{Import, facts::Facts};
use crate::languages::syntax::nodes_below;

pub(super) static FACTS: Facts = Facts {
    grammar: || tree_sitter_javascript::LANGUAGE.into(),
    first: &["hash_bang_line"],
    imports: &["import_statement"],
    imported,
    transparent: &["lexical_declaration", "variable_declaration", "export_statement"],
    binders: &["function_declaration", "generator_function_declaration", "class_declaration", "variable_declarator"],
    classes: &[],
    refused: &["return_statement"],
    main: None,
    calls: &["call_expression", "new_expression"],
    line_starts: &["const ", "let ", "var ", "function ", "class ", "import ", "export ", "return "],
};

/// The statement as a whole, under each name that it binds.
fn imported(node: Node<'_>, text: &str) -> Vec<Import> {
    let statement = text[node.byte_range()].trim_end().to_owned();
    let is_bound = |name: &Node<'_>| {
        name.kind() == "identifier"
            && name.parent().is_none_or(|parent| parent.child_by_field_name("alias").is_none_or(|alias| alias == *name))
    };
    let names = nodes_below(node).into_iter().filter(is_bound);
    let mut imports: Vec<Import> = names
        .map(|name| Import {
            name: Some(text[name.byte_range()].to_owned()),
            text: statement.clone(),
            needed_for: Vec::new(),
        })
        .collect();
    if imports.is_empty() {
        imports.push(Import { name: None, text: statement, needed_for: Vec::new() });
    }
    imports
}
