//! The journal on disk, and what models answered: both in the store.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{
    Begun, CallsInDoubt, ConversationEnd, ConversationHead, ConversationRecord, Ended, Journal, JournalError, Outcome,
    journal::charge,
};
use crate::{
    budget::Charge,
    ids::{CallPlace, ConversationId},
    llm::{ChatReply, Choice},
    runtime::{AnswerKey, AnsweredFrom, Answers, CallInDoubt, Finished, NotKept, TurnRecord},
    store::{AnswerRow, AskedRow, Packed, Store, StoreError, TurnRow},
};

/// Which answers of other conversations a run is given, and whether others are given its own. A conversation that goes on
/// after its process was killed has its own answers in every case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CacheMode {
    /// Neither.
    Off,
    /// It is given others', and keeps its own to itself.
    Read,
    /// Both.
    #[default]
    Write,
}

/// Writes a run's conversations into a store.
pub struct StoreJournal {
    store: Arc<Store>,
    /// The id of the run's row, where conversations are named by another: those of a shard are.
    run: Option<String>,
    cache: CacheMode,
    broken: CancellationToken,
}

/// How a conversation ended, as its row has it.
#[derive(Serialize, Deserialize)]
pub(super) struct Finish {
    pub(super) end: ConversationEnd,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) turns: Option<Vec<Arc<TurnRecord>>>,
    /// Its turns without attempts and inboxes, which are in rows of their own: with these the record is read back where the
    /// arrangement is not at hand. `None` where `turns` has them whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) outline: Option<Vec<TurnRecord>>,
}

impl StoreJournal {
    /// Into this store. `broken` fires when something could not be written down: the run must stop then.
    pub fn new(store: Arc<Store>, cache: CacheMode, broken: CancellationToken) -> Self {
        Self { store, run: None, cache, broken }
    }

    /// The same, for conversations that are kept as those of the run with this id, whatever run they are named by.
    #[must_use]
    pub fn of_run(self, run: String) -> Self {
        Self { run: Some(run), ..self }
    }

    /// What the journal says where the store fails; the run is told.
    fn failed<T>(&self, outcome: Result<T, StoreError>) -> Result<T, JournalError> {
        outcome.map_err(|error| {
            self.broken.cancel();
            JournalError(error.to_string())
        })
    }

    fn read<T: DeserializeOwned>(&self, value: Value) -> Result<T, JournalError> {
        let read = serde_json::from_value(value);
        self.failed(read.map_err(|error| StoreError::Row(self.store.file().to_path_buf(), error.to_string())))
    }

    fn rows(&self, conversation: ConversationId) -> Result<Vec<Finished>, JournalError> {
        let rows = self.failed(self.store.turns(conversation))?;
        rows.into_iter().map(|TurnRow { content, .. }| self.read(content)).collect()
    }

    fn in_doubt(&self, conversation: ConversationId) -> Result<CallsInDoubt, JournalError> {
        let asked = self.failed(self.store.unanswered(conversation))?;
        asked
            .into_iter()
            .map(|AskedRow { place, content }| Ok(((place.seq, place.attempt), self.read(content)?)))
            .collect()
    }

    async fn known(&self, head: &ConversationHead) -> Result<Option<Begun>, JournalError> {
        let id = head.id;
        let Some(row) = self.failed(self.store.conversation(id))? else { return Ok(None) };
        let ended = row.finish.map(|finish| self.read(finish)).transpose()?;
        let (head, rows) = (self.read(row.head)?, self.rows(id)?);
        let ended = ended.map(|Finish { end, turns, .. }| Ended { end, turns });
        // One that has ended makes no call any more.
        let in_doubt = if ended.is_none() {
            self.failed(self.store.doubt(id).await)?;
            self.in_doubt(id)?
        } else {
            Vec::new()
        };
        Ok(Some(Begun { head, rows, in_doubt, ended }))
    }
}

impl Journal for StoreJournal {
    fn begin<'a>(&'a self, head: &'a ConversationHead) -> BoxFuture<'a, Result<Begun, JournalError>> {
        Box::pin(async move {
            if let Some(begun) = self.known(head).await? {
                return Ok(begun);
            }
            let row = packed(head)?;
            let run = self.run.clone().unwrap_or_else(|| head.run.to_string());
            self.failed(self.store.begin_conversation(run, head.id, row).await)?;
            Ok(Begun { head: head.clone(), rows: Vec::new(), in_doubt: Vec::new(), ended: None })
        })
    }

    fn spent(&self, conversation: ConversationId) -> Result<Option<Charge>, JournalError> {
        let id = conversation;
        if !self.failed(self.store.has_conversation(id))? {
            return Ok(None);
        }
        Ok(Some(charge(&self.rows(id)?, &self.in_doubt(id)?)))
    }

