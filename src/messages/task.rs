use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Candidate;
use crate::domain::{Task, TestSuite};

/// From the conversation, to the roles that draft, or to an analyst or a tester on the way, who say it again with a plan or
/// with tests of their own. The receiver writes first programs for it.
///
/// Stored and shown by the task's id alone; the conversation puts the task itself back on resume.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskMessage {
    /// The problem as roles see it.
    pub task: Arc<Task>,
    /// The starter program as the first candidate, where the task has one: drafting prompts show it.
    pub starter: Option<Arc<Candidate>>,
    /// How to go about it, where an analyst has said so: drafting and repairing prompts show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
    /// Tests that a tester has written for it. They are guesses: no program is scored by them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generated: Option<Arc<TestSuite>>,
}
