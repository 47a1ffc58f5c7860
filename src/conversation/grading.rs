use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::ledger::Ending;
use crate::{
    domain::{Problem, Verdict},
    messages::ExecutionReport,
    sandbox::{Job, Sandbox, SandboxError},
};

/// What grading came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grade {
    pub(super) solved: bool,
    pub(super) hidden_verdict: Option<Verdict>,
    pub(super) infrastructure_error: bool,
}

/// Runs the hidden tests, once, after the outcome is fixed. What they say goes into the grade and nowhere else.
pub(super) async fn grade(
    ending: &Ending,
    problem: &Problem,
    sandbox: &dyn Sandbox,
    cancel: &CancellationToken,
) -> Grade {
    let nothing = Grade { solved: false, hidden_verdict: None, infrastructure_error: false };
    let Some(best) = &ending.best else { return nothing };
    let Some(hidden) = &problem.hidden else {
        return Grade { solved: best.judgement.passed(), ..nothing };
    };
    match judge_hidden(best, hidden.reveal().clone(), problem, sandbox, cancel).await {
        Ok(Some(verdict)) => {
            Grade { solved: verdict == Verdict::Passed, hidden_verdict: Some(verdict), infrastructure_error: false }
        }
        Ok(None) => nothing,
        Err(SandboxError::Cancelled) => nothing,
        Err(error) => {
            tracing::error!(task = %problem.task.id, %error, "the hidden tests could not be run");
            Grade { infrastructure_error: true, ..nothing }
        }
    }
}

/// A failure of our machine is retried once.
async fn judge_hidden(
    best: &Arc<ExecutionReport>,
    hidden: Arc<crate::domain::TestSuite>,
    problem: &Problem,
    sandbox: &dyn Sandbox,
    cancel: &CancellationToken,
) -> Result<Option<Verdict>, SandboxError> {
    let Some(program) = &best.candidate.program else { return Ok(None) };
    let job = Job::of(&problem.task, program.clone(), hidden);
    let first = sandbox.judge(&job, cancel).await;
    let judgement = match first {
        Err(error) if !matches!(error, SandboxError::Cancelled) => sandbox.judge(&job, cancel).await?,
        other => other?,
    };
    Ok(Some(judgement.verdict))
}
