//! What a text of a language consists of: its top-level statements, the names that they bind, its imports. Read from the
//! syntax tree by facts, one file a language. Python, whose programs are not closed by braces, is read elsewhere.

mod cpp;
mod facts;
mod go;
mod head;
mod java;
mod javascript;
mod read;
mod rust;
mod statement;
#[cfg(test)]
mod tests;

pub use facts::facts;
pub use head::{FunctionHead, function_head, text_around_last_method};
pub use read::{functions, mentions, outline, valid_outline, without_useless_imports};
pub use statement::{Import, Outline, Statement, StatementKind};
