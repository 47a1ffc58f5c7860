use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use thiserror::Error;

use crate::{ids::ConversationId, runtime::Finished};

/// Writing down a finished turn failed.
#[derive(Debug, Error)]
#[error("the journal cannot be written: {0}")]
pub struct JournalError(pub String);

/// Where finished turns are written down before they take effect: one row an attempt, appended, unique by conversation,
/// turn and attempt. What is stored is never asked for again: a resumed conversation is fed its rows and goes on.
pub trait Journal: Send + Sync {
    /// Appends a finished attempt. A row that is there already stays as it is.
    ///
    /// # Errors
    /// Where it could not be stored; the conversation then ends, since nothing more may be bought.
    fn append(&self, conversation: ConversationId, finished: &Finished) -> Result<(), JournalError>;

    /// The rows of a conversation, in the order in which they were appended.
    ///
    /// # Errors
    /// Where they cannot be read.
    fn load(&self, conversation: ConversationId) -> Result<Vec<Finished>, JournalError>;

    /// The conversation is over and its record has been handed on.
    fn close(&self, conversation: ConversationId);
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
    fn append(&self, conversation: ConversationId, finished: &Finished) -> Result<(), JournalError> {
        let mut rows = self.rows();
        let rows = rows.entry(conversation).or_default();
        if !rows.iter().rev().any(|row| row.seq == finished.seq && row.attempt == finished.attempt) {
            rows.push(finished.clone());
        }
        Ok(())
    }

    fn load(&self, conversation: ConversationId) -> Result<Vec<Finished>, JournalError> {
        Ok(self.rows().get(&conversation).cloned().unwrap_or_default())
    }

    fn close(&self, conversation: ConversationId) {
        self.rows().remove(&conversation);
    }
}
