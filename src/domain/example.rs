use std::sync::Arc;

use super::Program;
use crate::ids::TaskId;

/// A solved task, as a prompt may show it beside the task to be solved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// Its data set.
    pub dataset: String,
    /// Its task, within that data set.
    pub task: TaskId,
    /// What the program must do, in words.
    pub statement: String,
    /// A program that does it: the task's reference.
    pub program: Arc<Program>,
}
