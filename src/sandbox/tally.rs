use serde::Deserialize;

use super::SandboxError;
use super::text::plain;
use super::verdicts::{Halt, of_words};
use crate::domain::{Assertion, TestResult, Verdict};
use crate::languages::LinkedSaid;

/// What the tests' process says of one assertion. Its words come from the judge and its values are decoded ones.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Report {
    /// The assertion held for the first time.
    Passed { passed: usize },
    /// The assertion does not hold, whatever else it did or will do.
    Failed {
        failed: usize,
        verdict: Verdict,
        message: Option<String>,
        expected: Option<String>,
        actual: Option<String>,
    },
}

/// The results of a suite of assertions while it runs. A failure stays; a pass needs one execution and no failure.
pub(super) struct Tally {
    results: Vec<TestResult>,
    /// Index of the assertion that was seen last at work.
    at: usize,
}

impl Tally {
    /// Every assertion is not run yet.
    pub(super) fn new(assertions: &[Assertion]) -> Self {
        let results = assertions
            .iter()
            .map(|assertion| TestResult {
                verdict: Verdict::NotRun,
                score: 0.0,
                test: assertion.text.clone(),
                expected: None,
                actual: None,
                message: None,
                cpu_ms: None,
            })
            .collect();
        Self { results, at: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.results.len()
    }

    /// Notes which assertion is at work.
    pub(super) fn now_at(&mut self, at: Option<usize>) {
        if let Some(at) = at {
            self.at = at;
        }
    }

    /// Adds CPU time of the candidate to an assertion.
    pub(super) fn spend(&mut self, at: Option<usize>, cpu_ms: u64) {
        if let Some(result) = at.and_then(|at| self.results.get_mut(at)) {
            *result.cpu_ms.get_or_insert(0) += cpu_ms;
        }
    }

    /// Takes a report in.
    pub(super) fn take(&mut self, report: Report) -> Result<(), SandboxError> {
        let nonsense = || SandboxError::Harness("a report of a test that does not exist".to_owned());
        match report {
            Report::Passed { passed } => {
                let result = self.results.get_mut(passed).ok_or_else(nonsense)?;
                if result.verdict == Verdict::NotRun {
                    result.verdict = Verdict::Passed;
                    result.score = 1.0;
                }
            }
            Report::Failed { verdict: Verdict::Passed, .. } => {
                return Err(SandboxError::Harness("a failure called passed".to_owned()));
            }
            Report::Failed { failed, verdict, message, expected, actual } => {
                let result = self.results.get_mut(failed).ok_or_else(nonsense)?;
                if matches!(result.verdict, Verdict::NotRun | Verdict::Passed) {
                    result.verdict = verdict;
                    result.score = 0.0;
                    result.message = message.map(|text| plain(&text));
                    result.expected = expected.map(|text| plain(&text));
                    result.actual = actual.map(|text| plain(&text));
                }
                self.at = failed;
            }
        }
        Ok(())
    }

    fn fail(result: &mut TestResult, halt: &Halt) {
        result.verdict = halt.verdict;
        result.score = 0.0;
        result.message = Some(plain(&halt.message));
    }

    /// Nothing can be run.
    pub(super) fn fail_all(&mut self, halt: &Halt) {
        self.results.iter_mut().for_each(|result| Self::fail(result, halt));
    }

    /// Takes in what a linked program said of an assertion.
    pub(super) fn take_linked(&mut self, said: LinkedSaid) -> Result<(), SandboxError> {
        let failure =
            |failed, verdict, message| Report::Failed { failed, verdict, message, expected: None, actual: None };
        self.take(match said {
            LinkedSaid::Passed(passed) => Report::Passed { passed },
            LinkedSaid::Failed { index, expected, actual } => {
                Report::Failed { failed: index, verdict: Verdict::Wrong, message: None, expected, actual }
            }
            LinkedSaid::Raised { index: Some(index), text } => failure(index, of_words(&text), Some(text)),
            LinkedSaid::Unsupported { index, text } => {
                let message = format!("a value of type {text}, whose comparison proves nothing");
                failure(index, Verdict::UnsupportedReturn, Some(message))
            }
            LinkedSaid::Begin(_) | LinkedSaid::Done(_) | LinkedSaid::Raised { index: None, .. } => return Ok(()),
        })
    }

    /// One assertion failed.
    pub(super) fn fail_at(&mut self, at: usize, halt: &Halt) {
        if let Some(result) = self.results.get_mut(at) {
            Self::fail(result, halt);
        }
    }

    /// Every assertion that has no verdict yet cannot be reached.
    pub(super) fn fail_unreached(&mut self, halt: &Halt) {
        let open = self.results.iter_mut().filter(|result| result.verdict == Verdict::NotRun);
        open.for_each(|result| Self::fail(result, halt));
    }

    /// Whether there are assertions and all hold.
    pub(super) fn all_passed(&self) -> bool {
        !self.results.is_empty() && self.results.iter().all(|result| result.verdict == Verdict::Passed)
    }

    /// The assertion at work, or the next one without a failure, failed; if all have failed, nothing changes.
    pub(super) fn fail_next(&mut self, halt: &Halt) {
        let open = |result: &&mut TestResult| matches!(result.verdict, Verdict::NotRun | Verdict::Passed);
        let at = self.at;
        if let Some(result) = self.results.iter_mut().skip(at).find(open) {
            Self::fail(result, halt);
        } else if let Some(result) = self.results.iter_mut().find(open) {
            Self::fail(result, halt);
        }
    }

    /// Something is wrong with the run as a whole: the last test bears it.
    pub(super) fn fail_last(&mut self, halt: &Halt) {
        if let Some(result) = self.results.last_mut() {
            Self::fail(result, halt);
        }
    }

    /// The results in the suite's order.
    pub(super) fn into_results(self) -> Vec<TestResult> {
        self.results
    }
}
