use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::ledger::Ending;
use crate::{
    domain::{Problem, TestSuite, Verdict},
    messages::{ExecutionReport, TestsRun},
    sandbox::{Job, Sandbox, SandboxError},
};

/// What grading came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grade {
    pub(super) solved: bool,
    pub(super) hidden_verdict: Option<Verdict>,
    pub(super) infrastructure_error: bool,
    /// The tests that decide were called off.
    pub(super) cancelled: bool,
}

/// Runs the tests that decide, once, after the outcome is fixed. What they say goes into the grade and nowhere else.
pub(super) async fn grade(
    ending: &Ending,
    problem: &Problem,
    sandbox: &dyn Sandbox,
    cancel: &CancellationToken,
) -> Grade {
    let nothing = Grade { solved: false, hidden_verdict: None, infrastructure_error: false, cancelled: false };
    let Some(best) = &ending.best else { return nothing };
    let (suite, is_hidden) = match &problem.hidden {
        Some(hidden) => (hidden.reveal().clone(), true),
        // Tests that a role wrote never score: those of the task are run where the report is of others.
        None if best.tests != TestsRun::Feedback => (problem.task.feedback.clone(), false),
        None => return Grade { solved: best.judgement.passed(), ..nothing },
    };
    match judge_best(best, suite, problem, sandbox, cancel).await {
        Ok(Some(verdict)) => {
            Grade { solved: verdict == Verdict::Passed, hidden_verdict: is_hidden.then_some(verdict), ..nothing }
        }
        Ok(None) => nothing,
        Err(SandboxError::Cancelled) => Grade { cancelled: true, ..nothing },
        Err(error) => {
            tracing::error!(task = %problem.task.id, %error, "the tests that decide could not be run");
            Grade { infrastructure_error: true, ..nothing }
        }
    }
}

/// A failure of our machine is retried once.
async fn judge_best(
    best: &Arc<ExecutionReport>,
    suite: Arc<TestSuite>,
    problem: &Problem,
    sandbox: &dyn Sandbox,
    cancel: &CancellationToken,
) -> Result<Option<Verdict>, SandboxError> {
    let Some(program) = &best.candidate.program else { return Ok(None) };
    let job = Job::of(&problem.task, program.clone(), suite);
    let first = sandbox.judge(&job, cancel).await;
    let judgement = match first {
        Err(error) if !matches!(error, SandboxError::Cancelled) => sandbox.judge(&job, cancel).await?,
        other => other?,
    };
    Ok(Some(judgement.verdict))
}
