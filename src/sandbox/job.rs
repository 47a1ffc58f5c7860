use std::sync::Arc;

use crate::domain::{Limits, Program, Task, TestSuite};

/// One execution: a program, the tests to run it against, and its limits.
#[derive(Clone, Debug)]
pub struct Job {
    /// What to run.
    pub program: Arc<Program>,
    /// What to run it against.
    pub tests: Arc<TestSuite>,
    /// The function under test; absent for stdin/stdout programs.
    pub entry_point: Option<String>,
    /// Support classes that candidate and tests both load.
    pub support: Option<String>,
    /// Code of the task's prompt that stands above completions (imports, helper functions). The tests may call its
    /// helpers; the candidate's text is complete and is run without it.
    pub preamble: Option<String>,
    /// Limits of this execution.
    pub limits: Limits,
}

impl Job {
    /// A job that runs `program` against `tests` of `task`.
    pub fn of(task: &Task, program: Arc<Program>, tests: Arc<TestSuite>) -> Self {
        Self {
            program,
            tests,
            entry_point: task.entry_point.clone(),
            support: task.support.clone(),
            preamble: task.preamble.clone(),
            limits: task.limits.clone(),
        }
    }
}