    fn append(
        &self,
        conversation: ConversationId,
        finished: Arc<Finished>,
    ) -> BoxFuture<'static, Result<(), JournalError>> {
        let place = (finished.seq, finished.attempt);
        let content = Box::new(move || Packed::of(&*finished));
        let stored = self.store.append_turn(conversation, place, content);
        let broken = self.broken.clone();
        Box::pin(async move {
            stored.await.map_err(|error| {
                broken.cancel();
                JournalError(error.to_string())
            })
        })
    }

    fn finish<'a>(&'a self, record: &'a ConversationRecord) -> BoxFuture<'a, Result<(), JournalError>> {
        Box::pin(async move {
            let ConversationRecord { head, turns, end } = record;
            if end.outcome == Outcome::Cancelled {
                return Ok(());
            }
            // Which turns were called off does not follow from those that finished.
            let turns = (end.outcome == Outcome::BudgetWall).then(|| turns.clone());
            let outline = turns.is_none().then(|| record.turns.iter().map(|turn| outline(turn)).collect());
            let finish = packed(&Finish { end: end.clone(), turns, outline })?;
            self.failed(self.store.finish_conversation(head.id, finish).await)
        })
    }

    fn answers(self: Arc<Self>) -> Option<Arc<dyn Answers>> {
        Some(self)
    }
}

impl Answers for StoreJournal {
    fn recall(&self, place: CallPlace, keys: &[AnswerKey]) -> Result<Option<(ChatReply, AnsweredFrom)>, NotKept> {
        let mut found: Option<(ChatReply, AnsweredFrom)> = None;
        for key in keys {
            let others = self.cache != CacheMode::Off;
            let Some((content, own)) =
                self.failed(self.store.answered(place.conversation, &key.0, others)).map_err(not_kept)?
            else {
                break;
            };
            let reply: ChatReply = self.read(content).map_err(not_kept)?;
            match &mut found {
                None => found = Some((reply, if own { AnsweredFrom::Resumed } else { AnsweredFrom::Cache })),
                Some((whole, _)) => whole.choices.extend(reply.choices),
            }
        }
        Ok(found)
    }

    fn ask(&self, place: CallPlace, call: &CallInDoubt) -> BoxFuture<'_, Result<(), NotKept>> {
        let content = packed(call).map_err(not_kept);
        Box::pin(async move { self.failed(self.store.ask(place, content?).await).map_err(not_kept) })
    }

    fn answer<'a>(
        &'a self,
        place: CallPlace,
        keys: &'a [AnswerKey],
        reply: Option<&'a ChatReply>,
    ) -> BoxFuture<'a, Result<(), NotKept>> {
        Box::pin(async move {
            let singles = reply.map(one_by_one).unwrap_or_default();
            let rows = keys.iter().zip(singles).map(|(AnswerKey(key), single)| {
                let shared = self.cache == CacheMode::Write && single.choices.iter().all(is_whole);
                Ok(AnswerRow { key: *key, shared, content: packed(&single).map_err(not_kept)? })
            });
            let rows = rows.collect::<Result<_, NotKept>>()?;
            self.failed(self.store.answer(place, rows).await).map_err(not_kept)
        })
    }
}

/// A turn without what has rows of its own or follows from them.
fn outline(turn: &TurnRecord) -> TurnRecord {
    let TurnRecord { seq, actor, role, generation, causes, allowance, missing, programs, .. } = turn;
    TurnRecord {
        seq: *seq,
        actor: actor.clone(),
        role: role.clone(),
        generation: *generation,
        causes: causes.clone(),
        inbox: Vec::new(),
        allowance: *allowance,
        missing: missing.clone(),
        attempts: Vec::new(),
        programs: programs.clone(),
    }
}

/// A reply for each of the choices. The first has the usage and the requests of them all.
fn one_by_one(reply: &ChatReply) -> Vec<ChatReply> {
    let mut singles: Vec<ChatReply> =
        reply.choices.iter().map(|choice| ChatReply { choices: vec![choice.clone()], ..reply.clone() }).collect();
    for single in singles.iter_mut().skip(1) {
        (single.usage, single.attempts) = Default::default();
    }
    singles
}

/// Whether a choice is a whole answer, and not one that was cut short or taken back.
fn is_whole(choice: &Choice) -> bool {
    !choice.text.trim().is_empty()
        && !choice.was_cut()
        && !matches!(choice.finish_reason.as_str(), "content_filter" | "abort" | "error")
}

fn packed(value: &impl Serialize) -> Result<Packed, JournalError> {
    Packed::of(value).map_err(|error| JournalError(error.to_string()))
}

fn not_kept(error: JournalError) -> NotKept {
    NotKept(error.0)
}
