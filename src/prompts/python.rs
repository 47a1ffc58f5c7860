use std::collections::BTreeSet;

use tree_sitter::Node;

use crate::{
    domain::Language,
    languages::{
        outline::{Outline, Statement, StatementKind},
        syntax::Syntax,
    },
};

/// How deep compound statements are looked into for the names that they bind.
const MAX_NESTING: usize = 64;

/// The module that `text` is; `None` where it is not Python 3 or has no statement.
///
/// The grammar takes more than Python does, so these are refused here: empty bodies, a line indented where none may be,
/// `return` outside a function, `try` without a handler, and the print and exec statements of Python 2.
pub fn read_module(text: &str) -> Option<Outline> {
    let syntax = Syntax::parse(Language::Python, tree_sitter_python::LANGUAGE, text).ok()?;
    let root = syntax.root();
    if root.has_error() {
        return None;
    }
    let runs = check(root, text)?;
    let statements: Vec<Statement> = statements_of(root).into_iter().map(|node| statement(node, text)).collect();
    (!statements.is_empty()).then_some(Outline { statements, runs })
}

/// Walks the tree for what the grammar lets through. `None` = not Python; else whether anything is called.
fn check(root: Node<'_>, text: &str) -> Option<bool> {
    let mut calls = false;
    let mut cursor = root.walk();
    // One entry per level of the walk: whether that node is in a function.
    let mut in_function = vec![false];
    loop {
        let node = cursor.node();
        let inside = in_function.last().copied().unwrap_or(false);
        match node.kind() {
            "print_statement" | "exec_statement" => return None,
            "return_statement" if !inside => return None,
            "module" if !evenly_indented(&statements_of(node), text, Some(0)) => return None,
            "block" => {
                let statements = statements_of(node);
                if statements.is_empty() || !evenly_indented(&statements, text, None) {
                    return None;
                }
            }
            "try_statement" if !has_handler(node) => return None,
            "call" => calls = true,
            _ => {}
        }
        if cursor.goto_first_child() {
            in_function.push(match node.kind() {
                "function_definition" => true,
                "class_definition" => false,
                _ => inside,
            });
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return Some(calls);
            }
            in_function.pop();
        }
    }
}

