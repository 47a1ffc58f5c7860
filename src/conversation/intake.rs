//! The door: opens a conversation, waits for its end, grades it, and hands on its record.

use std::{sync::Arc, time::Duration};

use actix::Actor;
use thiserror::Error;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::{
    Assignment, Begun, Company, ConversationEnd, ConversationHead, ConversationRecord, Ended, JournalError, Outcome,
    StopReason,
    actor::{Conversation, Left, StopNow},
    grading::{Grade, grade},
    journal::{busy, charge},
    ledger::{Ending, Opening, recall},
};
use crate::{
    budget::Deadline,
    domain::{Example, Language, Task},
    ids::{ActorName, ConversationId, MessageId, keyed, number},
    languages::PYTHON_HASH_SEED,
    messages::{Candidate, Origin, TaskMessage},
    runtime::now_unix_nanos,
};

/// Why a conversation could not be held.
#[derive(Debug, Error)]
pub enum HoldError {
    /// It ended without telling how: a fault of Rolecall itself.
    #[error("conversation {0} vanished: this is a bug of rolecall")]
    Vanished(ConversationId),
    /// It cannot be written down, or what was written down of it does not read.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// Holds one conversation from its first turn to its grade, or from where the journal has it; one that was held before is
/// only told again. Must run inside an actix system, on its thread.
///
/// `stop` fires on Ctrl-C: the conversation then ends as `cancelled` as soon as its turns have been called off.
///
/// # Errors
/// [`HoldError`]
pub async fn hold(
    company: Arc<Company>,
    assignment: Assignment,
    stop: CancellationToken,
) -> Result<ConversationRecord, HoldError> {
    let problem = &assignment.problem;
    let examples = company.examples(&assignment);
    let Begun { head, rows, in_doubt, ended } = company.journal.begin(&head(&company, &assignment, &examples)).await?;
    let head = Arc::new(head);
    if !assignment.is_booked {
        // Paid for in an earlier life: it counts for what is shared with others, and is not paid for again.
        company.budgets.of_task(&head.task.0).book(charge(&rows, &in_doubt));
    }
    let opening = Opening {
        task: Arc::new(TaskMessage {
            task: company.task(problem),
            starter: head.starter.clone(),
            plan: None,
            generated: None,
        }),
        starter: head.starter.clone(),
        seed: number(&keyed(head.seed, head.sample, None, &[&head.dataset, &head.task.0])),
        reference: problem.reference.clone(),
        placebos: company.placebos.clone(),
    };
    if let Some(Ended { end, turns }) = ended {
        let recalled = || recall(company.plan.clone(), opening, rows);
        let turns = turns.or_else(recalled).ok_or_else(|| {
            HoldError::Journal(JournalError(format!(
                "what is stored of conversation {} does not lead to its end",
                head.id
            )))
        })?;
        return Ok(ConversationRecord { head: Arc::unwrap_or_clone(head), turns, end });
    }
    company.observer.started(&head);
    let seats = company.seats(&head, problem, examples);
    let cancel = CancellationToken::new();
    let (leave, left) = oneshot::channel();
    // More seconds than a duration holds are as good as no limit.
    let wall = company.plan.budget.wall_secs.and_then(|secs| Duration::try_from_secs_f64(secs).ok());
    let wall = wall.map(|wall| wall.saturating_sub(busy(&rows)));
    let known = (rows, in_doubt);
    let address =
        Conversation::new(company.clone(), head.clone(), seats, opening, known, cancel.clone(), leave).start();
    // The clocks of what it shares run since the first conversation was let in. Where the time is up just now, it is 0.
    let deadline = match company.budgets.of_task(&head.task.0).begin(now_unix_nanos()) {
        Ok(deadline) => deadline,
        Err(shortage) => Some(Deadline { left: Duration::ZERO, shortage }).filter(Deadline::is_of_time),
    };
    let shared = deadline.as_ref().map(|deadline| deadline.left);
    let shared_words = deadline.map(|deadline| deadline.shortage.words).unwrap_or_default();
    // Deadline and interrupt live outside of the actor's context, whose timers wait behind its mail.
    let stop_for = |reason| {
        // The reason goes first: a turn that is called off must not be heard before it.
        address.do_send(StopNow(reason));
        cancel.cancel();
    };
    let mut left = left;
    let Left { turns, mut ending } = tokio::select! {
        left = &mut left => left,
        () = stop.cancelled() => { stop_for(StopReason::Cancelled); left.await }
        () = sleep(shared) => { stop_for(StopReason::SharedWall(shared_words)); left.await }
        () = sleep(wall) => { stop_for(StopReason::Wall); left.await }
    }
    .map_err(|_| HoldError::Vanished(head.id))?;
    let grade = grade(&ending, problem, company.sandbox.as_ref(), &stop).await;
    if grade.cancelled {
        (ending.outcome, ending.detail) = (Outcome::Cancelled, Some("interrupted while it was graded".to_owned()));
        ending.deterministic = false;
    }
    let end = end(ending, grade);
    company.observer.ended(&head, &end).await;
    let record = ConversationRecord { head: Arc::unwrap_or_clone(head), turns, end };
    company.journal.finish(&record).await?;
    Ok(record)
}

async fn sleep(wall: Option<Duration>) {
    match wall {
        Some(wall) => tokio::time::sleep(wall).await,
        None => std::future::pending().await,
    }
}

fn head(company: &Company, assignment: &Assignment, examples: &[Arc<Example>]) -> ConversationHead {
    let Assignment { run, arm, problem, sample, seed, .. } = assignment;
    let plan = &company.plan;
    ConversationHead {
        id: assignment.id(),
        run: *run,
        topology: plan.name.clone(),
        topology_hash: plan.hash.clone(),
        code_version: env!("CARGO_PKG_VERSION").to_owned(),
        prompts: company.prompt_hashes(),
        examples: examples.iter().map(|example| example.task.clone()).collect(),
        interventions: plan.interventions(),
        arm: arm.clone(),
        task: problem.task.id.clone(),
        dataset: problem.task.dataset.clone(),
        sample: *sample,
        seed: *seed,
        actors: plan.nodes.iter().map(|node| (node.name.clone(), node.spec.name.to_owned())).collect(),
        starter: starter(&problem.task),
        feedback: problem.feedback,
        feedback_tests: u32::try_from(problem.task.feedback.len()).unwrap_or(u32::MAX),
        scored_on: problem.scored_on(),
        isolation: company.sandbox.isolation().clone(),
        compare: problem.task.visible.output_rule().map(|rule| rule.name().to_owned()),
        limits: problem.task.limits.clone(),
        python_hash_seed: (problem.task.language == Language::Python).then_some(PYTHON_HASH_SEED),
        notes: problem.notes.clone(),
        started_ns: now_unix_nanos(),
    }
}

fn starter(task: &Task) -> Option<Arc<Candidate>> {
    task.starter.as_ref().map(|program| {
        Arc::new(Candidate {
            id: MessageId::STARTER,
            program: Some(program.clone()),
            origin: Origin::Starter,
            parent: None,
            author: ActorName("task".to_owned()),
            note: None,
        })
    })
}

fn end(ending: Ending, grade: Grade) -> ConversationEnd {
    ConversationEnd {
        outcome: ending.outcome,
        outcome_detail: ending.detail,
        solved: grade.solved,
        starter_passed: ending.starter_passed,
        best: ending.best.as_ref().map(|report| report.candidate.id),
        best_score: ending.best.as_ref().map(|report| report.judgement.score()),
        hidden_verdict: grade.hidden_verdict,
        programs_to_solve: ending.programs_to_solve,
        patches: ending.patches,
        spend: ending.spend,
        infrastructure_error: ending.infrastructure_error || grade.infrastructure_error,
        refused: ending.refused,
        deterministic: ending.deterministic,
        ended_ns: now_unix_nanos(),
    }
}
