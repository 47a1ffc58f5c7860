use std::collections::BTreeSet;

use tree_sitter::Node;

use super::{
    facts::{Facts, facts},
    statement::{Outline, Statement, StatementKind},
};
use crate::{
    domain::Language,
    languages::{
        TestTextError,
        syntax::{Syntax, named_children, nodes_below},
    },
};

/// The outline of a text; `None` where it is not of the language, has no statement, or is Python.
///
/// Some grammars take more than their language does: statements outside of any function are refused here, and so are the
/// fences of a reply.
pub fn outline(language: Language, text: &str) -> Option<Outline> {
    let facts = facts(language)?;
    let syntax = Syntax::parse(language, (facts.grammar)(), text).ok()?;
    if syntax.root().has_error() || has_bare_fence(syntax.root(), text) {
        return None;
    }
    of_tree(facts, &syntax, text)
}

/// Whether a line of three backticks stands outside of strings and comments. Where backticks are quotes, a fenced block
/// with its fences is an expression (two strings, one applied to the other), and nobody ever meant it.
fn has_bare_fence(root: Node<'_>, text: &str) -> bool {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at + line.len() - line.trim_start().len();
        at += line.len();
        if !text[start..].starts_with("```") {
            continue;
        }
        let mut node = root.descendant_for_byte_range(start, start + 1);
        let is_quoted = |node: Node<'_>| {
            let kinds = ["string", "comment", "template"];
            node.start_byte() < start && kinds.iter().any(|kind| node.kind().contains(kind))
        };
        while let Some(inner) = node.filter(|inner| !is_quoted(*inner)) {
            node = inner.parent();
        }
        if node.is_none() {
            return true;
        }
    }
    false
}

/// The outline of a text of at most 1 MiB that must be of the language; `None` where it has no statement.
///
/// # Errors
/// The first thing that is not of the language; a language without facts.
pub fn valid_outline(language: Language, text: &str) -> Result<Option<Outline>, TestTextError> {
    let none = || TestTextError::of_text(format!("{} is not read by facts", language.title()));
    let facts = facts(language).ok_or_else(none)?;
    let syntax = Syntax::of_valid(language, (facts.grammar)(), text)?;
    Ok(of_tree(facts, &syntax, text))
}

/// The functions of the top level (or the methods of its classes) in the order of the text, which may be broken elsewhere.
pub fn functions(language: Language, text: &str) -> Vec<String> {
    let Some(facts) = facts(language) else {
        return Vec::new();
    };
    let Ok(syntax) = Syntax::parse(language, (facts.grammar)(), text) else {
        return Vec::new();
    };
    let mut functions = Vec::new();
    for node in top_level(&syntax) {
        if facts.classes.is_empty() {
            let mut waiting = vec![node];
            while let Some(node) = waiting.pop() {
                if facts.transparent.contains(&node.kind()) {
                    waiting.extend(named_children(node).into_iter().rev());
                } else if is_function(node) {
                    functions.extend(statement_names(facts, node, text));
                }
            }
        } else {
            functions.extend(methods(facts, node).into_iter().map(|method| name_of(method, text).to_owned()));
        }
    }
    functions
}

fn is_function(node: Node<'_>) -> bool {
    let value = node.child_by_field_name("value");
    let kinds = [Some(node), value].into_iter().flatten().map(|node| node.kind());
    kinds.into_iter().any(|kind| kind.contains("function"))
}

/// Every name in a text, whatever it stands for; a name with a dot behind it is listed with the dot too.
pub fn mentions(language: Language, text: &str) -> BTreeSet<String> {
    let syntax = facts(language).and_then(|facts| Syntax::parse(language, (facts.grammar)(), text).ok());
    let Some(syntax) = syntax else {
        return BTreeSet::new();
    };
    let nodes = syntax.nodes().into_iter();
    let mut names = BTreeSet::new();
    for node in nodes.filter(|node| node.child_count() == 0 && node.kind().ends_with("identifier")) {
        let name = syntax.source(node).to_owned();
        if text[node.end_byte()..].starts_with('.') {
            names.insert(format!("{name}."));
        }
        names.insert(name);
    }
    names
}

