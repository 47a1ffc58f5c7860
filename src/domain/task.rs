use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize};

use super::{Language, Limits, Program, TestSuite};
use crate::ids::TaskId;

/// What the roles may know of a problem. Hidden tests and the reference are not here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// Unique within `dataset`.
    pub id: TaskId,
    /// The data set it comes from (`quixbugs`, `examples`), or `file` for a task of the user's own.
    pub dataset: String,
    /// The language that the program must be written in.
    pub language: Language,
    /// What the program must do, in words, for prompts.
    pub statement: String,
    /// Name of the function under test; absent for stdin/stdout programs.
    pub entry_point: Option<String>,
    /// The first line of the function under test, for prompts (`def merge(intervals):`).
    pub signature: Option<String>,
    /// Code that stands above the program when it is a completion that lacks it: imports and helper functions of the prompt.
    pub preamble: Option<String>,
    /// Support classes of the tests (see the sandbox protocol): text that candidate and tests both load.
    pub support: Option<String>,
    /// Tests that prompts show.
    pub visible: Arc<TestSuite>,
    /// Tests that the executor runs and reports on: `visible`, and what else the run lets feed back ([`FeedbackSet`]).
    pub feedback: Arc<TestSuite>,
    /// A program in another language that is to be translated.
    pub source: Option<Arc<Program>>,
    /// A program to start from, evaluated first and not counted as a program of a role.
    pub starter: Option<Arc<Program>>,
    /// 1-based lines of the starter that are known to be faulty; empty where unknown.
    pub faulty_lines: Vec<u32>,
    /// Limits for one execution.
    pub limits: Limits,
}

/// Which tests decide whether the best program is `solved`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScoredOn {
    /// Tests that no role has seen.
    Hidden,
    /// The tests that were fed back, since there is no other set or `--feedback all` was asked for.
    Feedback,
}

/// Which of a task's sets of tests feed back: what the executor runs and reports on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FeedbackSet {
    /// The visible tests; what is withheld decides in the end.
    #[default]
    Visible,
    /// The visible and the validation tests; the hidden ones decide in the end.
    Validation,
    /// All of them, so that nothing is left to decide but these same tests.
    All,
}

impl FeedbackSet {
    /// Every choice, in the order in which help texts list them.
    pub const ALL: &'static [Self] = &[Self::Visible, Self::Validation, Self::All];

    /// The word used on the command line and in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Visible => "visible",
            Self::Validation => "validation",
            Self::All => "all",
        }
    }
}

impl fmt::Display for FeedbackSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Tests that no role may see: the hidden ones, and validation tests that do not feed back. Not `Debug` and not
/// `Serialize`, so that they cannot slip into a prompt, a record or a trace.
#[derive(Clone)]
pub struct HiddenTests(Arc<TestSuite>);

impl HiddenTests {
    /// Closes `suite` away.
    pub fn new(suite: TestSuite) -> Self {
        Self(Arc::new(suite))
    }

    /// For grading, after the outcome is fixed, and for `judge`.
    pub fn reveal(&self) -> &Arc<TestSuite> {
        &self.0
    }
}

/// A task with what is kept from the roles.
#[derive(Clone)]
pub struct Problem {
    /// What the roles see.
    pub task: Arc<Task>,
    /// Which of its tests feed back.
    pub feedback: FeedbackSet,
    /// Tests for choosing programs; absent where there are none or where they feed back.
    pub validation: Option<HiddenTests>,
    /// What decides in the end; absent where the feedback tests are all there is.
    pub hidden: Option<HiddenTests>,
    /// A program known to be right, for checking data sets; never shown to a role.
    pub reference: Option<Arc<Program>>,
    /// Why the loader departs from what was asked (for example `no visible assertion: run with feedback = all`).
    pub notes: Vec<String>,
}

impl Problem {
    /// Which tests decide.
    pub fn scored_on(&self) -> ScoredOn {
        if self.hidden.is_some() { ScoredOn::Hidden } else { ScoredOn::Feedback }
    }

    /// BLAKE3 of all that it is, hidden tests and reference included: tells whether a task is still the same, and nothing
    /// else of it.
    pub fn fingerprint(&self) -> String {
        let closed = |tests: &Option<HiddenTests>| tests.as_ref().map(|tests| tests.reveal().clone());
        let all = serde_json::json!([
            self.task,
            self.feedback,
            closed(&self.validation),
            closed(&self.hidden),
            self.reference,
        ]);
        blake3::hash(all.to_string().as_bytes()).to_hex().to_string()
    }
}
