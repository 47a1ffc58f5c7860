use std::collections::BTreeSet;

use tree_sitter::Node;

use crate::languages::syntax::{Syntax, named_children, nodes_below};

/// Names of items and imports outside of functions and modules.
pub(super) fn names<'a>(syntax: &Syntax<'a>) -> Vec<&'a str> {
    named_children(syntax.root()).into_iter().flat_map(|item| names_of(syntax, item)).collect()
}

fn names_of<'a>(syntax: &Syntax<'a>, item: Node<'_>) -> Vec<&'a str> {
    match item.kind() {
        "use_declaration" => {
            let words =
                nodes_below(item).into_iter().filter(|node| matches!(node.kind(), "identifier" | "type_identifier"));
            words.map(|node| syntax.source(node)).collect()
        }
        _ => item.child_by_field_name("name").map(|name| syntax.source(name)).into_iter().collect(),
    }
}

/// What of the prompt's code the program does not define itself: imports and helpers.
pub(super) fn lacking(preamble: &Syntax<'_>, program: &Syntax<'_>) -> String {
    let present: BTreeSet<&str> = names(program).into_iter().collect();
    let mut text = String::new();
    for item in named_children(preamble.root()) {
        let is_item = matches!(
            item.kind(),
            "function_item"
                | "struct_item"
                | "enum_item"
                | "trait_item"
                | "type_item"
                | "const_item"
                | "static_item"
                | "mod_item"
        );
        let names = names_of(preamble, item);
        let is_new = match item.kind() {
            // All that it names stands in the program too: then the program's own import is seen.
            "use_declaration" => names.iter().any(|name| !present.contains(name)),
            _ => is_item && names.iter().all(|name| !present.contains(name)),
        };
        if is_new && !item.has_error() {
            let mut before = item.prev_sibling();
            let mut attributes = Vec::new();
            while let Some(node) = before.filter(|node| node.kind() == "attribute_item") {
                attributes.push(preamble.source(node));
                before = node.prev_sibling();
            }
            attributes.iter().rev().for_each(|attribute| text.push_str(attribute));
            text.push_str(preamble.source(item));
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::lacking;
    use crate::{domain::Language, languages::syntax::Syntax};

    #[test]
    fn only_what_the_program_lacks_of_the_prompt_is_added() {
        let parsed = |text| Syntax::parse(Language::Rust, tree_sitter_rust::LANGUAGE, text).unwrap();
        let preamble = parsed(
            "use std::collections::HashMap;\nuse std::fmt;\n#[derive(Clone)]\nstruct P { x: i32 }\nfn helper() {}\nfn known() {}\n\
             fn f(x: i32) -> i32 {\n",
        );
        let program = parsed("use std::fmt;\nfn known() { helper() }\nfn f(x: i32) -> i32 { x }\n");
        let expected = "use std::collections::HashMap;\n#[derive(Clone)]struct P { x: i32 }\nfn helper() {}\n";
        assert_eq!(lacking(&preamble, &program), expected);
    }
}
