use std::sync::Arc;

use futures_util::stream::{self, StreamExt, TryStreamExt};
use thiserror::Error;
use tokio_util::sync::CancellationToken;

use crate::{
    conversation::Placebo,
    domain::Problem,
    llm::{Purpose, Subject},
    prompts::{ExecutionFeedback, Prompt, PromptData, PromptError, ShownTests},
    sandbox::{Job, Sandbox, SandboxError},
};

/// Why no placebo could be written.
#[derive(Debug, Error)]
pub enum PlaceboError {
    /// Our machine failed, or the run was interrupted.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// The template cannot be rendered.
    #[error(transparent)]
    Prompt(#[from] PromptError),
}

/// A diagnosis of each task that has a starter: what the static template `prompt` says of the starter and of what the tests
/// that feed back say of it. No model is asked and no program is counted. `at_once` starters are executed at once.
///
/// # Errors
/// Cancellation, a fault of this machine, a template that cannot be rendered.
pub async fn placebos(
    problems: &[Arc<Problem>],
    prompt: &Prompt,
    sandbox: &dyn Sandbox,
    at_once: usize,
    cancel: &CancellationToken,
) -> Result<Vec<Placebo>, PlaceboError> {
    let written = stream::iter(problems).map(|problem| async move {
        let task = &problem.task;
        let Some(starter) = &task.starter else { return Ok(None) };
        let job = Job::of(task, starter.clone(), task.feedback.clone());
        let judgement = Arc::new(sandbox.judge(&job, cancel).await?);
        let subject = Subject { judgement: Some(judgement), ..Subject::of(task.clone(), Some(starter.clone())) };
        let feedback = ExecutionFeedback { tests: ShownTests::First, ..ExecutionFeedback::default() };
        let text = prompt.render_text(&PromptData::new(Purpose::Diagnose, &subject, &feedback))?;
        Ok(Some(Placebo { task: task.id.clone(), text }))
    });
    let all: Result<Vec<Option<Placebo>>, PlaceboError> = written.buffered(at_once.max(1)).try_collect().await;
    Ok(all?.into_iter().flatten().collect())
}