/// The text without the imports that nothing in it has a use for, where those are an error of the language or would ask
/// for libraries. An import statement of which all is used stays as it is written.
pub fn without_useless_imports(language: Language, text: &str) -> String {
    let Some(outline) = outline(language, text) else {
        return text.to_owned();
    };
    let imports = || outline.statements.iter().filter(|statement| statement.kind == StatementKind::Import);
    let is_import = |line: usize| imports().any(|one| (one.first_line..=one.last_line).contains(&line));
    let lines = || text.split_inclusive('\n').enumerate();
    let rest: String = lines().filter(|(line, _)| !is_import(*line)).map(|(_, line)| line).collect();
    let names = mentions(language, &rest);
    let mut kept = String::new();
    for (line, source) in lines() {
        let Some(import) = imports().find(|one| (one.first_line..=one.last_line).contains(&line)) else {
            kept.push_str(source);
            continue;
        };
        if import.imports.iter().all(|one| one.is_needed(&names)) {
            kept.push_str(source);
        } else if import.first_line == line {
            let needed = import.imports.iter().filter(|one| one.is_needed(&names));
            kept.extend(needed.map(|one| format!("{}\n", one.text)));
        }
    }
    kept
}

fn of_tree(facts: &Facts, syntax: &Syntax<'_>, text: &str) -> Option<Outline> {
    let top = top_level(syntax);
    if top.iter().any(|node| is_refused(facts, *node)) {
        return None;
    }
    if facts.main.is_none() && returns_outside_functions(syntax.root()) {
        return None;
    }
    let statements: Vec<Statement> = top.iter().map(|node| statement(facts, *node, text)).collect();
    let runs = match facts.main {
        Some(main) => {
            statements.iter().any(|one| one.names.contains(main) || one.methods.iter().any(|method| method == main))
        }
        None => syntax.nodes().iter().any(|node| facts.calls.contains(&node.kind())),
    };
    (!statements.is_empty()).then_some(Outline { statements, runs })
}

/// The statements of the top level, without comments and the like.
pub(super) fn top_level<'t>(syntax: &'t Syntax<'_>) -> Vec<Node<'t>> {
    named_children(syntax.root()).into_iter().filter(|node| !node.is_extra()).collect()
}

fn is_refused(facts: &Facts, node: Node<'_>) -> bool {
    let kind = node.kind();
    if facts.refused.contains(&kind) {
        return true;
    }
    // Where programs start with their first line, any statement may stand there.
    if facts.main.is_none() || kind == "empty_statement" {
        return false;
    }
    if kind == "expression_statement" {
        // A lone semicolon, or an item of Rust that a macro makes.
        return node.named_child(0).is_some_and(|inner| inner.kind() != "macro_invocation");
    }
    kind.ends_with("_statement") || kind.ends_with("_expression")
}

fn returns_outside_functions(root: Node<'_>) -> bool {
    let mut waiting = vec![root];
    while let Some(node) = waiting.pop() {
        if node.kind() == "return_statement" {
            return true;
        }
        let is_function = node.child_by_field_name("parameters").is_some()
            || matches!(node.kind(), "arrow_function" | "class_static_block");
        if !is_function {
            waiting.extend(named_children(node));
        }
    }
    false
}

fn statement(facts: &Facts, node: Node<'_>, text: &str) -> Statement {
    let imports = if facts.imports.contains(&node.kind()) { (facts.imported)(node, text) } else { Vec::new() };
    let mut names = statement_names(facts, node, text);
    names.extend(imports.iter().filter_map(|import| import.name.clone()));
    Statement {
        kind: kind_of(facts, node, &names),
        names,
        methods: methods(facts, node).into_iter().map(|method| name_of(method, text).to_owned()).collect(),
        imports,
        first_line: node.start_position().row,
        last_line: last_line(node),
        text: text[node.byte_range()].trim_end().to_owned(),
    }
}

