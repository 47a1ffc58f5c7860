use std::{collections::BTreeSet, fmt, sync::Arc};

use serde::{Deserialize, Serialize};

use super::Parameters;
use crate::domain::{Example, Judgement, Profile, Program, ProgramHash, Task, Usage};

/// What a call is for. A model says which purposes it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// Write a program for a task.
    Draft,
    /// Say why a program fails.
    Diagnose,
    /// Write a better version of a program.
    Repair,
    /// Say how good a program is.
    Judge,
    /// Say how to go about a task.
    Plan,
    /// Write tests for a task.
    Test,
}

impl Purpose {
    /// All there are.
    pub const ALL: [Self; 6] = [Self::Draft, Self::Diagnose, Self::Repair, Self::Judge, Self::Plan, Self::Test];

    /// The word used in files and traces.
    pub fn name(self) -> &'static str {
        match self {
            Self::Draft => "draft",
            Self::Diagnose => "diagnose",
            Self::Repair => "repair",
            Self::Judge => "judge",
            Self::Plan => "plan",
            Self::Test => "test",
        }
    }
}

impl fmt::Display for Purpose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Who says a chat message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChatRole {
    /// Standing instructions.
    System,
    /// The one who asks.
    User,
    /// The model.
    Assistant,
}

impl ChatRole {
    /// The word of the chat completions protocol.
    pub fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

/// One message of a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatMessage {
    /// Who says it.
    pub role: ChatRole,
    /// What is said.
    pub content: String,
}

/// How many tokens a text is taken for where no tokenizer is at hand: one for every 4 bytes, the last begun one included.
pub fn estimated_tokens(text: &str) -> usize {
    text.len().div_ceil(4)
}

/// Which samples of the conversation a call asks for: choice `i` is number `first + i`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Draw {
    /// Sample of the task, from 0.
    pub sample: u32,
    /// Number of program slots (or, for turns that write none, of starts of this actor) before this turn.
    pub first: u32,
    /// 0 for the first call of a turn, 1 for the second, …
    pub ordinal: u32,
}

/// A program that this conversation tried before, seen from its parent.
#[derive(Clone, Debug)]
pub struct Sibling {
    /// What was tried.
    pub program: Arc<Program>,
    /// What the visible tests said.
    pub judgement: Arc<Judgement>,
}

/// Which program texts the conversation has seen when the turn started.
pub trait PastPrograms: Send + Sync {
    /// Whether this text was a candidate before.
    fn contains(&self, hash: &ProgramHash) -> bool;
}

impl PastPrograms for BTreeSet<ProgramHash> {
    fn contains(&self, hash: &ProgramHash) -> bool {
        BTreeSet::contains(self, hash)
    }
}

/// A program that the program to repair was made from, and what is known of it.
#[derive(Clone, Debug)]
pub struct Ancestor {
    /// The program.
    pub program: Arc<Program>,
    /// What the visible tests said of it.
    pub judgement: Arc<Judgement>,
    /// What it did while its tests ran; only for models that ask for it.
    pub profile: Option<Arc<Profile>>,
    /// Its repairs, in logical order; only for models that ask for profiles.
    pub siblings: Vec<Sibling>,
    /// The diagnosis that led on from it, where there was one.
    pub diagnosis: Option<String>,
}

/// A program that another is compared with.
#[derive(Clone, Debug)]
pub struct Rival {
    /// The program.
    pub program: Arc<Program>,
    /// What the visible tests said of it, where the judge may know.
    pub judgement: Option<Arc<Judgement>>,
}

/// The typed objects that a prompt was rendered from.
#[derive(Clone)]
pub struct Subject {
    /// The problem.
    pub task: Arc<Task>,
    /// The program to diagnose or repair, or the starter where a draft may begin from it.
    pub program: Option<Arc<Program>>,
    /// What the tests said of `program`.
    pub judgement: Option<Arc<Judgement>>,
    /// The diagnosis that the repair is to follow.
    pub diagnosis: Option<String>,
    /// How to go about the task, where an analyst has said so.
    pub plan: Option<String>,
    /// Solved tasks to show beside this one.
    pub examples: Arc<[Arc<Example>]>,
    /// What `program` did while its tests ran; only for models and prompts that ask for it.
    pub profile: Option<Arc<Profile>>,
    /// Programs tried before.
    pub seen: Arc<dyn PastPrograms>,
    /// Earlier repairs of the same `program`, in logical order.
    pub siblings: Vec<Sibling>,
    /// What `program` was made from: its parent first, the first draft or starter last. Only for models that ask for
    /// profiles and prompts that show the past.
    pub ancestors: Vec<Ancestor>,
    /// The program that `program` is compared with, and what the tests said of it where the judge may know.
    pub other: Option<Rival>,
}

