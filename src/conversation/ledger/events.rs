use std::sync::Arc;

use crate::{
    conversation::{Outcome, Placebo, StopReason},
    domain::{Patches, Program, Spend},
    ids::{Generation, MessageId, Seq},
    messages::{Candidate, ExecutionReport, Message, TaskMessage},
    runtime::{Allowance, Finished, History, TurnRecord},
};

/// What a conversation begins with.
#[derive(Clone, Debug)]
pub struct Opening {
    /// The task, for the roles that draft.
    pub task: Arc<TaskMessage>,
    /// The starter, for the executor.
    pub starter: Option<Arc<Candidate>>,
    /// What the ledger's own random choices are keyed by.
    pub seed: u64,
    /// A right program, for edges with `intervene = "oracle"`. No role sees it elsewhere.
    pub reference: Option<Arc<Program>>,
    /// Diagnoses of other tasks, for edges with `intervene = "shuffle"`.
    pub placebos: Arc<[Placebo]>,
}

/// What happens to a ledger.
#[expect(clippy::large_enum_variant, reason = "an event is taken apart at once")]
#[derive(Clone, Debug)]
pub enum Event {
    /// The conversation begins.
    Begin(Opening),
    /// An attempt of a turn is over (or was found in the journal).
    Settled(Finished),
    /// It is stopped from outside.
    Stop(StopReason),
}

/// A turn to be taken.
#[derive(Clone)]
pub struct Delivery {
    /// Its place in the logical order.
    pub seq: Seq,
    /// 0 for the first attempt, 1 for the second.
    pub attempt: u8,
    /// The actor that takes it, by index.
    pub to: usize,
    /// Its round.
    pub generation: Generation,
    /// What it receives: messages of one kind.
    pub inbox: Vec<Message>,
    /// The messages by the turns that said them; empty for the task and the starter.
    pub causes: Vec<MessageId>,
    /// What it may spend.
    pub allowance: Allowance,
    /// What it may know.
    pub history: History,
    /// Sources of a gathering actor that stayed silent, by index.
    pub missing: Vec<usize>,
}

/// What the host of a ledger must do, in this order.
pub enum Command {
    /// Have this turn taken.
    Start(Box<Delivery>),
    /// This turn has taken effect: write it down.
    Retired(Arc<TurnRecord>),
    /// The conversation is over.
    End(Box<Ending>),
}

/// How a conversation ended, before grading.
#[derive(Clone, Debug, PartialEq)]
pub struct Ending {
    /// Why.
    pub outcome: Outcome,
    /// Who and why, in words.
    pub detail: Option<String>,
    /// The report of the best candidate: highest visible score, earliest on ties, the starter included.
    pub best: Option<Arc<ExecutionReport>>,
    /// Whether the starter passed the feedback tests.
    pub starter_passed: bool,
    /// Number of the first program that passed the feedback tests.
    pub programs_to_solve: Option<u32>,
    /// The programs of roles by what the tests said.
    pub patches: Patches,
    /// What was spent.
    pub spend: Spend,
    /// Whether the sandbox failed.
    pub infrastructure_error: bool,
    /// Whether a provider refused for good.
    pub refused: bool,
    /// Whether nothing from outside decided the outcome.
    pub deterministic: bool,
}
