//! Why a number is refused.

use thiserror::Error;

/// What cannot be computed from what was given.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum StatisticsError {
    /// A number that is NaN or infinite.
    #[error("number {at} of the {what} is {value}, which is not finite")]
    NotFinite {
        /// Which numbers.
        what: &'static str,
        /// Its place among them, from 0.
        at: usize,
        /// The number.
        value: f64,
    },
    /// A number outside of its range, or NaN.
    #[error("the {what} is {value}, but must be {range}")]
    OutOfRange {
        /// Which number.
        what: &'static str,
        /// The number.
        value: f64,
        /// Where it must be, in words.
        range: &'static str,
    },
    /// A part that is larger than its whole.
    #[error("{part} {what} of {whole}")]
    MoreThanAll {
        /// What is counted.
        what: &'static str,
        /// The part.
        part: u64,
        /// The whole.
        whole: u64,
    },
    /// A pass@k with k = 0, or with a k that no choice of the samples can have.
    #[error("pass@{k} needs a k from 1 to the number of samples, {samples}")]
    NoSuchK {
        /// How many would be chosen.
        k: u64,
        /// How many there are.
        samples: u64,
    },
    /// Nothing to compute a number from.
    #[error("there are no {what}")]
    Nothing {
        /// What is missing.
        what: &'static str,
    },
    /// Two arms that were not measured on the same number of tasks.
    #[error("one arm has {arm} tasks, the other {baseline}: they cannot be paired")]
    Unpaired {
        /// Tasks of the one.
        arm: usize,
        /// Tasks of the other.
        baseline: usize,
    },
    /// An interval for independent trials was asked of tasks with several conversations.
    #[error("it has {conversations} conversations, which are not independent trials: use the bootstrap over tasks")]
    Clustered {
        /// How many conversations the task has.
        conversations: usize,
    },
    /// What was refused belongs to one task.
    #[error("task {task}: {source}")]
    Task {
        /// Its place, from 0.
        task: usize,
        /// Why.
        source: Box<StatisticsError>,
    },
}

impl StatisticsError {
    /// The same, said of a task.
    pub(super) fn of_task(self, task: usize) -> Self {
        Self::Task { task, source: Box::new(self) }
    }
}
