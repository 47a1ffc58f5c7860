//! What is written down about a turn. A finished attempt is a row of the journal; a retired turn is what history,
//! traces and results are made of.

use serde::{Deserialize, Serialize};

use super::{AnsweredFrom, CallInDoubt, Fault};
use crate::{
    domain::{Spend, Usage, Verdict},
    ids::{ActorName, Generation, MessageId, Seq},
    llm::{Attempt, ChatMessage, Choice, Draw, Parameters, Purpose},
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
    /// Program slots reserved before this turn; for turns that write none, earlier starts of the same actor.
    pub draw: u32,
}

/// A budget that a turn ran into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BudgetKind {
    /// Calls of a model.
    ModelCalls,
    /// Tokens.
    Tokens,
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
    pub refused: Option<BudgetKind>,
}

impl TurnLog {
    /// What its calls spent. Programs are counted by the ledger.
    pub fn spend(&self) -> Spend {
        let mut spend = Spend::default();
        for call in &self.calls {
            spend += Spend {
                programs: 0,
                model_calls: 1,
                model_attempts: u32::try_from(call.attempts.len()).unwrap_or(u32::MAX),
                input_tokens: call.usage.input_tokens.unwrap_or(0),
                output_tokens: call.usage.output_tokens.unwrap_or(0),
                calls_without_usage: u32::from(call.usage.input_tokens.is_none() || call.usage.output_tokens.is_none()),
            };
        }
        spend
    }

    /// Tokens that its calls count against a budget: what the server said, else the most that each attempt can have cost.
    /// A server that is silent about usage, or a call that failed, never makes tokens free, and neither does a kill.
    pub fn charged_tokens(&self) -> u64 {
        let in_doubt: u64 = self.in_doubt.iter().map(|call| call.at_most_tokens).sum();
        in_doubt + self.calls.iter().map(CallRecord::charged_tokens).sum::<u64>()
    }
}

impl CallRecord {
    fn charged_tokens(&self) -> u64 {
        if let (Some(input), Some(output)) = (self.usage.input_tokens, self.usage.output_tokens) {
            return input + output;
        }
        let most = worst_case_tokens(&self.messages, self.choices_wanted, self.parameters.max_output_tokens);
        most * self.attempts.len().max(1) as u64
    }
}

/// The most tokens that one attempt at a call can cost: bytes of the messages, 16 a message, and the longest reply of each
/// choice.
pub(super) fn worst_case_tokens(messages: &[ChatMessage], choices: u32, longest: Option<u32>) -> u64 {
    let bytes: usize = messages.iter().map(|message| message.content.len() + 16).sum();
    bytes as u64 + u64::from(choices.max(1)) * u64::from(longest.unwrap_or(0))
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

    /// Tokens that it counts against a budget, over all attempts: [`TurnLog::charged_tokens`].
    pub fn charged_tokens(&self) -> u64 {
        self.attempts.iter().map(|attempt| attempt.log.charged_tokens()).sum()
    }
}
