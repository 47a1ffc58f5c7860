use std::path::Path;

use super::{
    BenchmarkError, Place,
    assembly::assemble,
    records::{Record, read_records},
};
use crate::{
    domain::{Program, Task},
    ids::TaskId,
};

/// What a samples file says that the model wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SampleText {
    /// What follows the prompt, or a whole function in its stead.
    Completion(String),
    /// A whole program.
    Solution(String),
}

/// One line of a samples file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The task that it answers; several samples may answer one.
    pub task: TaskId,
    /// The text, never trimmed.
    pub text: SampleText,
    /// Where it stands, for complaints about it.
    pub place: Place,
}

impl Sample {
    /// The program that `task`, which it answers, is judged with.
    pub fn program(&self, task: &Task) -> Program {
        match &self.text {
            SampleText::Completion(completion) => Program::new(task.language, assemble(task, completion)),
            SampleText::Solution(solution) => Program::new(task.language, solution.clone()),
        }
    }
}

/// Loads a samples file as the `human-eval` and `EvalPlus` tools write it: JSON Lines of `task_id` and `completion`, or
/// `solution` for a whole program, which wins where both are given. Plain or gzip; other fields are ignored.
///
/// # Errors
/// As a data file: the line and field of what is wrong.
pub fn load_samples(path: &Path) -> Result<Vec<Sample>, BenchmarkError> {
    read_records(path)?.iter().map(sample).collect()
}

fn sample(record: &Record) -> Result<Sample, BenchmarkError> {
    let task = TaskId(record.string("task_id")?.to_owned());
    let text = if record.has("solution") {
        SampleText::Solution(record.string("solution")?.to_owned())
    } else if record.has("completion") {
        SampleText::Completion(record.string("completion")?.to_owned())
    } else {
        return Err(record.mistake("expected field `completion`, or `solution` for a whole program"));
    };
    Ok(Sample { task, text, place: record.place().clone() })
}
