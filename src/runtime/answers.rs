//! What models have answered is kept before a role sees it, so that nothing is paid for twice.

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::CallRecord;
use crate::{
    budget::Charge,
    domain::Money,
    ids::CallPlace,
    llm::{ChatModel, ChatReply, ChatRequest, Purpose},
};

/// A call that was about to be made when its process was killed: whether it was answered, and paid for, nobody knows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallInDoubt {
    /// Its number among the calls of the attempt.
    pub ordinal: u32,
    /// What it was for.
    pub purpose: Purpose,
    /// `gen_ai.provider.name`.
    pub provider: String,
    /// The model asked for.
    pub model: String,
    /// Host of the server.
    pub server_address: Option<String>,
    /// Port of the server.
    pub server_port: Option<u16>,
    /// The most tokens that it can have taken, with all its requests; it counts as many against a budget.
    pub at_most_tokens: u64,
    /// The most that it can have cost; `None` where no price is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most_cost: Option<Money>,
    /// The most GPU time that it can have taken, in ms; `None` where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most_gpu_ms: Option<u64>,
    /// Unix time in ns.
    pub started_ns: u64,
}

impl CallInDoubt {
    /// A call that is about to be made, and the most that it may take.
    pub(super) fn of(record: &CallRecord, ordinal: u32, most: Charge) -> Self {
        let known = |amount: u64| (amount != u64::MAX).then_some(amount);
        Self {
            ordinal,
            purpose: record.purpose,
            provider: record.provider.clone(),
            model: record.model.clone(),
            server_address: record.server_address.clone(),
            server_port: record.server_port,
            at_most_tokens: most.tokens,
            at_most_cost: known(most.cost.0).map(Money),
            at_most_gpu_ms: known(most.gpu_ms),
            started_ns: record.started_ns,
        }
    }

    /// What it counts against budgets. It is no call more, since it was made once more and is counted then.
    pub fn charge(&self) -> Charge {
        Charge {
            model_calls: 0,
            tokens: self.at_most_tokens,
            cost: self.at_most_cost.unwrap_or_default(),
            gpu_ms: self.at_most_gpu_ms.unwrap_or_default(),
        }
    }
}

/// Where an answer was found that was not asked for just now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnsweredFrom {
    /// This conversation had it before its process was killed.
    Resumed,
    /// Another conversation asked the same.
    Cache,
    /// The model says what it said in a recorded run.
    Replay,
}

impl AnsweredFrom {
    /// The word used in traces.
    pub fn word(self) -> &'static str {
        match self {
            Self::Resumed => "resumed",
            Self::Cache => "cache",
            Self::Replay => "replay",
        }
    }
}

/// What cannot be kept must not be bought.
#[derive(Clone, Debug, Error)]
#[error("{0}")]
pub struct NotKept(pub String);

/// Keeps what models answered.
pub trait Answers: Send + Sync {
    /// The answer to this call, where it is known: as many of its choices as are, from the first on.
    ///
    /// # Errors
    /// [`NotKept`] where what is kept cannot be read.
    fn recall(&self, place: CallPlace, keys: &[AnswerKey]) -> Result<Option<(ChatReply, AnsweredFrom)>, NotKept>;

    /// Writes down that this call is about to be made.
    ///
    /// # Errors
    /// [`NotKept`]; then it must not be made.
    fn ask(&self, place: CallPlace, call: &CallInDoubt) -> BoxFuture<'_, Result<(), NotKept>>;

    /// Keeps what it gave, where it gave something.
    ///
    /// # Errors
    /// [`NotKept`]
    fn answer<'a>(
        &'a self,
        place: CallPlace,
        keys: &'a [AnswerKey],
        reply: Option<&'a ChatReply>,
    ) -> BoxFuture<'a, Result<(), NotKept>>;
}

/// What one choice of a call was asked with: equal keys ask the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AnswerKey(pub [u8; 32]);

impl AnswerKey {
    /// The key of each choice of a request, BLAKE3: the model as it is configured, messages, parameters, purpose and seed, and which
    /// sample it is: that of the task, the choice's number in the conversation, the number of the call in its turn, and the
    /// attempt at the turn. How many choices are asked for at once is no part of it.
    pub fn of(model: &dyn ChatModel, request: &ChatRequest, place: CallPlace) -> Vec<Self> {
        let common = serde_json::json!([
            model.identity(),
            request.messages,
            request.parameters,
            request.purpose,
            request.seed,
            request.draw.sample,
            place.ordinal,
            place.attempt,
        ]);
        let hash = blake3::hash(common.to_string().as_bytes());
        let numbers = (0..request.choices).map(|choice| request.draw.first.saturating_add(choice));
        numbers.map(|number| Self(*blake3::keyed_hash(hash.as_bytes(), &number.to_le_bytes()).as_bytes())).collect()
    }
}
