//! What is written down about a turn. A finished attempt is a row of the journal; a retired turn is what history,
//! traces and results are made of.

use serde::{Deserialize, Serialize};

use super::{AnsweredFrom, CallInDoubt, Fault};
use crate::{
    budget::{BudgetKind, Charge},
    domain::{Money, Spend, Usage, Verdict},
    ids::{ActorName, Generation, MessageId, Seq},
    llm::{Attempt, ChatMessage, Choice, Draw, Parameters, Purpose, Terms},
    messages::Message,
    prompts::Prompt,
};

/// What a turn may spend, fixed when it starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allowance {
    /// Programs that it may write.
    pub programs: u32,
    /// Calls of a model that it may make; `None` where calls are not limited.
    pub calls: Option<u32>,
    /// Tokens that its calls may use in the worst case; `None` where tokens are not limited.
    pub tokens: Option<u64>,
    /// Money that its calls may cost in the worst case; `None` where that is not limited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Money>,
    /// GPU time that its calls may take in the worst case, in ms; `None` where that is not limited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu_ms: Option<u64>,
    /// Program slots reserved before this turn; for turns that write none, earlier starts of the same actor.
    pub draw: u32,
}

impl Allowance {
    /// What is left of it for another attempt, after one that made these calls.
    #[must_use]
    pub fn after(self, spent: &Charge) -> Self {
        let calls = u32::try_from(spent.model_calls).unwrap_or(u32::MAX);
        Self {
            calls: self.calls.map(|most| most.saturating_sub(calls)),
            tokens: self.tokens.map(|most| most.saturating_sub(spent.tokens)),
            cost: self.cost.map(|most| Money(most.0.saturating_sub(spent.cost.0))),
            gpu_ms: self.gpu_ms.map(|most| most.saturating_sub(spent.gpu_ms)),
            ..self
        }
    }

    /// The first limit that calls which take this much would go over.
    pub fn refuses(&self, most: &Charge) -> Option<BudgetKind> {
        let limits = [self.calls.map(u64::from), self.tokens, self.cost.map(|cost| cost.0), self.gpu_ms];
        let mut kinds = BudgetKind::OF_CALLS.into_iter().zip(limits);
        kinds.find(|(kind, limit)| limit.is_some_and(|limit| most.of(*kind) > limit)).map(|(kind, _)| kind)
    }
}

/// A budget that a turn ran into.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// What there was too little of.
    pub kind: BudgetKind,
    /// Whose budget, and its limit, where other conversations share it; `None` for budgets of the conversation itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<String>,
}

impl Refusal {
    /// By a budget of the conversation itself.
    pub fn own(kind: BudgetKind) -> Self {
        Self { kind, shared: None }
    }
}

/// A value that a role notes about its turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum NoteValue {
    /// A word or sentence.
    Text(String),
    /// A count.
    Count(i64),
    /// A number.
    Number(f64),
    /// Yes or no.
    Flag(bool),
    /// Several words.
    Texts(Vec<String>),
}

/// An attribute of the turn's span: `rolecall.{key}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Note {
    /// Name without the prefix.
    pub key: String,
    /// Value.
    pub value: NoteValue,
}

/// The prompt file that a text was made from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptUsed {
    /// Its name (`debugger/repair`) or path.
    pub reference: String,
    /// BLAKE3 of the file.
    pub hash: String,
}

impl PromptUsed {
    /// Of this file.
    pub fn of(prompt: &Prompt) -> Self {
        Self { reference: prompt.name().to_owned(), hash: prompt.hash().0.clone() }
    }
}

/// One call of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallRecord {
    /// What it was for.
    pub purpose: Purpose,
    /// `gen_ai.provider.name`.
    pub provider: String,
    /// The model asked for.
    pub model: String,
    /// The model that answered, as the server said.
    pub served_model: Option<String>,
    /// The server's id of the reply.
    pub response_id: Option<String>,
    /// Host of the server.
    pub server_address: Option<String>,
    /// Port of the server.
    pub server_port: Option<u16>,
    /// How it was sampled.
    pub parameters: Parameters,
    /// Choices asked for.
    pub choices_wanted: u32,
    /// Seed sent.
    pub seed: u64,
    /// Which samples.
    pub draw: Draw,
    /// The prompt.
    pub messages: Vec<ChatMessage>,
    /// What was left out of it so that it fits into the context, in that order.
    #[serde(default)]
    pub shortened: Vec<String>,
    /// What it was rendered from; `None` for a model that reads no prompts.
    #[serde(default)]
    pub prompt: Option<PromptUsed>,
    /// The reply.
    pub choices: Vec<Choice>,
    /// Tokens, as far as known.
    pub usage: Usage,
    /// What its model's file says of prices and limits.
    #[serde(default)]
    pub terms: Terms,
    /// Every request sent for it.
    pub attempts: Vec<Attempt>,
    /// Where the reply was found, where it was not asked for just now; `attempts` tells then how it was come by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered_from: Option<AnsweredFrom>,
    /// Why it failed, where it did: `error.type` and message.
    pub error: Option<(String, String)>,
    /// Unix time in ns.
    pub started_ns: u64,
    /// Unix time in ns.
    pub ended_ns: u64,
}

