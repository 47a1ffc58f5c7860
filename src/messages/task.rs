use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Candidate;
use crate::domain::Task;

/// From the conversation, to the roles that draft. The receiver writes first programs for it.
///
/// Stored and shown by the task's id alone; the conversation puts the task itself back on resume.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskMessage {
    /// The problem as roles see it.
    pub task: Arc<Task>,
    /// The starter program as the first candidate, where the task has one: drafting prompts show it.
    pub starter: Option<Arc<Candidate>>,
}
