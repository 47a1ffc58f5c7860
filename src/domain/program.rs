use std::fmt;

use serde::{Deserialize, Serialize};

use super::Language;

/// A program text and what it is written in. Equality and hash are those of language and text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// The language of `text`.
    pub language: Language,
    /// The whole source file, as it is given to the interpreter or compiler.
    pub text: String,
}

impl Program {
    /// A program of `language`.
    pub fn new(language: Language, text: impl Into<String>) -> Self {
        Self { language, text: text.into() }
    }

    /// BLAKE3 of language and text: the name of this text in records.
    pub fn hash(&self) -> ProgramHash {
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.language.name().as_bytes());
        hasher.update(&[0]);
        hasher.update(self.text.as_bytes());
        ProgramHash(hasher.finalize().to_hex().to_string())
    }
}

/// Lower-case hexadecimal BLAKE3 of a program.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProgramHash(pub String);

impl fmt::Display for ProgramHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
