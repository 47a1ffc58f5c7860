use tree_sitter::Node;

use super::{Import, facts::Facts};
use crate::languages::syntax::named_children;

pub(super) static FACTS: Facts = Facts {
    grammar: || tree_sitter_rust::LANGUAGE.into(),
    first: &["inner_attribute_item", "shebang"],
    imports: &["use_declaration"],
    imported,
    transparent: &[],
    binders: &[
        "function_item",
        "struct_item",
        "enum_item",
        "union_item",
        "trait_item",
        "type_item",
        "const_item",
        "static_item",
        "mod_item",
        "macro_definition",
    ],
    classes: &[],
    refused: &["let_declaration"],
    main: Some("main"),
    calls: &["call_expression", "macro_invocation"],
    line_starts: &["use ", "fn ", "pub ", "struct ", "enum ", "impl ", "mod ", "let ", "#[", "#![", "return "],
};

/// How deep lists of lists are looked into.
const MAX_NESTING: usize = 32;

/// Each name. One of another crate than the standard ones is needed only where the name or the crate is mentioned, so
/// that a program does not depend on a crate that it has no use for.
fn imported(node: Node<'_>, text: &str) -> Vec<Import> {
    let mut imports = Vec::new();
    if let Some(argument) = node.child_by_field_name("argument") {
        collect(argument, "", text, 0, &mut imports);
    }
    imports
}

fn collect(node: Node<'_>, prefix: &str, text: &str, depth: usize, imports: &mut Vec<Import>) {
    if depth > MAX_NESTING {
        return;
    }
    let source = |node: Node<'_>| text[node.byte_range()].split_whitespace().collect::<String>();
    let below = |path: &str| if prefix.is_empty() { path.to_owned() } else { format!("{prefix}::{path}") };
    match node.kind() {
        "use_list" => {
            for child in named_children(node).into_iter().filter(|child| !child.is_extra()) {
                collect(child, prefix, text, depth + 1, imports);
            }
        }
        "scoped_use_list" => {
            let path = node.child_by_field_name("path").map_or_else(|| prefix.to_owned(), |path| below(&source(path)));
            if let Some(list) = node.child_by_field_name("list") {
                collect(list, &path, text, depth + 1, imports);
            }
        }
        "use_as_clause" => {
            let path = node.child_by_field_name("path").map(source).unwrap_or_default();
            let alias = node.child_by_field_name("alias").map(source);
            let full = format!("{} as {}", whole(&below(&path)), alias.as_deref().unwrap_or("_"));
            imports.push(import(&full, alias.filter(|alias| alias != "_")));
        }
        "use_wildcard" => imports.push(import(&below(&source(node)), None)),
        _ => {
            let path = whole(&below(&source(node)));
            let name = path.rsplit("::").next().map(str::to_owned);
            imports.push(import(&path, name));
        }
    }
}

/// `self` in a list is the path itself.
fn whole(path: &str) -> String {
    path.strip_suffix("::self").unwrap_or(path).to_owned()
}

fn import(path: &str, name: Option<String>) -> Import {
    let root = path.trim_start_matches("::").split("::").next().unwrap_or_default();
    let is_standard = matches!(root, "std" | "core" | "alloc" | "crate" | "self" | "super");
    let needed_for = if is_standard { Vec::new() } else { name.iter().cloned().chain([root.to_owned()]).collect() };
    Import { name, text: format!("use {path};"), needed_for }
}