/// One use of the sandbox.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExecutionRecord {
    /// `run_tests` or `profile`.
    pub what: String,
    /// The candidate's word; `None` for a profile.
    pub verdict: Option<Verdict>,
    /// CPU time of the candidate in ms.
    pub cpu_ms: u64,
    /// Why our machine failed, where it did.
    pub error: Option<String>,
    /// Unix time in ns.
    pub started_ns: u64,
    /// Unix time in ns.
    pub ended_ns: u64,
}

/// One request to a server that is no model. It counts against no budget.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PostRecord {
    /// What was asked for: `reward`.
    pub what: String,
    /// Host of the server.
    pub server_address: Option<String>,
    /// Port of the server.
    pub server_port: Option<u16>,
    /// Every request sent for it.
    pub attempts: Vec<Attempt>,
    /// Why it failed, where it did: `error.type` and message.
    pub error: Option<(String, String)>,
    /// Unix time in ns.
    pub started_ns: u64,
    /// Unix time in ns.
    pub ended_ns: u64,
}

/// What happened inside one attempt of a turn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TurnLog {
    /// Model calls in order.
    pub calls: Vec<CallRecord>,
    /// Calls of which nothing more was heard when the process was killed. The turn was taken once more since.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub in_doubt: Vec<CallInDoubt>,
    /// Uses of the sandbox in order.
    pub executions: Vec<ExecutionRecord>,
    /// Requests to servers that are no models, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub posts: Vec<PostRecord>,
    /// What the role noted.
    pub notes: Vec<Note>,
    /// The budget that refused it a call.
    pub refused: Option<Refusal>,
}

impl TurnLog {
    /// What its calls spent. Programs are counted by the ledger.
    pub fn spend(&self) -> Spend {
        let mut spend = Spend::default();
        self.calls.iter().for_each(|call| spend += call.spend());
        spend
    }

    /// What its calls count against budgets ([`CallRecord::charge`]), and the most that those in doubt can have taken.
    pub fn charge(&self) -> Charge {
        let in_doubt = self.in_doubt.iter().fold(Charge::default(), |sum, call| sum + call.charge());
        self.calls.iter().fold(in_doubt, |sum, call| sum + call.charge())
    }
}

/// A finished attempt of a turn: one row of the journal, stored before the turn takes effect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finished {
    /// Which turn.
    pub seq: Seq,
    /// 0 for the first attempt, 1 for the second.
    pub attempt: u8,
    /// What it said, or why it said nothing.
    pub result: Result<Vec<Message>, Fault>,
    /// What happened inside.
    pub log: TurnLog,
    /// Unix time in ns.
    pub started_ns: u64,
    /// Unix time in ns.
    pub ended_ns: u64,
}

/// A turn that has taken effect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TurnRecord {
    /// Its place in the logical order.
    pub seq: Seq,
    /// Who took it.
    pub actor: ActorName,
    /// The role of that actor.
    pub role: String,
    /// Its round.
    pub generation: Generation,
    /// The messages that it received, named by the turns that said them; empty for the task and the starter.
    pub causes: Vec<MessageId>,
    /// What it received.
    pub inbox: Vec<Message>,
    /// What it was allowed to spend.
    pub allowance: Allowance,
    /// For a gathering turn: the sources that stayed silent in this generation.
    pub missing: Vec<ActorName>,
    /// Its attempts; the last one counts.
    pub attempts: Vec<Finished>,
    /// Numbers given to the candidates among its messages that were handed to an executor.
    pub programs: Vec<(MessageId, u32)>,
}

impl TurnRecord {
    /// What the turn said; nothing where it failed.
    pub fn messages(&self) -> &[Message] {
        match self.attempts.last().map(|attempt| &attempt.result) {
            Some(Ok(messages)) => messages,
            _ => &[],
        }
    }

    /// Why it failed, where it did.
    pub fn fault(&self) -> Option<&Fault> {
        self.attempts.last().and_then(|attempt| attempt.result.as_ref().err())
    }

    /// What its calls spent, over all attempts.
    pub fn spend(&self) -> Spend {
        let mut spend = Spend::default();
        for attempt in &self.attempts {
            spend += attempt.log.spend();
        }
        spend
    }

    /// What it counts against budgets, over all attempts: [`TurnLog::charge`].
    pub fn charge(&self) -> Charge {
        self.attempts.iter().fold(Charge::default(), |sum, attempt| sum + attempt.log.charge())
    }
}
