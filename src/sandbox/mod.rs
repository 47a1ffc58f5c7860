//! Runs programs that nobody has read. A program never runs outside of this.
//!
//! Reading order: [`LocalSandbox`] takes a [`Job`] to a slot of its `pool`; a `slot` is one resident [`launcher`] with two
//! warm interpreters in name spaces, each a fork server. One forks candidates (`python/zygote.py`), every one the first
//! process of name spaces of its own; the other forks runs of the tests (`python/tester.py`). `assertions` relays between a
//! candidate and the tests: the candidate gets its text and the inputs of its calls, never an expected value, and its
//! answers reach the tests as plain values (`python/codec.py`), so nothing that it does can make an assertion hold.
//! Which `backend` keeps programs apart from this machine is decided by a `self_test`. `programs` runs whole programs on
//! standard input and output, one process a case, and compares here, or has a checker of the task say (`checking`), which
//! runs where tests do. `process` bounds
//! every step of a candidate from outside; what happened becomes a word in `verdicts` and `tally`.
//!
//! Only results of assertions and comparisons decide. Exit codes, exceptions and whatever else comes from the candidate's
//! process count as evidence against it alone.

mod assertions;
mod backend;
mod boxes;
mod build;
mod cache;
mod capture;
mod checking;
mod compiler;
mod diagnostics;
mod groups;
mod interpreter;
mod job;
pub mod launcher;
mod lines;
mod linked;
mod local;
mod nested;
mod outcome;
mod output;
mod pack;
mod pool;
mod probe;
mod process;
mod programs;
mod python;
mod self_test;
mod slot;
mod split;
mod survey;
mod sys;
mod tally;
mod text;
mod toolbox;
mod usage;
mod verdicts;

use std::collections::BTreeMap;

use futures_util::future::BoxFuture;
use thiserror::Error;
use tokio_util::sync::CancellationToken;

pub use backend::{Backend, Backends};
pub use job::Job;
pub use local::LocalSandbox;
pub use self_test::{BackendReport, Check, examine};
pub use survey::{LanguageReport, MachineReport, PreparationReport, ToolReport};

use crate::domain::{Isolation, Judgement, Language, Profile};

/// Our machine failed: never the candidate's fault, never a wrong answer.
#[derive(Debug, Error)]
pub enum SandboxError {
    /// The machine cannot isolate programs.
    #[error("cannot isolate untrusted programs: {reason}")]
    Isolation {
        /// What failed and how to go on.
        reason: String,
    },
    /// A tool that the language needs is absent.
    #[error("{language} needs {tool}, which this machine lacks: {hint}")]
    MissingTool {
        /// The language asked for.
        language: Language,
        /// What is missing.
        tool: String,
        /// How to get it.
        hint: String,
    },
    /// Setting up, talking to or reading from the isolated processes failed.
    #[error("the sandbox failed while {during}: {source}")]
    Io {
        /// What was being done.
        during: &'static str,
        /// The system's error.
        source: std::io::Error,
    },
    /// Something that cannot happen unless the harness is broken.
    #[error("the sandbox harness failed: {0}")]
    Harness(String),
    /// The checker of a task failed: the task is at fault, whatever the candidate printed.
    #[error("the task's checker failed: {reason}")]
    Checker {
        /// The exception, or what it gave instead of an answer.
        reason: String,
    },
    /// The conversation ended while the program ran; it was killed.
    #[error("cancelled")]
    Cancelled,
}

/// Executes programs under isolation.
pub trait Sandbox: Send + Sync {
    /// How programs are isolated here.
    fn isolation(&self) -> &Isolation;

    /// The versions of compilers and interpreters that were found so far, by their names.
    fn tools(&self) -> BTreeMap<String, String> {
        BTreeMap::new()
    }

    /// Runs a program against a suite: one result per test, in the suite's order.
    ///
    /// # Errors
    /// Only for faults of this machine and cancellation; whatever the program does is a [`Judgement`].
    fn judge<'a>(
        &'a self,
        job: &'a Job,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Judgement, SandboxError>>;

    /// Runs a program against a suite once more with tracing on: which lines each test executes, types and values of variables.
    ///
    /// # Errors
    /// As [`Sandbox::judge`]. A program that cannot be profiled (it does not compile) gives an empty profile.
    fn profile<'a>(
        &'a self,
        job: &'a Job,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Profile, SandboxError>>;
}
