//! What differs from language to language: one file each, and nothing else knows.
//!
//! A [`Toolchain`] is facts and texts only: how a language is written in replies, which tools it needs, which commands
//! build and run a program, where a test text asserts, and how program, tests and harness become one program. It starts
//! no process; the sandbox runs the commands.

mod commands;
mod cpp;
mod edits;
mod go;
mod java;
mod javascript;
mod linked;
/// What a text of a language consists of.
pub mod outline;
mod python;
mod rust;
mod seal;
/// Syntax trees of programs and tests.
pub mod syntax;

pub use commands::{BoxCommand, Preparation, Recipe, Resident, SourceFile, Tools, Unit, Wanted};
pub use linked::{LINKED_CHANNEL, Linked, LinkedHarness, LinkedRequest, LinkedSaid, Testing};
pub use python::PYTHON_HASH_SEED;
pub use seal::Seal;
pub use syntax::TestTextError;

use serde_json::Value;

use std::path::PathBuf;

use crate::domain::{Assertion, Language, Limits};

/// A language.
pub trait Toolchain: Sync {
    /// Which one.
    fn language(&self) -> Language;

    /// First words of a fence's info string that mean this language, in lower case, without version numbers.
    fn fence_words(&self) -> &'static [&'static str];

    /// Limits of one execution where neither the task nor the arrangement says otherwise.
    fn limits(&self) -> Limits {
        Limits::default()
    }

    /// The tools to look for on this machine.
    fn wanted(&self) -> &'static [Wanted];

    /// Directories outside of these tools' installations to which those link, to be readable in the box too.
    fn beside(&self, _tools: &Tools) -> Vec<PathBuf> {
        Vec::new()
    }

    /// What is built once for these tools before the first program; its directory then is [`Tools::prepared`].
    fn preparation(&self, _tools: &Tools) -> Option<Preparation> {
        None
    }

    /// A compiler that stays, where that is worth it.
    fn resident(&self, _tools: &Tools) -> Option<Resident> {
        None
    }

    /// What kind of processes judge test code.
    fn testing(&self) -> Testing<'_>;

    /// A whole program on standard input and output, as files.
    fn program(&self, text: &str) -> Unit;

    /// How a unit is built and run. Paths in commands are those in the box, where the unit's files lie in the working
    /// directory.
    fn recipe(&self, unit: &Unit, tools: &Tools) -> Recipe;

    /// The assertion statements of a test text in source order; each is one test with one verdict. Parsed, never run.
    ///
    /// # Errors
    /// A text that is not of this language, at its first error.
    fn assertions(&self, tests: &str) -> Result<Vec<Assertion>, TestTextError>;

    /// A test text as the tests' process of [`Testing::Split`] takes it in its request: the text itself, or whatever its
    /// own harness wants in its place.
    ///
    /// # Errors
    /// As [`Toolchain::assertions`]; a text that the harness cannot take.
    fn suite(&self, tests: &str) -> Result<Value, TestTextError> {
        Ok(Value::from(tests))
    }

    /// Whether the sandbox can tell which lines its programs executed, and values at lines.
    fn has_profiles(&self) -> bool {
        false
    }
    /// What can stand in the place of an assertion that is taken out of a test text: a statement that does nothing.
    fn nothing(&self) -> &'static str;

    /// Calls in a program that end or replace its process, or start others (`exit`, `fork`, `exec`), as written, with
    /// their lines. A record of a linked program names them; languages that link none have none.
    fn exits(&self, _program: &str) -> Vec<Assertion> {
        Vec::new()
    }
}

/// Functions of the C library that end or replace the process, or start another, for [`Toolchain::exits`].
const ENDING_IN_C: &[&str] = &[
    "exit",
    "_exit",
    "_Exit",
    "quick_exit",
    "abort",
    "fork",
    "vfork",
    "execl",
    "execle",
    "execlp",
    "execv",
    "execve",
    "execvp",
    "execvpe",
    "fexecve",
    "system",
    "popen",
    "posix_spawn",
    "posix_spawnp",
    "raise",
    "kill",
    "syscall",
];

/// Every language that the sandbox runs.
static TOOLCHAINS: &[&dyn Toolchain] =
    &[&python::Python, &cpp::Cpp, &java::Java, &javascript::JavaScript, &go::Go, &rust::Rust];

/// The toolchain of a language.
pub fn toolchain(language: Language) -> Option<&'static dyn Toolchain> {
    TOOLCHAINS.iter().copied().find(|toolchain| toolchain.language() == language)
}

/// Limits of one execution in a language where nothing else is said.
pub fn limits(language: Language) -> Limits {
    toolchain(language).map_or_else(Limits::default, Toolchain::limits)
}
