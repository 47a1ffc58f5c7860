use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::ExecutionReport;
use crate::ids::MessageId;

/// Where a reward comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RewardSource {
    /// The order of verdicts: accepted, wrong by share of tests passed, crash, compile error.
    Execution,
    /// How many programs of the round pass the same tests, and how many tests these are.
    Agreement,
    /// A model that compares two programs.
    Judge,
    /// A reward model behind an HTTP endpoint.
    Endpoint,
}

impl RewardSource {
    /// The word used in files, records and traces.
    pub fn name(self) -> &'static str {
        match self {
            Self::Execution => "execution",
            Self::Agreement => "agreement",
            Self::Judge => "judge",
            Self::Endpoint => "endpoint",
        }
    }
}

/// From a critic, to every role that takes an execution report. Says how good a judged program is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Assessment {
    /// Its own name in the conversation.
    pub id: MessageId,
    /// The program and what its tests said.
    pub report: Arc<ExecutionReport>,
    /// How good it is: higher is better, on a scale of the source's own. `None` where the source gave no answer that could
    /// be read: unscored, which is never zero.
    pub reward: Option<f64>,
    /// What gave the reward.
    pub source: RewardSource,
    /// What the source said, where it is more than a number.
    pub comment: Option<String>,
}
