use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a conversation ended. Whether it was `solved` is another thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// A candidate passed every test that feeds back.
    TestsPassed,
    /// All programs of the budget were executed.
    BudgetPrograms,
    /// All model calls of the budget were made.
    BudgetModelCalls,
    /// The next call might have gone over the budget of tokens.
    BudgetTokens,
    /// The time by the wall was up.
    BudgetWall,
    /// The last generation, turn or step of a schedule was over.
    BudgetGenerations,
    /// No program was better than the best before it, for as many rounds as `stop.no_improvement` says.
    NoImprovement,
    /// Nobody had anything more to say.
    NothingLeft,
    /// A gathering actor that requires all its sources missed one.
    StarvedJoin,
    /// An actor failed twice at the same turn, or too often; `outcome_detail` says who and why.
    Failed,
    /// The run was interrupted.
    Cancelled,
}

impl Outcome {
    /// All there are.
    pub const ALL: [Self; 11] = [
        Self::TestsPassed,
        Self::BudgetPrograms,
        Self::BudgetModelCalls,
        Self::BudgetTokens,
        Self::BudgetWall,
        Self::BudgetGenerations,
        Self::NoImprovement,
        Self::NothingLeft,
        Self::StarvedJoin,
        Self::Failed,
        Self::Cancelled,
    ];

    /// The word used in records and events.
    pub fn name(self) -> &'static str {
        match self {
            Self::TestsPassed => "tests_passed",
            Self::BudgetPrograms => "budget_programs",
            Self::BudgetModelCalls => "budget_model_calls",
            Self::BudgetTokens => "budget_tokens",
            Self::BudgetWall => "budget_wall",
            Self::BudgetGenerations => "budget_generations",
            Self::NoImprovement => "no_improvement",
            Self::NothingLeft => "nothing_left",
            Self::StarvedJoin => "starved_join",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why a conversation is stopped from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StopReason {
    /// Its time is up.
    Wall,
    /// Ctrl-C.
    Cancelled,
}
