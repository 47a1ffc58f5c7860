use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures_util::future::BoxFuture;
use thiserror::Error;

use super::{ConversationEnd, ConversationHead, ConversationRecord};
use crate::{
    budget::Charge,
    ids::{ConversationId, Seq},
    runtime::{Answers, CallInDoubt, Finished, TurnRecord},
};

/// What is to be written down cannot be, or what was cannot be read.
#[derive(Clone, Debug, Error)]
#[error("{0}")]
pub struct JournalError(pub String);

/// Calls of which nothing was heard any more, by turn and attempt.
pub type CallsInDoubt = Vec<((Seq, u8), CallInDoubt)>;

/// What the journal knows of a conversation that begins, or goes on.
#[derive(Clone, Debug)]
pub struct Begun {
    /// What was written down of it first.
    pub head: ConversationHead,
    /// Its finished attempts, in the order in which they were appended.
    pub rows: Vec<Finished>,
    /// Calls of which nothing was heard any more, by turn and attempt.
    pub in_doubt: CallsInDoubt,
    /// How it ended, where it has.
    pub ended: Option<Ended>,
}

/// How a conversation ended that was held before.
#[derive(Clone, Debug)]
pub struct Ended {
    /// How.
    pub end: ConversationEnd,
    /// Its turns, where they do not follow from the finished attempts: it was stopped from outside.
    pub turns: Option<Vec<Arc<TurnRecord>>>,
}

/// Where finished turns are written down before they take effect: one row an attempt, appended, unique by conversation,
/// turn and attempt. What is stored is never asked for again: a resumed conversation is fed its rows and goes on.
pub trait Journal: Send + Sync {
    /// A conversation begins, or goes on where the journal knows it.
    ///
    /// # Errors
    /// Where it cannot be written down or read; then it must not begin.
    fn begin<'a>(&'a self, head: &'a ConversationHead) -> BoxFuture<'a, Result<Begun, JournalError>>;

    /// What a conversation has taken from shared budgets before; `None` for one that has not begun.
    ///
    /// # Errors
    /// Where that cannot be read.
    fn spent(&self, conversation: ConversationId) -> Result<Option<Charge>, JournalError>;

    /// Appends a finished attempt. A row that is there already stays as it is.
    ///
    /// # Errors
    /// Where it could not be stored; the conversation is then broken off, since nothing more may be bought.
    fn append(
        &self,
        conversation: ConversationId,
        finished: Arc<Finished>,
    ) -> BoxFuture<'static, Result<(), JournalError>>;

    /// The conversation is over. One that was cancelled is left open: it may go on another time.
    ///
    /// # Errors
    /// Where it cannot be written down.
    fn finish<'a>(&'a self, record: &'a ConversationRecord) -> BoxFuture<'a, Result<(), JournalError>>;

    /// Where the answers of models are kept, if they are.
    fn answers(self: Arc<Self>) -> Option<Arc<dyn Answers>>;
}

/// What finished attempts and calls in doubt have taken.
pub(super) fn charge(rows: &[Finished], in_doubt: &[((Seq, u8), CallInDoubt)]) -> Charge {
    let calls = in_doubt.iter().map(|(_, call)| call.charge());
    rows.iter().map(|row| row.log.charge()).chain(calls).fold(Charge::default(), |sum, one| sum + one)
}

/// How long turns were under way: the time that a conversation took before its process was killed, without that after it.
pub(super) fn busy(rows: &[Finished]) -> Duration {
    let mut periods: Vec<_> = rows.iter().map(|row| (row.started_ns, row.ended_ns)).collect();
    periods.sort_unstable();
    let (mut busy_ns, mut until) = (0, 0);
    for (start, end) in periods {
        // What turns beside each other took counts once.
        busy_ns += end.max(until).saturating_sub(start.max(until));
        until = until.max(end);
    }
    Duration::from_nanos(busy_ns)
}

/// A journal in memory: lost with the process.
#[derive(Debug, Default)]
pub struct MemoryJournal(Mutex<BTreeMap<ConversationId, Vec<Finished>>>);

impl MemoryJournal {
    fn rows(&self) -> MutexGuard<'_, BTreeMap<ConversationId, Vec<Finished>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Journal for MemoryJournal {
    fn begin<'a>(&'a self, head: &'a ConversationHead) -> BoxFuture<'a, Result<Begun, JournalError>> {
        let rows = self.rows().get(&head.id).cloned().unwrap_or_default();
        let begun = Begun { head: head.clone(), rows, in_doubt: Vec::new(), ended: None };
        Box::pin(async { Ok(begun) })
    }

    fn spent(&self, conversation: ConversationId) -> Result<Option<Charge>, JournalError> {
        Ok(self.rows().get(&conversation).map(|rows| charge(rows, &[])))
    }

    fn append(
        &self,
        conversation: ConversationId,
        finished: Arc<Finished>,
    ) -> BoxFuture<'static, Result<(), JournalError>> {
        let mut rows = self.rows();
        let rows = rows.entry(conversation).or_default();
        if !rows.iter().rev().any(|row| row.seq == finished.seq && row.attempt == finished.attempt) {
            rows.push(Finished::clone(&finished));
        }
        Box::pin(async { Ok(()) })
    }

    fn finish<'a>(&'a self, record: &'a ConversationRecord) -> BoxFuture<'a, Result<(), JournalError>> {
        self.rows().remove(&record.head.id);
        Box::pin(async { Ok(()) })
    }

    fn answers(self: Arc<Self>) -> Option<Arc<dyn Answers>> {
        None
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::busy;
    use crate::runtime::{Finished, TurnLog};

    #[test]
    fn time_counts_once_and_pauses_do_not() {
        let row = |(started_ns, ended_ns)| {
            let log = TurnLog::default();
            Finished { seq: 0, attempt: 0, result: Ok(Vec::new()), log, started_ns, ended_ns }
        };
        for (periods, expected) in [
            (&[][..], 0),
            (&[(10, 20)], 10),
            (&[(10, 20), (12, 18), (15, 25)], 15),
            (&[(100, 110), (10, 20), (20, 30)], 30),
            (&[(10, 10), (9, 5)], 0),
        ] {
            let rows: Vec<_> = periods.iter().copied().map(row).collect();
            assert_eq!(busy(&rows), Duration::from_nanos(expected), "{periods:?}");
        }
    }
}
