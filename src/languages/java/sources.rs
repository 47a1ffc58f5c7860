use tree_sitter::Node;

use crate::{
    domain::Language,
    languages::{
        TestTextError,
        syntax::{Syntax, named_children},
    },
};

/// A type that a file defines outside of any other.
pub(super) struct TopType<'t> {
    pub(super) node: Node<'t>,
    pub(super) name: &'t str,
    pub(super) is_public: bool,
}

/// The syntax tree of a text.
pub(super) fn parsed(text: &str) -> Result<Syntax<'_>, TestTextError> {
    Syntax::parse(Language::Java, tree_sitter_java::LANGUAGE, text)
}

/// Types that a file defines, in their order.
pub(super) fn types<'s>(syntax: &'s Syntax<'_>) -> Vec<TopType<'s>> {
    let nodes = named_children(syntax.root()).into_iter();
    let nodes = nodes.filter(|node| {
        matches!(
            node.kind(),
            "class_declaration"
                | "interface_declaration"
                | "enum_declaration"
                | "record_declaration"
                | "annotation_type_declaration"
        )
    });
    nodes
        .filter_map(|node| {
            let name = syntax.source(node.child_by_field_name("name")?);
            Some(TopType { node, name, is_public: has_modifier(syntax, node, "public") })
        })
        .collect()
}

/// Whether a declaration has a modifier (`public`, `static`).
pub(super) fn has_modifier(syntax: &Syntax<'_>, node: Node<'_>, word: &str) -> bool {
    let modifiers = named_children(node).into_iter().find(|child| child.kind() == "modifiers");
    modifiers.is_some_and(|modifiers| {
        let mut cursor = modifiers.walk();
        modifiers.children(&mut cursor).any(|child| syntax.source(child) == word)
    })
}

/// The package that a file is of.
pub(super) fn package<'t>(syntax: &Syntax<'t>) -> Option<&'t str> {
    let nodes = named_children(syntax.root());
    let declaration = nodes.into_iter().find(|node| node.kind() == "package_declaration")?;
    let name = named_children(declaration).into_iter().rfind(|node| node.kind().ends_with("identifier"))?;
    Some(syntax.source(name))
}

/// The file that the compiler wants a text to be in: named after its public type, else after its first.
pub(super) fn file_name(syntax: &Syntax<'_>) -> String {
    let types = types(syntax);
    let named = types.iter().find(|found| found.is_public).or(types.first());
    format!("{}.java", named.map_or("Main", |found| found.name))
}

/// The class whose `main` starts a program: the public one if it has one, else the first that has. With its package.
pub(super) fn main_class(syntax: &Syntax<'_>) -> String {
    let types = types(syntax);
    let starts = |found: &&TopType<'_>| methods(found.node).into_iter().any(|method| is_main(syntax, method));
    let named = types.iter().filter(|found| found.is_public).find(starts).or_else(|| types.iter().find(starts));
    let named = named.or_else(|| types.iter().find(|found| found.is_public)).or(types.first());
    let name = named.map_or("Main", |found| found.name);
    package(syntax).map_or_else(|| name.to_owned(), |package| format!("{package}.{name}"))
}

/// Methods of a type's own body.
pub(super) fn methods(node: Node<'_>) -> Vec<Node<'_>> {
    let members = node.child_by_field_name("body").map(named_children).unwrap_or_default();
    let members = members.into_iter().flat_map(|member| match member.kind() {
        "enum_body_declarations" => named_children(member),
        _ => vec![member],
    });
    members.filter(|member| member.kind() == "method_declaration").collect()
}

/// Whether a method is where a program starts.
pub(super) fn is_main(syntax: &Syntax<'_>, method: Node<'_>) -> bool {
    let name = method.child_by_field_name("name").map(|name| syntax.source(name));
    let parameters = method.child_by_field_name("parameters").map(named_children).unwrap_or_default();
    let is_static = has_modifier(syntax, method, "static")
        || method.parent().and_then(|body| body.parent()).is_some_and(|node| node.kind() == "interface_declaration");
    name == Some("main") && parameters.len() == 1 && is_static
}

/// What the imports of a text say, as written between `import` and the semicolon.
pub(super) fn imports(syntax: &Syntax<'_>) -> Vec<String> {
    // A prompt may end in the middle of a class: what stands before is there all the same.
    let nodes = syntax.nodes().into_iter().filter(|node| node.kind() == "import_declaration");
    let texts = nodes.filter_map(|node| {
        let text = syntax.source(node).trim().strip_prefix("import")?;
        Some(text.trim_end_matches(';').split_whitespace().collect::<Vec<_>>().join(" "))
    });
    texts.collect()
}

#[cfg(test)]
mod tests {
    use super::{file_name, main_class, parsed};

    #[test]
    fn e23_names_come_from_the_syntax_tree() {
        let text = "// It's \"public class Fake\" that people expect here\n/* public class Older {} */\nclass First \
                    {}\npublic class Real {\n  static final String S = \"public class Str {\";\n  public static void \
                    main(String[] a) {}\n}\n";
        let syntax = parsed(text).unwrap();
        assert_eq!((file_name(&syntax), main_class(&syntax)), ("Real.java".to_owned(), "Real".to_owned()));
        let syntax =
            parsed("package demo.app;\npublic class Main { static public void main(String... a) {} }").unwrap();
        assert_eq!((file_name(&syntax), main_class(&syntax)), ("Main.java".to_owned(), "demo.app.Main".to_owned()));
        let syntax = parsed("class A {}\nclass B { static void main(String[] a) {} }").unwrap();
        assert_eq!((file_name(&syntax), main_class(&syntax)), ("A.java".to_owned(), "B".to_owned()));
    }
}
