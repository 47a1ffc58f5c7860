use std::collections::{BTreeMap, BTreeSet};

use tree_sitter::Node;

use crate::{
    domain::Language,
    languages::{
        TestTextError,
        edits::Edits,
        syntax::{Syntax, named_children, nodes_below},
    },
};

/// Packages that tests may use without saying so, by the name that they are used by.
const USUAL: &[(&str, &str)] = &[
    ("bytes", "bytes"),
    ("errors", "errors"),
    ("fmt", "fmt"),
    ("math", "math"),
    ("md5", "crypto/md5"),
    ("rand", "math/rand"),
    ("reflect", "reflect"),
    ("regexp", "regexp"),
    ("sort", "sort"),
    ("strconv", "strconv"),
    ("strings", "strings"),
    ("time", "time"),
    ("unicode", "unicode"),
];

/// The syntax tree of a text.
pub(super) fn parsed(text: &str) -> Result<Syntax<'_>, TestTextError> {
    Syntax::parse(Language::Go, tree_sitter_go::LANGUAGE, text)
}

/// The top-level nodes of a kind.
fn top<'s>(syntax: &'s Syntax<'_>, kind: &str) -> Vec<Node<'s>> {
    named_children(syntax.root()).into_iter().filter(|node| node.kind() == kind).collect()
}

/// What a text imports: path by the name that it is used by (`.` and `_` stand for themselves), and the clause as written.
pub(super) fn imports<'t>(syntax: &Syntax<'t>) -> Vec<(String, &'t str, &'t str)> {
    let specs = top(syntax, "import_declaration").into_iter().flat_map(nodes_below);
    let specs = specs.filter(|node| node.kind() == "import_spec");
    specs
        .filter_map(|node| {
            let path = syntax.source(node.child_by_field_name("path")?).trim_matches(['"', '`']);
            let last = path.rsplit('/').find(|part| !is_version(part)).unwrap_or(path);
            let name = node.child_by_field_name("name").map_or(last, |name| syntax.source(name));
            Some((name.to_owned(), path, syntax.source(node)))
        })
        .collect()
}

/// Whether a last part of a path is no name (`math/rand/v2`).
fn is_version(part: &str) -> bool {
    part.strip_prefix('v').is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

/// A whole program: of package main where it does not say of which it is.
pub(super) fn whole_program(text: &str) -> String {
    match parsed(text) {
        Ok(syntax) if top(&syntax, "package_clause").is_empty() => format!("package main; {text}"),
        _ => text.to_owned(),
    }
}

/// A text as one of several files of package main, whose `main` is out of the way; lines stay where they are.
pub(super) fn part(text: &str, suffix: &str) -> Result<String, TestTextError> {
    let syntax = parsed(text)?;
    let mut edits = Edits::of(text);
    let clauses = top(&syntax, "package_clause");
    if let Some(name) = clauses.first().and_then(|clause| named_children(*clause).first().copied()) {
        edits.replace(name.byte_range(), "main".to_owned());
    } else {
        edits.insert(0, "package main; ".to_owned());
    }
    for function in top(&syntax, "function_declaration") {
        if let Some(name) = function.child_by_field_name("name")
            && syntax.source(name) == "main"
        {
            edits.replace(name.byte_range(), format!("main_{suffix}"));
        }
    }
    Ok(edits.apply())
}

/// Names that a text declares outside of functions.
pub(super) fn declared<'t>(syntax: &Syntax<'t>) -> BTreeSet<&'t str> {
    let mut names = BTreeSet::new();
    for node in named_children(syntax.root()) {
        let specs = match node.kind() {
            "function_declaration" => vec![node],
            "const_declaration" | "var_declaration" | "type_declaration" => nodes_below(node)
                .into_iter()
                .filter(|node| matches!(node.kind(), "const_spec" | "var_spec" | "type_spec" | "type_alias"))
                .collect(),
            _ => Vec::new(),
        };
        for spec in specs {
            let mut cursor = spec.walk();
            names.extend(spec.children_by_field_name("name", &mut cursor).map(|name| syntax.source(name)));
        }
    }
    names
}

/// The head of the tests' file: the imports that its text uses, of those that `texts` make.
///
/// A package that nothing imports is taken for one of the usual ones.
pub(super) fn head(body: &str, texts: &[&str]) -> Result<String, TestTextError> {
    let syntax = parsed(body)?;
    let (mut used, mut bound) = (BTreeSet::new(), declared(&syntax));
    for node in syntax.nodes() {
        let package = match node.kind() {
            "selector_expression" => node.child_by_field_name("operand").filter(|node| node.kind() == "identifier"),
            "qualified_type" => node.child_by_field_name("package"),
            "short_var_declaration" | "parameter_declaration" | "var_spec" | "range_clause" => {
                let left = node.child_by_field_name("left").or_else(|| node.child_by_field_name("name"));
                let names = left.map(nodes_below).unwrap_or_default();
                bound.extend(
                    names.into_iter().filter(|node| node.kind() == "identifier").map(|node| syntax.source(node)),
                );
                None
            }
            _ => None,
        };
        used.extend(package.map(|node| syntax.source(node)));
    }
    let mut clauses = BTreeMap::new();
    for (name, path) in USUAL {
        if used.contains(name) && !bound.contains(name) {
            clauses.insert((*name).to_owned(), format!("\"{path}\""));
        }
    }
    for text in texts {
        for (name, _, clause) in imports(&parsed(text)?) {
            if used.contains(name.as_str()) {
                clauses.insert(name, clause.to_owned());
            }
        }
    }
    let clauses: String = clauses.into_values().map(|clause| format!("import {clause}; ")).collect();
    Ok(format!("package main; {clauses}"))
}

#[cfg(test)]
mod tests {
    use super::{head, part, whole_program};

    #[test]
    fn a_file_becomes_part_of_package_main_on_its_own_lines() {
        assert_eq!(whole_program("func main() {}"), "package main; func main() {}");
        assert_eq!(whole_program("// package x\npackage main\n"), "// package x\npackage main\n");
        assert_eq!(part("package p\nfunc main() {}\n", "s").unwrap(), "package main\nfunc main_s() {}\n");
        assert_eq!(part("import \"fmt\"\nfunc f() {}\n", "s").unwrap(), "package main; import \"fmt\"\nfunc f() {}\n");
    }

    #[test]
    fn tests_import_what_they_use() {
        let body = "func TestA(t *T) { m.Abs(1); var x strings.Builder; time := 3; time.Foo() }";
        let setup = "package main\nimport (\n\tm \"math\"\n\t\"os\"\n\t\"github.com/stretchr/testify/assert\"\n)\n";
        assert_eq!(head(body, &[setup]).unwrap(), "package main; import m \"math\"; import \"strings\"; ");
    }
}
