use tree_sitter::Node;

use super::{Import, facts::Facts};
use crate::languages::syntax::nodes_below;

pub(super) static FACTS: Facts = Facts {
    grammar: || tree_sitter_go::LANGUAGE.into(),
    first: &["package_clause"],
    imports: &["import_declaration"],
    imported,
    transparent: &["var_declaration", "var_spec_list", "const_declaration", "type_declaration"],
    binders: &["function_declaration", "var_spec", "const_spec", "type_spec", "type_alias"],
    classes: &[],
    refused: &["short_var_declaration", "block"],
    main: Some("main"),
    calls: &["call_expression"],
    line_starts: &["package ", "import ", "func ", "type ", "var ", "const ", "return "],
};

/// Each package. An import that is not used is an error in Go, so each is needed only for its own name with a dot: a
/// parameter may be called `strings` too.
fn imported(node: Node<'_>, text: &str) -> Vec<Import> {
    let specs = nodes_below(node).into_iter().filter(|node| node.kind() == "import_spec");
    specs
        .filter_map(|spec| {
            let path = &text[spec.child_by_field_name("path")?.byte_range()];
            let given = spec.child_by_field_name("name").map(|name| &text[name.byte_range()]);
            let statement = format!("import {}", &text[spec.byte_range()]);
            let name = match given {
                Some("_" | ".") => None,
                Some(name) => Some(name.to_owned()),
                None => Some(package_name(path.trim_matches(['"', '`'])).to_owned()),
            };
            let needed_for = name.iter().map(|name| format!("{name}.")).collect();
            Some(Import { name, text: statement, needed_for })
        })
        .collect()
}

/// The last element of the path that is no version (`math/rand/v2`).
fn package_name(path: &str) -> &str {
    let is_version = |part: &str| part.strip_prefix('v').is_some_and(|rest| rest.parse::<u32>().is_ok());
    path.rsplit('/').find(|part| !is_version(part)).unwrap_or(path)
}