/// Names that `node` binds at the top level, imports apart.
pub(super) fn statement_names(facts: &Facts, node: Node<'_>, text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut waiting = vec![node];
    while let Some(node) = waiting.pop() {
        if facts.transparent.contains(&node.kind()) {
            waiting.extend(named_children(node));
        } else if facts.binders.contains(&node.kind()) {
            bound_names(node, text, &mut names);
        }
    }
    names
}

/// Some nodes hold the line end behind them.
fn last_line(node: Node<'_>) -> usize {
    let end = node.end_position();
    if end.column == 0 && end.row > node.start_position().row { end.row - 1 } else { end.row }
}

fn kind_of(facts: &Facts, node: Node<'_>, names: &BTreeSet<String>) -> StatementKind {
    let kind = node.kind();
    let expression = node.named_child(0).filter(|_| kind == "expression_statement");
    if facts.first.contains(&kind) {
        StatementKind::First
    } else if facts.imports.contains(&kind) {
        StatementKind::Import
    } else if expression.is_some_and(|inner| inner.kind() == "string") {
        StatementKind::First // a directive: "use strict"
    } else if expression.is_some_and(|inner| has_no_effect(facts, inner)) {
        StatementKind::Bare
    } else if names.is_empty() {
        StatementKind::Other
    } else {
        StatementKind::Definition
    }
}

fn has_no_effect(facts: &Facts, expression: Node<'_>) -> bool {
    nodes_below(expression).iter().all(|node| {
        let kind = node.kind();
        let acts = kind.contains("assignment") || matches!(kind, "update_expression" | "await_expression");
        !acts && !facts.calls.contains(&kind)
    })
}

/// The methods of the classes that `node` defines at its top level.
pub(super) fn methods<'t>(facts: &Facts, node: Node<'t>) -> Vec<Node<'t>> {
    let body = node.child_by_field_name("body").filter(|_| facts.classes.contains(&node.kind()));
    let members = body.map(named_children).unwrap_or_default();
    members.into_iter().filter(|member| member.kind() == "method_declaration").collect()
}

/// The source of a node's field `name`.
pub(super) fn name_of<'t>(node: Node<'_>, text: &'t str) -> &'t str {
    node.child_by_field_name("name").map_or("", |name| &text[name.byte_range()])
}

fn bound_names(node: Node<'_>, text: &str, names: &mut BTreeSet<String>) {
    let is_name = |node: &Node<'_>| {
        let (kind, is_key) = (node.kind(), node.kind() == "property_identifier");
        node.child_count() == 0 && !is_key && (kind.ends_with("identifier") || kind.ends_with("identifier_pattern"))
    };
    let mut cursor = node.walk();
    let patterns: Vec<Node<'_>> = node.children_by_field_name("name", &mut cursor).collect();
    for pattern in patterns {
        names.extend(
            nodes_below(pattern).iter().filter(|node| is_name(node)).map(|node| text[node.byte_range()].to_owned()),
        );
    }
    let declarators: Vec<Node<'_>> = node.children_by_field_name("declarator", &mut cursor).collect();
    // A declaration with parameters is a promise that the function is defined elsewhere.
    let is_definition = node.kind() == "function_definition";
    names.extend(declarators.into_iter().filter_map(|declarator| {
        declared_name(declarator, is_definition).map(|name| text[name.byte_range()].to_owned())
    }));
    // `struct A { … };` as a declaration's type.
    if let Some(inner) = node.child_by_field_name("type").filter(|inner| inner.child_by_field_name("body").is_some()) {
        names.extend(inner.child_by_field_name("name").map(|name| text[name.byte_range()].to_owned()));
    }
}

/// The name in the innermost declarator; absent where a class or namespace owns it.
fn declared_name(mut node: Node<'_>, is_definition: bool) -> Option<Node<'_>> {
    loop {
        if node.kind().ends_with("identifier") {
            return (node.kind() != "qualified_identifier").then_some(node);
        }
        if node.kind() == "function_declarator" && !is_definition {
            return None;
        }
        let inner = node.child_by_field_name("declarator");
        // References and parentheses hold theirs without a field.
        node = inner.or_else(|| {
            named_children(node)
                .into_iter()
                .find(|child| child.kind().contains("declarator") || child.kind() == "identifier")
        })?;
    }
}
