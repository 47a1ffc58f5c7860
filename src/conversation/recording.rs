//! What models answered in a run that is kept, for asking it again.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{ConversationHead, JournalError};
use crate::{
    llm::{
        ChatReply, ModelError,
        replay::{Question, Recording},
    },
    runtime::{CallRecord, Fault, Finished},
    store::{Store, TurnRow},
};

/// Every answer of every conversation of `run`, as far as it went.
///
/// # Errors
/// What is stored does not read.
pub fn recording(store: &Store, run: &str) -> Result<Recording, JournalError> {
    let mut recording = Recording::default();
    for (conversation, _) in store.conversations(run).map_err(failed)? {
        let Some(row) = store.conversation(conversation).map_err(failed)? else { continue };
        let head: ConversationHead = read(row.head)?;
        for TurnRow { content, .. } in store.turns(conversation).map_err(failed)? {
            let finished: Finished = read(content)?;
            for call in &finished.log.calls {
                recording.add(question(&head, call), answer(&finished, call));
            }
        }
    }
    Ok(recording)
}

fn question(head: &ConversationHead, call: &CallRecord) -> Question {
    Question::new(
        (&head.dataset, &head.task.0),
        (&call.model, call.purpose),
        (&call.messages, &call.parameters),
        (call.choices_wanted, call.seed, call.draw),
    )
}

fn answer(finished: &Finished, call: &CallRecord) -> Result<ChatReply, ModelError> {
    let Some((kind, message)) = &call.error else {
        return Ok(ChatReply {
            choices: call.choices.clone(),
            usage: call.usage,
            model: call.served_model.clone().unwrap_or_default(),
            id: call.response_id.clone(),
            attempts: call.attempts.clone(),
        });
    };
    match &finished.result {
        // The turn ended by it, so that it is there whole.
        Err(Fault::Model(error)) if error.kind() == *kind && error.to_string() == *message => Err(error.clone()),
        _ => {
            Err(ModelError::Recorded { kind: kind.clone(), message: message.clone(), attempts: call.attempts.clone() })
        }
    }
}

pub(super) fn read<T: DeserializeOwned>(value: Value) -> Result<T, JournalError> {
    serde_json::from_value(value).map_err(failed)
}

pub(super) fn failed(error: impl std::fmt::Display) -> JournalError {
    JournalError(error.to_string())
}
