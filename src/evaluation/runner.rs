use std::{
    cell::Cell,
    collections::BTreeSet,
    rc::Rc,
    sync::Arc,
    time::{Duration, Instant},
};

use thiserror::Error;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::Shard;
use crate::{
    conversation::{Assignment, Company, ConversationRecord, HoldError, hold},
    domain::Problem,
    ids::RunId,
    runtime::now_unix_nanos,
};

/// What a run is asked to do.
#[derive(Clone)]
pub struct Selection {
    /// The run.
    pub run: RunId,
    /// The arm; the arrangement's name elsewhere than in experiments.
    pub arm: String,
    /// The problems, in order.
    pub problems: Vec<Arc<Problem>>,
    /// Conversations a problem.
    pub samples: u32,
    /// The part of it that is held here; without it, all.
    pub shard: Option<Shard>,
    /// Seed.
    pub seed: u64,
    /// Conversations at once.
    pub concurrency: usize,
    /// None is begun that may not end before this, going by the longest so far.
    pub stop_before: Option<Instant>,
}

/// Why a run could not go on.
#[derive(Debug, Error)]
pub enum RunError {
    /// A conversation could not be held.
    #[error(transparent)]
    Hold(#[from] HoldError),
    /// A bug of Rolecall: what holds a conversation panicked.
    #[error("a conversation was lost: {0}")]
    Lost(#[from] tokio::task::JoinError),
}

impl Selection {
    /// Every conversation that is held here, problem by problem and sample by sample.
    pub fn assignments(&self) -> impl Iterator<Item = Assignment> + '_ {
        let all = self.problems.iter().flat_map(|problem| (0..self.samples).map(move |sample| (problem, sample)));
        let here = all.enumerate().filter(|(place, _)| self.shard.is_none_or(|shard| shard.has(*place)));
        here.map(|(_, (problem, sample))| Assignment {
            run: self.run,
            arm: self.arm.clone(),
            problem: problem.clone(),
            sample,
            seed: self.seed,
            is_booked: false,
        })
    }

    /// Ids that stand for two problems: their conversations could not be told apart.
    pub fn doubled_ids(&self) -> Vec<String> {
        let mut seen = BTreeSet::new();
        let ids = self.problems.iter().map(|problem| problem.task.id.0.clone());
        ids.filter(|id| !seen.insert(id.clone())).collect()
    }
}

/// Holds every conversation of a selection and hands each record to `done` as it ends. Conversations wait at the door:
/// at most `concurrency` are open. After `stop` fires none is begun any more; open ones end as cancelled. Those of which the
/// journal knows the end are only told. None is begun whose shared budgets are spent: `company.budgets` lists these.
///
/// Must run inside an actix system, on its thread.
///
/// # Errors
/// The first conversation that ended without telling how, or panicked; the others are held all the same.
pub async fn run_all(
    company: Arc<Company>,
    selection: &Selection,
    stop: CancellationToken,
    done: impl Fn(ConversationRecord) + 'static,
) -> Result<(), RunError> {
    let door = Arc::new(Semaphore::new(selection.concurrency.max(1)));
    let done = Rc::new(done);
    let longest = Rc::new(Cell::new(Duration::ZERO));
    let mut open = Vec::new();
    let mut assignments: Vec<Assignment> = selection.assignments().collect();
    // What was spent before counts before anything is spent now, and those who spent it are not turned away. Without a limit
    // nobody need ask what it was before its own conversation is opened.
    for assignment in assignments.iter_mut().filter(|_| company.budgets.is_limited()) {
        if let Some(spent) = company.journal.spent(assignment.id()).map_err(HoldError::Journal)? {
            company.budgets.of_task(&assignment.problem.task.id.0).book(spent);
            assignment.is_booked = true;
        }
    }
    for assignment in assignments {
        let permit = tokio::select! {
            permit = door.clone().acquire_owned() => permit,
            () = stop.cancelled() => break,
        };
        let too_late = selection.stop_before.is_some_and(|time| Instant::now() + longest.get() >= time);
        if stop.is_cancelled() || too_late {
            break;
        }
        // Nothing begins on a budget that is spent; the company knows who was turned away.
        if !assignment.is_booked
            && !company.budgets.admits(&assignment.problem.task.id.0, assignment.sample, now_unix_nanos())
        {
            continue;
        }
        let (company, stop, done, longest) = (company.clone(), stop.clone(), done.clone(), longest.clone());
        open.push(actix::spawn(async move {
            let _permit = permit;
            let begun = Instant::now();
            let record = hold(company, assignment, stop).await?;
            longest.set(longest.get().max(begun.elapsed()));
            done(record);
            Ok::<(), HoldError>(())
        }));
    }
    let mut result = Ok(());
    for conversation in open {
        let held = conversation.await.map_err(RunError::Lost).and_then(|held| held.map_err(RunError::Hold));
        result = result.and(held);
    }
    result
}
