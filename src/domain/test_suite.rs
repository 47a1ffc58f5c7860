use serde::{Deserialize, Serialize};

use super::OutputRule;

/// One stdin/stdout test.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct IoCase {
    /// What the program reads.
    pub stdin: String,
    /// What it must print; with a checker, a right output to show, or nothing.
    pub stdout: String,
}

/// One assertion statement of a test text; each is one test with one verdict.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Assertion {
    /// 1-based line of the statement in the test text.
    pub line: u32,
    /// The statement as written, for prompts and reports.
    pub text: String,
}

/// The tests of one kind (visible, validation or hidden) of a task, in a fixed order: test `i` of a report is test `i` here.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum TestSuite {
    /// Test code that calls the entry point and asserts. It runs apart from the candidate.
    Assertions {
        /// The whole test text, including the call of its own `check` function where it has one.
        code: String,
        /// The assertion statements of `code` in source order.
        assertions: Vec<Assertion>,
    },
    /// Whole-program tests over stdin and stdout.
    Io {
        /// The cases in order.
        cases: Vec<IoCase>,
        /// How outputs are compared.
        rule: OutputRule,
    },
}

impl TestSuite {
    /// How many tests there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Assertions { assertions, .. } => assertions.len(),
            Self::Io { cases, .. } => cases.len(),
        }
    }

    /// Each test as a report names it: the assertion, or the input.
    pub fn names(&self) -> Vec<String> {
        match self {
            Self::Assertions { assertions, .. } => assertions.iter().map(|assertion| assertion.text.clone()).collect(),
            Self::Io { cases, .. } => cases.iter().map(|case| case.stdin.clone()).collect(),
        }
    }

    /// How outputs are compared, where outputs are.
    pub fn output_rule(&self) -> Option<&OutputRule> {
        match self {
            Self::Assertions { .. } => None,
            Self::Io { rule, .. } => Some(rule),
        }
    }

    /// Whether there is no test at all, so that nothing can be judged by this suite.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
