use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Candidate;
use crate::{domain::Judgement, ids::MessageId};

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
}
