use serde::{Deserialize, Serialize};

use crate::ids::TaskId;

/// A diagnosis of a task, to stand in the place of another task's: the control for what a diagnosis is worth.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Placebo {
    /// The task that it is of.
    pub task: TaskId,
    /// Its words.
    pub text: String,
}
