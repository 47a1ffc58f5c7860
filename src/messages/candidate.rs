use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    domain::Program,
    ids::{ActorName, MessageId},
};

/// Where a candidate came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The starter program of the task.
    Starter,
    /// A first draft.
    Draft,
    /// A repair of its parent.
    Repair,
}

/// From a role that writes, to an executor (or a filter on the way). The receiver runs it against the tests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// Its own name in the conversation.
    pub id: MessageId,
    /// The program; `None` where the reply held none even after the second request (`no_code`).
    pub program: Option<Arc<Program>>,
    /// How it came about.
    pub origin: Origin,
    /// The candidate that it repairs.
    pub parent: Option<MessageId>,
    /// Who wrote it (`task` for the starter).
    pub author: ActorName,
    /// What the author says of it, for the trace: the operator of a template, for example.
    pub note: Option<String>,
}
