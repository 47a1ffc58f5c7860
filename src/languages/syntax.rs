use thiserror::Error;
use tree_sitter::{Language as Grammar, Node, Parser, Tree};

use crate::domain::{Assertion, Language};

/// Longest test text or program of a data set, in bytes.
pub const MAX_CODE_BYTES: usize = 1 << 20;

/// Why a test text is no use. The place is that in the text.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{problem}")]
pub struct TestTextError {
    /// 1-based line of the test text.
    pub line: u32,
    /// 1-based column there.
    pub column: u32,
    /// What is wrong, in words.
    pub problem: String,
}

impl TestTextError {
    /// Something that is wrong with the text as a whole.
    pub fn of_text(problem: impl Into<String>) -> Self {
        Self { line: 1, column: 1, problem: problem.into() }
    }

    /// Something that is wrong at `node`.
    pub fn at(node: Node<'_>, problem: impl Into<String>) -> Self {
        Self { line: line_of(node), column: to_u32(node.start_position().column + 1), problem: problem.into() }
    }
}

/// A text and its syntax tree. What is not of the language is marked in the tree.
pub struct Syntax<'a> {
    text: &'a str,
    tree: Tree,
}

impl<'a> Syntax<'a> {
    /// Parses a text, whatever it is.
    ///
    /// # Errors
    /// A build whose grammar does not fit its parser.
    pub fn parse(language: Language, grammar: impl Into<Grammar>, text: &'a str) -> Result<Self, TestTextError> {
        let misfit = || {
            let problem = format!(
                "the built-in grammar of {} does not fit the built-in parser; please report this",
                language.title()
            );
            TestTextError::of_text(problem)
        };
        let mut parser = Parser::new();
        parser.set_language(&grammar.into()).map_err(|_| misfit())?;
        parser.parse(text, None).map(|tree| Self { text, tree }).ok_or_else(misfit)
    }

    /// Parses a text that must be of the language.
    ///
    /// # Errors
    /// A text longer than 1 MiB; the first thing that is not of the language; as [`Syntax::parse`].
    pub fn of_valid(language: Language, grammar: impl Into<Grammar>, text: &'a str) -> Result<Self, TestTextError> {
        if text.len() > MAX_CODE_BYTES {
            return Err(TestTextError::of_text(format!("longer than {MAX_CODE_BYTES} bytes")));
        }
        let syntax = Self::parse(language, grammar, text)?;
        if syntax.tree.root_node().has_error()
            && let Some(node) = syntax.nodes().into_iter().find(|node| node.is_error() || node.is_missing())
        {
            return Err(TestTextError::at(node, format!("not valid {}", language.title())));
        }
        Ok(syntax)
    }

    /// The whole text as a node.
    pub fn root(&self) -> Node<'_> {
        self.tree.root_node()
    }

    /// The source text of `node`.
    pub fn source(&self, node: Node<'_>) -> &'a str {
        &self.text[node.byte_range()]
    }

    /// Every node, a parent before its children, in the order of the text.
    pub fn nodes(&self) -> Vec<Node<'_>> {
        nodes_below(self.root())
    }

    /// `node` as an assertion or finding: its line and text.
    pub fn listed(&self, node: Node<'_>) -> Assertion {
        Assertion { line: line_of(node), text: self.source(node).trim_end().to_owned() }
    }
}

/// The children of `node` that the grammar names.
pub fn named_children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).collect()
}

/// `node` and everything below it, a parent before its children; without recursion, since nesting may be hostile.
pub fn nodes_below(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    let mut nodes = Vec::new();
    loop {
        nodes.push(cursor.node());
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return nodes;
            }
        }
    }
}

/// An expression without the parentheses around it.
pub fn bare(mut node: Node<'_>) -> Node<'_> {
    while node.kind() == "parenthesized_expression"
        && let Some(inner) = node.named_child(0)
    {
        node = inner;
    }
    node
}

/// 1-based line on which `node` begins.
pub fn line_of(node: Node<'_>) -> u32 {
    to_u32(node.start_position().row + 1)
}

fn to_u32(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
