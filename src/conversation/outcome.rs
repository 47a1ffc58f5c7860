use std::fmt;

use serde::{Deserialize, Serialize};

use crate::budget::BudgetKind;

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
    /// The next call might have gone over the budget of money.
    BudgetCost,
    /// The time by the wall was up.
    BudgetWall,
    /// The next call might have gone over the budget of GPU time.
    BudgetGpu,
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
    pub const ALL: [Self; 13] = [
        Self::TestsPassed,
        Self::BudgetPrograms,
        Self::BudgetModelCalls,
        Self::BudgetTokens,
        Self::BudgetCost,
        Self::BudgetWall,
        Self::BudgetGpu,
        Self::BudgetGenerations,
        Self::NoImprovement,
        Self::NothingLeft,
        Self::StarvedJoin,
        Self::Failed,
        Self::Cancelled,
    ];

    /// That a budget of this kind has not enough left.
    pub fn of_budget(kind: BudgetKind) -> Self {
        match kind {
            BudgetKind::ModelCalls => Self::BudgetModelCalls,
            BudgetKind::Tokens => Self::BudgetTokens,
            BudgetKind::Cost => Self::BudgetCost,
            BudgetKind::GpuSecs => Self::BudgetGpu,
            BudgetKind::WallSecs => Self::BudgetWall,
        }
    }

    /// The word used in records and events.
    pub fn name(self) -> &'static str {
        match self {
            Self::TestsPassed => "tests_passed",
            Self::BudgetPrograms => "budget_programs",
            Self::BudgetModelCalls => "budget_model_calls",
            Self::BudgetTokens => "budget_tokens",
            Self::BudgetCost => "budget_cost",
            Self::BudgetWall => "budget_wall",
            Self::BudgetGpu => "budget_gpu",
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StopReason {
    /// Its time is up.
    Wall,
    /// The time that it shares with others is up: whose, and its limit.
    SharedWall(String),
    /// Ctrl-C.
    Cancelled,
}
