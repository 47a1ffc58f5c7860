use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Candidate;
use crate::{domain::Judgement, ids::MessageId};

/// Which tests an executor ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestsRun {
    /// Those that the task gives for feedback.
    #[default]
    Feedback,
    /// Those that a tester wrote.
    Generated,
    /// Both, those of the task first.
    Both,
}

/// From an executor, to whoever ranks, diagnoses or repairs. Says of one candidate what each visible test said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExecutionReport {
    /// Its own name in the conversation.
    pub id: MessageId,
    /// What was executed.
    pub candidate: Arc<Candidate>,
    /// What came of it.
    pub judgement: Arc<Judgement>,
    /// With `search.duplicates = "skip"`: the candidate of the same text that was executed, and whose results these are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duplicate_of: Option<MessageId>,
    /// Which tests these are the results of.
    #[serde(default)]
    pub tests: TestsRun,
}
