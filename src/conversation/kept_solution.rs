//! The best program of each conversation of a run that is kept, read without holding anything again.

use std::sync::Arc;

use super::{
    ConversationHead, JournalError,
    kept::Finish,
    recording::{failed, read},
};
use crate::{
    domain::Program,
    ids::MessageId,
    messages::{Candidate, Message},
    runtime::Finished,
    store::{Store, TurnRow},
};

/// A conversation that has ended, and the program that it came to.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptSolution {
    /// What was known before.
    pub head: ConversationHead,
    /// Whether the program passes the tests that decide.
    pub solved: bool,
    /// The best program; `None` where no program came of it.
    pub program: Option<Arc<Program>>,
}

/// Those of `run` that have ended, in the order of tasks and samples.
///
/// # Errors
/// What is stored does not read.
pub fn solutions(store: &Store, run: &str) -> Result<Vec<KeptSolution>, JournalError> {
    let mut solutions = Vec::new();
    for (conversation, _) in store.conversations(run).map_err(failed)? {
        let Some(row) = store.conversation(conversation).map_err(failed)? else { continue };
        let Some(finish) = row.finish else { continue };
        let head: ConversationHead = read(row.head)?;
        let Finish { end, .. } = read(finish)?;
        let mut program = None;
        if let Some(best) = end.best {
            program = head.starter.as_deref().and_then(|starter| named(starter, &best));
            // Only the last attempt of a turn counts; it is the later row.
            for TurnRow { content, .. } in store.turns(conversation).map_err(failed)? {
                let finished: Finished = read(content)?;
                let messages = finished.result.unwrap_or_default();
                program = messages.iter().find_map(|message| of(message, &best)).or(program);
            }
        }
        solutions.push(KeptSolution { head, solved: end.solved, program });
    }
    solutions.sort_by(|a, b| (&a.head.task, a.head.sample).cmp(&(&b.head.task, b.head.sample)));
    Ok(solutions)
}

fn of(message: &Message, best: &MessageId) -> Option<Arc<Program>> {
    match message {
        Message::Candidate(candidate) => named(candidate, best),
        _ => None,
    }
}

fn named(candidate: &Candidate, best: &MessageId) -> Option<Arc<Program>> {
    candidate.program.clone().filter(|_| candidate.id == *best)
}