impl Subject {
    /// A program for a task, and nothing known of it.
    pub fn of(task: Arc<Task>, program: Option<Arc<Program>>) -> Self {
        Self {
            task,
            program,
            judgement: None,
            diagnosis: None,
            plan: None,
            examples: Arc::default(),
            profile: None,
            seen: Arc::new(BTreeSet::new()),
            siblings: Vec::new(),
            ancestors: Vec::new(),
            other: None,
        }
    }
}

impl fmt::Debug for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subject").field("task", &self.task.id).finish_non_exhaustive()
    }
}

/// One call of a model.
#[derive(Clone, Debug)]
pub struct ChatRequest {
    /// What it is for.
    pub purpose: Purpose,
    /// The rendered prompt.
    pub messages: Vec<ChatMessage>,
    /// How to sample.
    pub parameters: Parameters,
    /// How many choices are wanted, at least 1.
    pub choices: u32,
    /// Seed of this request, derived from the run's seed and the draw.
    pub seed: u64,
    /// Which samples these are.
    pub draw: Draw,
    /// What the prompt was rendered from.
    pub subject: Subject,
    /// W3C trace context of the span that this call will be.
    pub traceparent: Option<String>,
}

/// One reply text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// What the model said; code extraction finds the program in it.
    pub text: String,
    /// Why it ended (`stop`, `length`, …), as the server said.
    pub finish_reason: String,
    /// Reasoning that the server kept apart from the answer.
    pub reasoning: Option<String>,
    /// What the model says of the reply, for the trace: the template operator, for example.
    pub note: Option<String>,
    /// How likely the reply's tokens were, where that was asked for and the server says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logprobs: Option<Logprobs>,
}

impl Choice {
    /// Whether a limit of tokens ended it, whatever word the server has for that.
    pub fn was_cut(&self) -> bool {
        ["length", "max_tokens", "model_length"].iter().any(|word| self.finish_reason.eq_ignore_ascii_case(word))
    }

    /// Whether its tokens ran out while the model was still thinking: there is reasoning and no answer. Only a larger limit
    /// mends that.
    pub fn ran_out_thinking(&self) -> bool {
        self.was_cut() && self.text.trim().is_empty() && self.reasoning.is_some()
    }
}

/// The probabilities of a reply's tokens, summed up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Logprobs {
    /// Tokens with a probability.
    pub tokens: u32,
    /// Sum of their natural logarithms: the logarithm of the reply's own probability.
    pub sum: f64,
}

/// One request on the wire.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// HTTP status, where there was one.
    pub status: Option<u16>,
    /// `timeout`, `connect`, `body`, …, where it failed.
    pub error: Option<String>,
    /// Since the call began.
    pub started_ms: u64,
    /// How long it took.
    pub duration_ms: u64,
    /// What was said otherwise than asked, since the server was found not to understand it: `one choice`, `no temperature`,
    /// the other name of a limit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub adapted: Vec<String>,
    /// Host and port of the server, where several serve the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// How long it waited before, since others were under way or the limits of a minute were reached. No part of the above.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub waited_ms: u64,
    /// How long until the first piece of a streamed reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_token_ms: Option<u64>,
    /// What came of a streamed reply before the request failed, at most 16,384 characters: for the record alone, no role reads it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial: Option<String>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// What came back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChatReply {
    /// The choices; may be fewer than asked for.
    pub choices: Vec<Choice>,
    /// Tokens, as far as the server said.
    pub usage: Usage,
    /// The model that answered, as the server said.
    pub model: String,
    /// The server's id of the reply.
    pub id: Option<String>,
    /// Every request that was sent for it, the successful one last.
    pub attempts: Vec<Attempt>,
}
