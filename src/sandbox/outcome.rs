use super::process::Streams;
use super::slot::Ended;
use crate::domain::{Limits, TestResult};

/// What an execution leaves behind, in whatever way it ran.
pub(super) struct Outcome {
    /// One result per test.
    pub(super) results: Vec<TestResult>,
    /// What the program printed.
    pub(super) streams: Streams,
    /// CPU time of its processes.
    pub(super) cpu_ms: u64,
    /// Largest resident set among them.
    pub(super) peak_memory_bytes: u64,
    /// A test that was decided came near its limit.
    pub(super) near_limit: bool,
    /// What the compiler or parser said.
    pub(super) compile_output: Option<String>,
    /// The slot's processes are not known to be at rest.
    pub(super) spoiled: bool,
}

impl Outcome {
    /// Of an execution that has not begun.
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            results: Vec::new(),
            streams: Streams::new(limits),
            cpu_ms: 0,
            peak_memory_bytes: 0,
            near_limit: false,
            compile_output: None,
            spoiled: false,
        }
    }

    /// Adds what one process used.
    pub(super) fn account(&mut self, ended: &Ended) {
        self.cpu_ms += ended.cpu_ms;
        self.peak_memory_bytes = self.peak_memory_bytes.max(ended.peak_memory_bytes);
    }
}
