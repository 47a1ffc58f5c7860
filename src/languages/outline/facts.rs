use tree_sitter::{Language as Grammar, Node};

use super::{Import, cpp, go, java, javascript, rust};
use crate::domain::Language;

/// How texts of a language are read. Kinds are those of its tree-sitter grammar.
pub struct Facts {
    /// The grammar.
    pub grammar: fn() -> Grammar,
    /// Statements that must stand above everything else.
    pub first: &'static [&'static str],
    /// Import statements.
    pub imports: &'static [&'static str],
    /// What an import statement brings in, one by one.
    pub imported: fn(Node<'_>, &str) -> Vec<Import>,
    /// Nodes that bind what their children bind.
    pub transparent: &'static [&'static str],
    /// Nodes that bind the name in their field `name` (or all names of the pattern there), or the innermost one of their
    /// field `declarator`.
    pub binders: &'static [&'static str],
    /// Nodes that hold functions in their field `body`, where programs consist of classes.
    pub classes: &'static [&'static str],
    /// Top-level nodes that the grammar takes and the language does not.
    pub refused: &'static [&'static str],
    /// The function that a whole program starts with; absent where it starts with its first line.
    pub main: Option<&'static str>,
    /// Calls.
    pub calls: &'static [&'static str],
    /// How a line of code, and hardly any of prose, begins.
    pub line_starts: &'static [&'static str],
}

/// The facts of a language; absent for Python.
pub fn facts(language: Language) -> Option<&'static Facts> {
    match language {
        Language::Python => None,
        Language::Cpp => Some(&cpp::FACTS),
        Language::Java => Some(&java::FACTS),
        Language::JavaScript => Some(&javascript::FACTS),
        Language::Go => Some(&go::FACTS),
        Language::Rust => Some(&rust::FACTS),
    }
}
