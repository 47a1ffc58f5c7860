use std::fmt;

use serde::{Deserialize, Serialize};

use super::Language;

/// A program text and what it is written in. Equality and hash are those of language and text.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
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

    /// The hash of the text as duplicates are told by: without the blanks at the ends of lines, the carriage returns of
    /// line ends, and the empty lines at its beginning and end. Everything else counts, comments and indentation too.
    pub fn normal_hash(&self) -> ProgramHash {
        let lines: Vec<&str> = self.text.lines().map(str::trim_end).collect();
        let (first, last) =
            (lines.iter().position(|line| !line.is_empty()), lines.iter().rposition(|line| !line.is_empty()));
        let text = match (first, last) {
            (Some(first), Some(last)) => lines.get(first..=last).unwrap_or_default().join("\n"),
            _ => String::new(),
        };
        Self { language: self.language, text }.hash()
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

#[cfg(test)]
mod tests {
    use super::Program;
    use crate::domain::Language;

    #[test]
    fn blanks_that_no_interpreter_sees_make_no_other_program() {
        let hash = |text: &str| Program::new(Language::Python, text).normal_hash();
        let plain = "def f(x):\n    return x";
        for same in
            ["def f(x):\n    return x\n", "\n\ndef f(x):  \r\n    return x\t\n\n", "def f(x):\r\n    return x\r\n"]
        {
            assert_eq!(hash(same), hash(plain), "{same:?}");
        }
        for other in ["def f(x):\n  return x", "def f(x):\n\n    return x", "def f(x):\n    return x  # x", ""] {
            assert_ne!(hash(other), hash(plain), "{other:?}");
        }
    }
}
