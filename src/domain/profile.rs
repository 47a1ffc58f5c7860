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

impl Profile {
    /// How suspicious each executed line is, from 0 to 1, by Ochiai's measure (Abreu, Zoeteweij, van Gemund: "On the
    /// accuracy of spectrum-based fault localization", 2007): failing tests that execute the line, over the geometric mean
    /// of all failing tests and all tests that execute it. Empty where no failing test executed a line.
    ///
    /// Tests that were not run, or that failed through our fault, say nothing.
    pub fn suspiciousness(&self) -> BTreeMap<u32, f64> {
        let mut passed: BTreeMap<u32, u32> = BTreeMap::new();
        let mut failed: BTreeMap<u32, u32> = BTreeMap::new();
        let mut failing = 0_u32;
        for test in &self.tests {
            let counts = match test.verdict {
                Verdict::NotRun | Verdict::Infrastructure => continue,
                Verdict::Passed => &mut passed,
                _ if test.lines.is_empty() => continue,
                _ => {
                    failing += 1;
                    &mut failed
                }
            };
            for line in &test.lines {
                *counts.entry(*line).or_default() += 1;
            }
        }
        if failing == 0 {
            return BTreeMap::new();
        }
        let ochiai = |line: u32| {
            let by_failing = f64::from(failed.get(&line).copied().unwrap_or_default());
            let by_all = by_failing + f64::from(passed.get(&line).copied().unwrap_or_default());
            if by_failing == 0.0 { 0.0 } else { by_failing / (f64::from(failing) * by_all).sqrt() }
        };
        passed.keys().chain(failed.keys()).map(|line| (*line, ochiai(*line))).collect()
    }
}
