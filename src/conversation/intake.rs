//! The door: opens a conversation, waits for its end, grades it, and hands on its record.

use std::{sync::Arc, time::Duration};

use actix::Actor;
use thiserror::Error;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::{
    Assignment, Company, ConversationEnd, ConversationHead, ConversationRecord, StopReason,
    actor::{Conversation, Left, StopNow},
    grading::{Grade, grade},
    ledger::{Ending, Opening},
};
use crate::{
    budget::Deadline,
    domain::{Example, Language, Task},
    ids::{ActorName, ConversationId, MessageId, keyed, number},
    languages::PYTHON_HASH_SEED,
    messages::{Candidate, Origin, TaskMessage},
    runtime::now_unix_nanos,
};

/// A conversation ended without telling how: a fault of Rolecall itself.
#[derive(Debug, Error)]
#[error("conversation {0} vanished: this is a bug of rolecall")]
pub struct Vanished(pub ConversationId);

/// Holds one conversation from its first turn to its grade. Must run inside an actix system, on its thread.
///
/// `stop` fires on Ctrl-C: the conversation then ends as `cancelled` as soon as its turns have been called off.
///
/// # Errors
/// [`Vanished`] where the conversation's actor died, which is our fault.
pub async fn hold(
    company: Arc<Company>,
    assignment: Assignment,
    stop: CancellationToken,
) -> Result<ConversationRecord, Vanished> {
    let problem = &assignment.problem;
    let examples = company.examples(&assignment);
    let head = Arc::new(head(&company, &assignment, &examples));
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
    company.observer.started(&head);
    let seats = company.seats(&head, problem, examples);
    let cancel = CancellationToken::new();
    let (leave, left) = oneshot::channel();
    // More seconds than a duration holds are as good as no limit.
    let wall = company.plan.budget.wall_secs.and_then(|secs| Duration::try_from_secs_f64(secs).ok());
    let address = Conversation::new(company.clone(), head.clone(), seats, opening, cancel.clone(), leave).start();
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
    let Left { turns, ending } = tokio::select! {
        left = &mut left => left,
        () = stop.cancelled() => { stop_for(StopReason::Cancelled); left.await }
        () = sleep(shared) => { stop_for(StopReason::SharedWall(shared_words)); left.await }
        () = sleep(wall) => { stop_for(StopReason::Wall); left.await }
    }
    .map_err(|_| Vanished(head.id))?;
    let grade = grade(&ending, problem, company.sandbox.as_ref(), &stop).await;
    let end = end(ending, grade);
    company.observer.ended(&head, &end);
    company.journal.close(head.id);
    Ok(ConversationRecord { head: Arc::unwrap_or_clone(head), turns, end })
}

async fn sleep(wall: Option<Duration>) {
    match wall {
        Some(wall) => tokio::time::sleep(wall).await,
        None => std::future::pending().await,
    }
}

fn head(company: &Company, assignment: &Assignment, examples: &[Arc<Example>]) -> ConversationHead {
    let Assignment { run, arm, problem, sample, seed } = assignment;
    let plan = &company.plan;
    ConversationHead {
        id: ConversationId::derive(*run, arm, &problem.task.id, *sample),
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
