use std::fmt;

use serde::{Deserialize, Serialize};

/// A programming language that candidates are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// CPython 3.
    Python,
    /// C++17.
    Cpp,
    /// Java 17.
    Java,
    /// JavaScript, as Node.js runs it.
    JavaScript,
    /// Go.
    Go,
    /// Rust 2021.
    Rust,
}

impl Language {
    /// Every language, in the order in which help texts list them.
    pub const ALL: &'static [Self] = &[Self::Python, Self::Cpp, Self::Java, Self::JavaScript, Self::Go, Self::Rust];

    /// The word used in files, on the command line and in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::Cpp => "cpp",
            Self::Java => "java",
            Self::JavaScript => "javascript",
            Self::Go => "go",
            Self::Rust => "rust",
        }
    }

    /// The name that people know it by, for messages and prompts.
    pub fn title(self) -> &'static str {
        match self {
            Self::Python => "Python",
            Self::Cpp => "C++",
            Self::Java => "Java",
            Self::JavaScript => "JavaScript",
            Self::Go => "Go",
            Self::Rust => "Rust",
        }
    }

    /// The language with this name; `c++` and `js` are other names of `cpp` and `javascript`.
    pub fn from_name(name: &str) -> Option<Self> {
        let name = match name {
            "c++" => "cpp",
            "js" => "javascript",
            other => other,
        };
        Self::ALL.iter().copied().find(|language| language.name() == name)
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
