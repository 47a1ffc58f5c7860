use std::{io, path::PathBuf};

use thiserror::Error;

use super::{Mistake, Mistakes, Place};
use crate::domain::Language;

/// Why problems could not be loaded. Whatever concerns the content of a file begins with `FILE:LINE:` or
/// `FILE:LINE:COLUMN:`.
#[derive(Debug, Error)]
pub enum BenchmarkError {
    /// The file or folder cannot be read.
    #[error("{}: cannot read: {source}", path.display())]
    Read {
        /// What was to be read.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file is larger than any data set that is supported.
    #[error("{place}: {what} is longer than {limit_bytes} bytes")]
    TooLarge {
        /// Where it begins.
        place: Place,
        /// `this record`, `this file`, `the code in field ...`.
        what: String,
        /// The limit, in bytes.
        limit_bytes: usize,
    },
    /// The content is wrong: one mistake or more of one file.
    #[error("{0}")]
    Content(Mistakes),
    /// Two tasks have the same id.
    #[error("{second}: duplicate task id `{id}`, first used at {first}")]
    DuplicateTask {
        /// The id.
        id: String,
        /// Where it was used first.
        first: Place,
        /// Where it is used again.
        second: Place,
    },
    /// A folder holds no file that would fit.
    #[error("{}: no {wanted} here\n  hint: looked for {}", folder.display(), looked_for.join(", "))]
    NoFile {
        /// Where it was looked for.
        folder: PathBuf,
        /// What should be there (`quixbugs file for python`, `task file`).
        wanted: String,
        /// The names that were tried.
        looked_for: Vec<String>,
    },
    /// A folder holds several files that would fit equally well.
    #[error("{}: several files would fit: {}\n  hint: name one of them instead of the folder", folder.display(), found.join(", "))]
    SeveralFiles {
        /// Where they are.
        folder: PathBuf,
        /// Their names.
        found: Vec<String>,
    },
    /// The benchmark is not read in this language.
    #[error("{benchmark} is not read in {}, only in {known}\n  hint: in {} there are {others}", language.title(), language.title())]
    Language {
        /// The benchmark asked for.
        benchmark: &'static str,
        /// The language asked for.
        language: Language,
        /// The languages that it is read in.
        known: String,
        /// The benchmarks that are read in that language.
        others: String,
    },
    /// The benchmark has no split of this name.
    #[error("{benchmark} has no split `{name}`\n  hint: {hint}")]
    UnknownSplit {
        /// The benchmark asked for.
        benchmark: &'static str,
        /// The split asked for.
        name: String,
        /// The names that would be right.
        hint: String,
    },
    /// No benchmark has this name.
    #[error("unknown benchmark `{name}`\n  hint: {hint}")]
    UnknownBenchmark {
        /// The name asked for.
        name: String,
        /// The names that would be right.
        hint: String,
    },
    /// The data set cannot give the programs of one language to be translated.
    #[error("{benchmark} has no programs to translate\n  hint: {known} has them")]
    NoTranslation {
        /// The data set.
        benchmark: &'static str,
        /// Those that have.
        known: String,
    },
    /// A translation from a language to itself.
    #[error("a translation from {} to {} is none", language.title(), language.title())]
    SameLanguage {
        /// The language.
        language: Language,
    },
}

impl From<Mistake> for BenchmarkError {
    fn from(mistake: Mistake) -> Self {
        Self::Content(mistake.into())
    }
}
