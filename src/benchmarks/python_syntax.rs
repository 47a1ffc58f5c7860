//! What loaders ask of a Python text. Nothing is ever run; positions are those of the text.

use std::collections::{BTreeMap, BTreeSet};

use tree_sitter::Node;

use super::mistake::to_u32;
pub(super) use crate::languages::syntax::{line_of, named_children, nodes_below};
use crate::{
    domain::{Assertion, Language},
    languages::syntax::Syntax,
};

/// A parsed Python text. Parsing never fails: what is not Python is marked in the tree.
pub(super) struct PythonText<'a> {
    syntax: Syntax<'a>,
}

/// Our copy of the grammar does not fit our parser: a fault of the build, not of any file.
#[derive(Debug)]
pub(super) struct GrammarMissing;

impl<'a> PythonText<'a> {
    pub fn parse(text: &'a str) -> Result<Self, GrammarMissing> {
        let syntax = Syntax::parse(Language::Python, tree_sitter_python::LANGUAGE, text);
        syntax.map(|syntax| Self { syntax }).map_err(|_| GrammarMissing)
    }

    /// The source text of `node`.
    pub fn source(&self, node: Node<'_>) -> &'a str {
        self.syntax.source(node)
    }

    /// `node` as an assertion.
    pub fn listed(&self, node: Node<'_>) -> Assertion {
        self.syntax.listed(node)
    }

    /// Statements at the level of the module, in order; comments are none.
    pub fn statements(&self) -> Vec<Node<'_>> {
        let root = self.syntax.root();
        named_children(root).into_iter().filter(|node| node.kind() != "comment").collect()
    }

    /// Every node, a parent before its children, in the order of the text.
    pub fn nodes(&self) -> Vec<Node<'_>> {
        nodes_below(self.syntax.root())
    }

    /// Line and column (from 1) of the first thing that is not Python.
    pub fn first_error(&self) -> Option<(u32, u32)> {
        if !self.syntax.root().has_error() {
            return None;
        }
        let node = self.nodes().into_iter().find(|node| node.is_error() || node.is_missing())?;
        Some((line_of(node), to_u32(node.start_position().column + 1)))
    }

    /// Names that a statement of the module binds: by `def`, `class`, `import`, or assignment to plain names.
    pub fn bound_names(&self, statement: Node<'_>) -> Vec<&'a str> {
        match statement.kind() {
            "function_definition" | "class_definition" => {
                statement.child_by_field_name("name").map(|name| self.source(name)).into_iter().collect()
            }
            "decorated_definition" => {
                statement.child_by_field_name("definition").map_or_else(Vec::new, |inner| self.bound_names(inner))
            }
            "import_statement" | "import_from_statement" | "future_import_statement" => self.imported_names(statement),
            "expression_statement" => {
                let children = named_children(statement).into_iter();
                let targets = children.filter(|child| child.kind() == "assignment");
                let targets = targets.filter_map(|assignment| assignment.child_by_field_name("left"));
                targets.flat_map(plain_names).map(|name| self.source(name)).collect()
            }
            _ => Vec::new(),
        }
    }

    fn imported_names(&self, statement: Node<'_>) -> Vec<&'a str> {
        let module = statement.child_by_field_name("module_name");
        let imported = named_children(statement).into_iter().filter(|child| Some(*child) != module);
        imported
            .filter_map(|child| match child.kind() {
                "aliased_import" => child.child_by_field_name("alias"),
                // `import a.b` binds `a`
                "dotted_name" => named_children(child).into_iter().next(),
                _ => None,
            })
            .map(|name| self.source(name))
            .collect()
    }

    /// The statement of the module that binds `name` last, as the interpreter would have it.
    pub fn definition(&self, name: &str) -> Option<Node<'_>> {
        self.statements().into_iter().rfind(|statement| self.bound_names(*statement).contains(&name))
    }

    /// How many parameters the function `name` of the module has; `None` where it is no function.
    pub fn parameters(&self, name: &str) -> Option<usize> {
        let statement = self.definition(name)?;
        let function = statement.child_by_field_name("definition").unwrap_or(statement);
        let parameters = function.child_by_field_name("parameters")?;
        Some(named_children(parameters).into_iter().filter(|child| child.kind() != "comment").count())
    }

    /// Which names stand where, as identifiers.
    pub fn mentions(&self) -> Mentions<'a> {
        let starts: Vec<_> = self.statements().into_iter().map(|statement| statement.start_byte()).collect();
        let mut places = BTreeMap::<_, BTreeSet<_>>::new();
        for node in self.nodes().into_iter().filter(is_identifier) {
            let statement = statement_at(&starts, node);
            places.entry(self.source(node)).or_default().insert(statement);
        }
        Mentions { starts, places }
    }
}

/// Where the names of a text stand.
pub(super) struct Mentions<'a> {
    /// First bytes of the statements of the module.
    starts: Vec<usize>,
    /// For each name, the statements that it stands in, by number.
    places: BTreeMap<&'a str, BTreeSet<usize>>,
}

impl Mentions<'_> {
    /// Whether `name` stands anywhere.
    pub fn anywhere(&self, name: &str) -> bool {
        self.places.contains_key(name)
    }

    /// Whether `name` stands anywhere outside of statement `number` of the module.
    pub fn outside(&self, name: &str, number: usize) -> bool {
        self.places.get(name).is_some_and(|places| places.iter().any(|place| *place != number))
    }

    /// The number of the module's statement that `node` is in.
    pub fn statement_of(&self, node: Node<'_>) -> usize {
        statement_at(&self.starts, node)
    }
}

fn statement_at(starts: &[usize], node: Node<'_>) -> usize {
    starts.partition_point(|start| *start <= node.start_byte()).saturating_sub(1)
}

/// The plain names in the target of an assignment; `a.b` and `a[b]` bind none.
fn plain_names(target: Node<'_>) -> Vec<Node<'_>> {
    match target.kind() {
        "identifier" => vec![target],
        "pattern_list" | "tuple_pattern" | "list_pattern" => {
            named_children(target).into_iter().filter(is_identifier).collect()
        }
        _ => Vec::new(),
    }
}

fn is_identifier(node: &Node<'_>) -> bool {
    node.kind() == "identifier"
}
