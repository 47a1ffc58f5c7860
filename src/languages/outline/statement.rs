use std::collections::BTreeSet;

/// What kind of statement a top-level statement is, as far as assembly and extraction care.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatementKind {
    /// A string on its own.
    Text,
    /// What must stand above everything else: `from __future__ import …`, `package main`, `#![…]`.
    First,
    /// An import whose names are known one by one. Those of Python are not told apart from other statements.
    Import,
    /// An expression that calls nothing: it does nothing in a program, and a word of prose looks like one.
    Bare,
    /// A function, a class, a variable.
    Definition,
    /// Anything else.
    Other,
}

/// One thing that an import statement brings in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// The name that it binds, where it binds one.
    pub name: Option<String>,
    /// A statement that imports this alone.
    pub text: String,
    /// It is of use only to a program that mentions one of these names, as [`super::mentions`] lists them; empty: to any.
    pub needed_for: Vec<String>,
}

impl Import {
    /// Whether a program that mentions `names` has a use for it.
    pub fn is_needed(&self, names: &BTreeSet<String>) -> bool {
        self.needed_for.is_empty() || self.needed_for.iter().any(|name| names.contains(name))
    }
}

/// A top-level statement.
#[derive(Clone, Debug)]
pub struct Statement {
    /// Its kind.
    pub kind: StatementKind,
    /// Names that it binds at the top level.
    pub names: BTreeSet<String>,
    /// Names of the methods of the class that it defines, in their order, where programs consist of classes.
    pub methods: Vec<String>,
    /// What it imports, one by one, where its kind says so.
    pub imports: Vec<Import>,
    /// First line, from 0.
    pub first_line: usize,
    /// Last line, from 0.
    pub last_line: usize,
    /// As written.
    pub text: String,
}

/// The top level of a text.
#[derive(Clone, Debug)]
pub struct Outline {
    /// Its top-level statements in order; never empty.
    pub statements: Vec<Statement>,
    /// Whether it does something when it is run as a whole program: it has the function that programs start with, or,
    /// where they start with their first line, calls anything.
    pub runs: bool,
}

impl Outline {
    /// Whether the text binds `name` at its top level (a definition, an import, an assignment).
    pub fn binds(&self, name: &str) -> bool {
        self.statements.iter().any(|statement| statement.names.contains(name))
    }

    /// Whether tests can call `name`: a name of the top level, or a method of one of its classes.
    pub fn offers(&self, name: &str) -> bool {
        self.statements.iter().any(|statement| {
            let is_named = |method: &String| method == name;
            if statement.methods.is_empty() {
                statement.names.contains(name)
            } else {
                statement.methods.iter().any(is_named)
            }
        })
    }

    /// Whether it defines anything at its top level.
    pub fn defines_something(&self) -> bool {
        self.statements.iter().any(|statement| statement.kind == StatementKind::Definition)
    }
}
