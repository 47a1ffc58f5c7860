use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::Verdict;

/// The lines that one test executed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestCoverage {
    /// The test's verdict in the profiled execution.
    pub verdict: Verdict,
    /// 1-based lines of the program that it executed at least once.
    pub lines: BTreeSet<u32>,
}

/// What a program did while its tests ran: asked for before a repair, never a source of scores.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    /// One entry per test, in the suite's order.
    pub tests: Vec<TestCoverage>,
    /// Types seen of local variables, by variable name. A container is written with the types of its elements: `list[int]`.
    pub types: BTreeMap<String, BTreeSet<String>>,
    /// Values seen at a line, by variable name: the last few, as text, for prompts.
    pub values: BTreeMap<u32, BTreeMap<String, Vec<String>>>,
}
