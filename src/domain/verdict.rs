use serde::{Deserialize, Serialize};

/// What one test said of one program, or what all tests together say of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The value or output was right.
    Passed,
    /// The value or output was not the expected one.
    Wrong,
    /// Used more CPU time than allowed.
    TimeoutCpu,
    /// Took longer than allowed by the clock on the wall.
    TimeoutWall,
    /// Used more memory than allowed.
    Memory,
    /// Printed more than allowed.
    OutputLimit,
    /// Started more processes or threads than allowed.
    ProcessLimit,
    /// Wrote a larger file than allowed.
    FileLimit,
    /// Ended by a signal or an exception, or before its answer.
    Crashed,
    /// Broke a rule (a denied system call, a forged answer).
    Forbidden,
    /// Does not compile or parse.
    CompileError,
    /// Returned a value that cannot be carried to the tests.
    UnsupportedReturn,
    /// This test was not run.
    NotRun,
    /// The reply held no program.
    NoCode,
    /// Our machine failed; says nothing of the program.
    Infrastructure,
}

impl Verdict {
    /// The word used in files and records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Wrong => "wrong",
            Self::TimeoutCpu => "timeout_cpu",
            Self::TimeoutWall => "timeout_wall",
            Self::Memory => "memory",
            Self::OutputLimit => "output_limit",
            Self::ProcessLimit => "process_limit",
            Self::FileLimit => "file_limit",
            Self::Crashed => "crashed",
            Self::Forbidden => "forbidden",
            Self::CompileError => "compile_error",
            Self::UnsupportedReturn => "unsupported_return",
            Self::NotRun => "not_run",
            Self::NoCode => "no_code",
            Self::Infrastructure => "infrastructure",
        }
    }

    /// Whether time ran out, by whichever clock.
    pub fn is_timeout(self) -> bool {
        matches!(self, Self::TimeoutCpu | Self::TimeoutWall)
    }

    /// The order in which a program's word is picked from its tests' words: the first that occurs.
    const PRECEDENCE: [Self; 14] = [
        Self::Infrastructure,
        Self::NoCode,
        Self::CompileError,
        Self::Forbidden,
        Self::OutputLimit,
        Self::TimeoutCpu,
        Self::TimeoutWall,
        Self::Memory,
        Self::ProcessLimit,
        Self::FileLimit,
        Self::Crashed,
        Self::UnsupportedReturn,
        Self::Wrong,
        Self::NotRun,
    ];

    /// A program's verdict from its tests' verdicts. No test at all is never `passed`: it is `not_run`.
    pub fn of_program(tests: impl IntoIterator<Item = Self>) -> Self {
        let mut any = false;
        let mut worst = Self::PRECEDENCE.len();
        for verdict in tests {
            any = true;
            if let Some(place) = Self::PRECEDENCE.iter().position(|other| *other == verdict) {
                worst = worst.min(place);
            }
        }
        match Self::PRECEDENCE.get(worst) {
            Some(verdict) => *verdict,
            None if any => Self::Passed,
            None => Self::NotRun,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Verdict;

    #[test]
    fn a_program_without_tests_is_never_passed() {
        assert_eq!(Verdict::of_program([]), Verdict::NotRun);
    }

    #[test]
    fn the_first_word_in_the_stated_order_is_the_programs() {
        use Verdict::{Crashed, NotRun, Passed, TimeoutCpu, Wrong};
        assert_eq!(Verdict::of_program([Passed, Passed]), Passed);
        assert_eq!(Verdict::of_program([Wrong, Crashed, Passed]), Crashed);
        assert_eq!(Verdict::of_program([Wrong, TimeoutCpu, NotRun]), TimeoutCpu);
        assert_eq!(Verdict::of_program([Passed, NotRun]), NotRun);
    }
}
