//! The conversations of a run that is kept, read from stored rows alone: neither arrangement nor tasks are needed.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    ConversationHead, ConversationRecord, JournalError,
    kept::Finish,
    recording::{failed, read},
};
use crate::{
    ids::{ConversationId, Seq},
    runtime::{Finished, TurnRecord},
    store::{Store, TurnRow},
};

/// The records of those conversations of `run` that have ended, in the order of arms, tasks and samples. What its turns
/// received is in none of them but those that ran out of time; all else is.
///
/// # Errors
/// What is stored does not read, at once or as a record is come to.
pub fn kept_records<'s>(
    store: &'s Store,
    run: &str,
) -> Result<impl Iterator<Item = Result<ConversationRecord, JournalError>> + use<'s>, JournalError> {
    let mut ended = Vec::new();
    for (conversation, has_ended) in store.conversations(run).map_err(failed)? {
        if let Some(row) = store.conversation(conversation).map_err(failed)?.filter(|_| has_ended) {
            let head: ConversationHead = read(row.head)?;
            ended.push((head.arm, head.task, head.sample, conversation));
        }
    }
    ended.sort();
    Ok(ended.into_iter().map(|(.., conversation)| record(store, conversation)))
}

fn record(store: &Store, conversation: ConversationId) -> Result<ConversationRecord, JournalError> {
    let gone = || JournalError(format!("conversation {conversation} was removed while it was read"));
    let row = store.conversation(conversation).map_err(failed)?.ok_or_else(gone)?;
    let head: ConversationHead = read(row.head)?;
    let Finish { end, turns, outline } = read(row.finish.ok_or_else(gone)?)?;
    let turns = match (turns, outline) {
        (Some(turns), _) => turns,
        (None, Some(outline)) => filled(store, conversation, outline)?,
        (None, None) => {
            return Err(JournalError(format!(
                "run {} was kept by a version that did not write its turns down\n  hint: hold it again without asking \
                 anybody: the same command with --model replay:{0}",
                head.run
            )));
        }
    };
    Ok(ConversationRecord { head, turns, end })
}

fn filled(
    store: &Store,
    conversation: ConversationId,
    outline: Vec<TurnRecord>,
) -> Result<Vec<Arc<TurnRecord>>, JournalError> {
    let mut attempts = BTreeMap::<Seq, Vec<Finished>>::new();
    for TurnRow { seq, content, .. } in store.turns(conversation).map_err(failed)? {
        attempts.entry(seq).or_default().push(read(content)?);
    }
    let turns = outline.into_iter();
    Ok(turns
        .map(|turn| Arc::new(TurnRecord { attempts: attempts.remove(&turn.seq).unwrap_or_default(), ..turn }))
        .collect())
}
