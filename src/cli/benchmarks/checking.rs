//! What is judged of a data set, and what became of it.

use std::sync::Arc;

use serde::Serialize;

use crate::{
    benchmarks::known_fault,
    domain::{Judgement, Problem, Program, Verdict},
};

/// Which program of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Which {
    /// Should pass.
    Reference,
    /// Should not.
    Starter,
}

impl Which {
    /// As messages call it.
    pub fn words(self) -> &'static str {
        match self {
            Self::Reference => "the reference",
            Self::Starter => "the starter",
        }
    }
}

/// A program of a task.
pub struct Work {
    pub problem: Arc<Problem>,
    pub program: Arc<Program>,
    pub which: Which,
}

impl Work {
    /// The programs of a task.
    pub fn of(problem: &Arc<Problem>) -> impl Iterator<Item = Self> {
        let reference = problem.reference.clone().map(|program| (Which::Reference, program));
        let starter = problem.task.starter.clone().map(|program| (Which::Starter, program));
        let programs = reference.into_iter().chain(starter);
        programs.map(|(which, program)| Self { problem: problem.clone(), program, which })
    }
}

/// `event = "program_checked"`.
#[derive(Serialize)]
pub struct Finding {
    event: &'static str,
    pub task: String,
    language: &'static str,
    pub program: Which,
    pub verdict: &'static str,
    /// Whether a reference passes, or a starter does not.
    pub as_expected: bool,
    /// Why it may well not be so.
    pub known_fault: Option<String>,
    /// The first test that did not pass.
    test: Option<String>,
    message: Option<String>,
}

impl Finding {
    /// Of the judgements of a program.
    pub fn of(work: &Work, judgements: &[(&'static str, Judgement)]) -> Self {
        let tests = || judgements.iter().flat_map(|(_, judgement)| &judgement.tests);
        let verdict = Verdict::of_program(tests().map(|test| test.verdict));
        let failing = tests().find(|test| test.verdict != Verdict::Passed);
        let as_expected = (verdict == Verdict::Passed) == (work.which == Which::Reference);
        let known = work.problem.notes.iter().find_map(|note| known_fault(note));
        let message = failing.and_then(|test| test.message.clone());
        let compiler = || judgements.iter().find_map(|(_, judgement)| judgement.compile_output.clone());
        Self {
            event: "program_checked",
            task: work.problem.task.id.0.clone(),
            language: work.problem.task.language.name(),
            program: work.which,
            verdict: verdict.name(),
            as_expected,
            known_fault: known.map(str::to_owned),
            test: failing.map(|test| test.test.clone()),
            message: message.or_else(|| failing.and_then(|_| compiler())),
        }
    }

    /// Whether something is wrong that is not known.
    pub fn is_news(&self) -> bool {
        !self.as_expected && self.known_fault.is_none()
    }

    /// What is wrong, for people; `None` where nothing is.
    pub fn words(&self) -> Option<String> {
        if self.as_expected {
            return None;
        }
        let (task, who) = (&self.task, self.program.words());
        let what = match self.program {
            Which::Reference => format!("{who} fails ({})", self.verdict),
            Which::Starter => format!("{who} passes already"),
        };
        Some(match (&self.known_fault, &self.test) {
            (Some(fault), _) => format!("{task}: {what}, a known fault: {fault}"),
            (None, Some(test)) => {
                let message = self.message.as_deref().map(|message| format!("\n  {message}")).unwrap_or_default();
                format!("{task}: {what}\n  {test}{message}")
            }
            (None, None) => format!("{task}: {what}"),
        })
    }
}