/// The statements (or clauses) of a module or block, without comments and the like.
fn statements_of(node: Node<'_>) -> Vec<Node<'_>> {
    node.named_children(&mut node.walk()).filter(|child| !child.is_extra()).collect()
}

fn has_handler(node: Node<'_>) -> bool {
    node.named_children(&mut node.walk())
        .any(|child| child.kind() == "finally_clause" || child.kind().starts_with("except"))
}

/// Whether all statements that begin a line begin in the same column, and in `column` where it is given.
fn evenly_indented(statements: &[Node<'_>], text: &str, mut column: Option<usize>) -> bool {
    statements.iter().all(|node| {
        let place = node.start_position().column;
        let line_start = node.start_byte().saturating_sub(place);
        let begins_line = text.get(line_start..node.start_byte()).is_some_and(|before| before.trim().is_empty());
        !begins_line || *column.get_or_insert(place) == place
    })
}

fn statement(node: Node<'_>, text: &str) -> Statement {
    let mut names = BTreeSet::new();
    bind(node, text, 0, &mut names);
    Statement {
        kind: kind_of(node),
        names,
        methods: Vec::new(),
        imports: Vec::new(),
        first_line: node.start_position().row,
        last_line: node.end_position().row,
        text: slice(node, text).to_owned(),
    }
}

fn kind_of(node: Node<'_>) -> StatementKind {
    match node.kind() {
        "future_import_statement" => StatementKind::First,
        "function_definition" | "class_definition" | "decorated_definition" => StatementKind::Definition,
        "expression_statement" => match node.named_child(0).map(|child| child.kind()) {
            Some("string" | "concatenated_string") => StatementKind::Text,
            _ if is_bare(node) => StatementKind::Bare,
            _ => StatementKind::Other,
        },
        _ => StatementKind::Other,
    }
}

/// Whether nothing below this expression statement has an effect.
fn is_bare(node: Node<'_>) -> bool {
    let mut waiting = vec![node];
    while let Some(node) = waiting.pop() {
        if matches!(
            node.kind(),
            "call" | "assignment" | "augmented_assignment" | "named_expression" | "await" | "yield"
        ) {
            return false;
        }
        waiting.extend(node.named_children(&mut node.walk()));
    }
    true
}

/// Collects the names that `node` binds in its module.
fn bind(node: Node<'_>, text: &str, depth: usize, names: &mut BTreeSet<String>) {
    if depth > MAX_NESTING {
        return;
    }
    match node.kind() {
        "function_definition" | "class_definition" => {
            names.extend(node.child_by_field_name("name").map(|name| slice(name, text).to_owned()));
        }
        "import_statement" | "import_from_statement" | "future_import_statement" => {
            for name in node.children_by_field_name("name", &mut node.walk()) {
                let bound = name.child_by_field_name("alias").unwrap_or(name);
                names.extend(slice(bound, text).split('.').next().map(|first| first.trim().to_owned()));
            }
        }
        "assignment" if node.child_by_field_name("right").is_none() => {}
        "assignment" | "for_statement" => {
            if let Some(left) = node.child_by_field_name("left") {
                bind_target(left, text, names);
            }
            for field in ["right", "body", "alternative"] {
                for child in node.children_by_field_name(field, &mut node.walk()) {
                    bind(child, text, depth + 1, names);
                }
            }
        }
        "type_alias_statement" => {
            if let Some(left) = node.child_by_field_name("left") {
                bind_target(left, text, names);
            }
        }
        "as_pattern" => {
            if let Some(alias) = node.child_by_field_name("alias") {
                bind_target(alias, text, names);
            }
        }
        "decorated_definition"
        | "expression_statement"
        | "block"
        | "if_statement"
        | "elif_clause"
        | "else_clause"
        | "while_statement"
        | "try_statement"
        | "except_clause"
        | "except_group_clause"
        | "finally_clause"
        | "with_statement"
        | "with_clause"
        | "with_item"
        | "match_statement"
        | "case_clause" => {
            for child in node.named_children(&mut node.walk()) {
                bind(child, text, depth + 1, names);
            }
        }
        _ => {}
    }
}

/// Collects the names of an assignment's target: all identifiers of a pattern, none of `a.b` or `a[0]`.
fn bind_target(node: Node<'_>, text: &str, names: &mut BTreeSet<String>) {
    let mut waiting = vec![node];
    while let Some(node) = waiting.pop() {
        match node.kind() {
            "identifier" => {
                names.insert(slice(node, text).to_owned());
            }
            "attribute" | "subscript" => {}
            _ => waiting.extend(node.named_children(&mut node.walk())),
        }
    }
}

fn slice<'t>(node: Node<'_>, text: &'t str) -> &'t str {
    text.get(node.byte_range()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{StatementKind, read_module};

    fn reads(text: &str) -> bool {
        read_module(text).is_some()
    }

    #[test]
    fn what_python_refuses_is_refused() {
        for text in [
            "",
            "# only a comment\n",
            "def f(n):\n",
            "def f(n):\n    # nothing\n",
            "class A:\n",
            "x = 1\n  y = 2\n",
            "    return n + 1\n",
            "return 1\n",
            "class A:\n    return 1\n",
            "def f():\nreturn 1\n",
            "def f():\n    x = 1\n      y = 2\n",
            "try:\n    x\n",
            "print 'x'\n",
            "exec x\n",
            "x = (1,\n",
            "'''open",
            "Solution:\n",
            "if x:\n    y\nelse:\n",
        ] {
            assert!(!reads(text), "{text:?}");
        }
    }

    #[test]
    fn what_python_takes_is_taken() {
        for text in [
            "def f(n): return n\n",
            "def f(n):\n\treturn n\n",
            "x = 1; y = 2\n",
            "if x:\n  y\nelse:\n  z\n",
            "def f(): x = 1; return x\n",
            "try:\n    x\nfinally:\n    y\n",
            "match x:\n    case 1:\n        y\n",
            "async def f():\n    async with a as b:\n        return b\n",
            "class A:\n    def f(self):\n        return 1\n",
            "def f[T](x: T) -> T:\n    return x\n",
            "x = '''\n  a\nb'''\ny = 1\n",
            "def f():\r\n    return 1\r\n",
            "@d\ndef f():\n    return lambda: 1\n",
            "def f():\n  # c\n    # d\n  return 1\n",
        ] {
            assert!(reads(text), "{text:?}");
        }
    }

    #[test]
    fn names_that_a_module_binds() {
        let text = "import os.path, sys as system\nfrom a import b, c as d\na.x = (f, g) = 1, 2\nh: int = 3\ni: int\n\
                    try:\n    import j\nexcept ImportError as e:\n    j = None\nfor k, [l] in []:\n    m = 1\n\
                    with open('n') as o:\n    pass\n@p\nclass Q:\n    r = 1\nasync def s(t):\n    u = 1\n";
        let module = read_module(text).unwrap();
        let names: Vec<String> = module.statements.iter().flat_map(|statement| statement.names.clone()).collect();
        assert_eq!(names.join(" "), "os system b d f g h e j k l m o Q s");
    }

    #[test]
    fn kinds_of_statements() {
        let module = read_module(
            "'doc'\nfrom __future__ import annotations\nSure\nSure, thing\nf(1)\nx = 1\n@d\nclass A: pass\n",
        )
        .unwrap();
        let kinds: Vec<StatementKind> = module.statements.iter().map(|statement| statement.kind).collect();
        use StatementKind::{Bare, Definition, First, Other, Text};
        assert_eq!(kinds, [Text, First, Bare, Bare, Other, Other, Definition]);
    }

    #[test]
    fn deep_nesting_is_no_module() {
        assert!(!reads(&"(".repeat(100_000)));
        assert!(!reads(&(0..600).map(|depth| " ".repeat(depth) + "if a:\n").collect::<String>()));
    }
}
