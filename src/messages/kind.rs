use std::fmt;

use serde::{Deserialize, Serialize};

/// The kind of a message: what a role says it accepts and emits, and what an edge carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Kind {
    /// The problem as roles see it.
    Task,
    /// A program to be executed.
    Candidate,
    /// What the tests said of a program.
    ExecutionReport,
    /// How good a judged program is.
    Assessment,
    /// Why a program fails, in words.
    Diagnosis,
}

impl Kind {
    /// The name used in files, listings and traces.
    pub fn name(self) -> &'static str {
        match self {
            Self::Task => "Task",
            Self::Candidate => "Candidate",
            Self::ExecutionReport => "ExecutionReport",
            Self::Assessment => "Assessment",
            Self::Diagnosis => "Diagnosis",
        }
    }

    /// A judged message carries verdicts: given to a role that diagnoses or writes, it opens the next generation,
    /// and `when` on an edge can ask how it ended.
    pub fn is_judged(self) -> bool {
        matches!(self, Self::ExecutionReport | Self::Assessment)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
