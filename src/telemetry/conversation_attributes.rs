//! What the spans of the conversation itself say: its root, its rounds.

use super::{attributes as name, content, span::Draft, values::Attributes};
use crate::{
    conversation::{ConversationEnd, ConversationHead, Outcome},
    domain::{Money, Patches, ScoredOn},
    ids::ActorName,
    llm::ModelError,
    messages::Message,
    runtime::{Fault, TurnRecord},
};

/// The longest text that explains an outcome or an error, in bytes.
pub const EXPLANATION_BYTES: usize = 512;

/// What is known before the first turn: short, searchable tags.
pub fn write_head(attributes: &mut Attributes, head: &ConversationHead) {
    let scored_on = match head.scored_on {
        ScoredOn::Hidden => "hidden",
        ScoredOn::Feedback => "feedback",
    };
    attributes
        .set(name::CONVERSATION, head.id.trace_id())
        .set(name::RUN, head.run.to_string())
        .set(name::TOPOLOGY_HASH, head.topology_hash.as_str())
        .set(name::ARM, head.arm.as_str())
        .set(name::TASK, head.task.0.as_str())
        .set(name::DATASET, head.dataset.as_str())
        .set(name::SAMPLE, head.sample)
        // As text: a seed may use all 64 bits, and a search compares text anyway.
        .set(name::SEED, head.seed.to_string())
        .set(name::FEEDBACK, head.feedback.name())
        .set(name::FEEDBACK_TESTS, head.feedback_tests)
        .set(name::SCORED_ON, scored_on)
        .set(name::ISOLATION, head.isolation.backend.as_str())
        .set(name::COMPARE, head.compare.as_deref())
        .set(name::TEST_CPU_MS, head.limits.test_cpu_ms)
        .set(name::LIMITS_CALIBRATED, head.limits.calibrated.then_some(true))
        .set(name::PYTHON_HASH_SEED, head.python_hash_seed);
    if !head.interventions.is_empty() {
        attributes.set(name::INTERVENTIONS, head.interventions.clone());
    }
}

/// How it ended and what it cost. Tokens stand only where some were known: unknown is never 0.
pub fn write_end(draft: &mut Draft, end: &ConversationEnd, fault: Option<&LastFault>, with_content: bool) {
    let spend = &end.spend;
    let tokens_known = spend.calls_without_usage < spend.model_calls || spend.model_calls == 0;
    draft
        .set(name::OUTCOME, end.outcome.name())
        .set(name::SOLVED, end.solved)
        .set(name::STARTER_PASSED, end.starter_passed.then_some(true))
        .set(name::BEST, end.best.map(|best| best.to_string()))
        .set(name::SCORE, end.best_score)
        .set(name::HIDDEN_VERDICT, end.hidden_verdict.map(|verdict| verdict.name()))
        .set(name::PROGRAMS_TO_SOLVE, end.programs_to_solve)
        .set(name::PROGRAMS, spend.programs)
        .set(name::MODEL_CALLS, spend.model_calls)
        .set(name::MODEL_ATTEMPTS, spend.model_attempts)
        .set(name::INPUT_TOKENS, tokens_known.then_some(spend.input_tokens))
        .set(name::OUTPUT_TOKENS, tokens_known.then_some(spend.output_tokens))
        .set(name::CALLS_WITHOUT_USAGE, (spend.calls_without_usage > 0).then_some(spend.calls_without_usage))
        .set(name::COST, spend.known_cost().map(Money::units))
        .set(name::CURRENCY, spend.currency.map(|currency| currency.to_string()))
        .set(name::CALLS_WITHOUT_COST, (spend.calls_without_cost > 0).then_some(spend.calls_without_cost))
        .set(name::REPORTED_COST, spend.reported_cost.map(Money::units))
        .set(name::DETERMINISTIC, end.deterministic);
    if spend.attempts_in_doubt > 0 {
        draft.set(name::ATTEMPTS_IN_DOUBT, spend.attempts_in_doubt);
        draft.set(name::COST_IN_DOUBT, spend.currency.map(|_| spend.cost_in_doubt.units()));
    }
    let Patches { plausible, wrong, timeout, uncompilable } = end.patches;
    let patches = [("plausible", plausible), ("wrong", wrong), ("timeout", timeout), ("uncompilable", uncompilable)];
    for (word, count) in patches.into_iter().filter(|(_, count)| *count > 0) {
        draft.set(&format!("{}{word}", name::PATCHES_PREFIX), count);
    }
    let failed = end.outcome == Outcome::Failed;
    let detail = match (failed, fault) {
        (true, Some(fault)) if !with_content && fault.may_quote => Some(format!("{}: {}", fault.actor, fault.kind)),
        _ => end.outcome_detail.clone(),
    };
    let detail = detail.map(|detail| content::head(&detail, EXPLANATION_BYTES).to_owned());
    draft.set(name::OUTCOME_DETAIL, detail.clone());
    if failed {
        let error_type = fault.map_or("failed", |fault| fault.kind.as_str());
        draft.fail(error_type, detail.unwrap_or_default());
    }
}

/// The latest fault of any turn: where the conversation failed, it is why.
pub struct LastFault {
    actor: ActorName,
    kind: String,
    may_quote: bool,
}

impl LastFault {
    /// The fault of a turn of `actor`.
    pub fn new(actor: &ActorName, fault: &Fault) -> Self {
        Self { actor: actor.clone(), kind: fault.kind(), may_quote: may_quote(fault) }
    }
}

/// Whether the words of a fault may quote a prompt, a reply or a program: a server's answer does, and so does the message
/// of a panic over a string.
pub fn may_quote(fault: &Fault) -> bool {
    matches!(fault, Fault::Model(_) | Fault::Endpoint(_) | Fault::Panic { .. })
}

/// What a fault means for a span: an error, or an early end that is none.
pub enum Ending {
    /// Our machine or a server failed: `error.type` and a description.
    Error(String, String),
    /// Cancelled, out of budget, or nothing (more) to say.
    Early(String),
}

impl Ending {
    /// What the fault of a turn means.
    pub fn of_fault(fault: &Fault, with_content: bool) -> Self {
        match fault {
            Fault::Cancelled
            | Fault::Model(ModelError::Cancelled | ModelError::Budget | ModelError::NothingToSay(_)) => {
                Self::Early(fault.kind())
            }
            _ => Self::Error(fault.kind(), explanation(&fault.to_string(), may_quote(fault) && !with_content)),
        }
    }

    /// What the error of a model call means: `error.type` and the server's words.
    pub fn of_call(kind: &str, message: &str, with_content: bool) -> Self {
        let early = [ModelError::Cancelled, ModelError::Budget, ModelError::NothingToSay(String::new())];
        if early.iter().any(|one| one.kind() == kind) {
            return Self::Early(kind.to_owned());
        }
        Self::Error(kind.to_owned(), explanation(message, !with_content))
    }

    /// Marks the span.
    pub fn write(self, draft: &mut Draft) {
        match self {
            Self::Error(kind, message) => draft.fail(&kind, message),
            Self::Early(kind) => {
                draft.set(name::ENDED_BY, kind);
            }
        }
    }
}

fn explanation(message: &str, withheld: bool) -> String {
    if withheld { String::new() } else { content::head(message, EXPLANATION_BYTES).to_owned() }
}

/// What a round's span says, gathered while its turns retire.
#[derive(Default)]
pub struct RoundSummary {
    turns: u32,
    programs: u32,
    best: Option<f64>,
}

impl RoundSummary {
    /// Adds a turn.
    pub fn add(&mut self, turn: &TurnRecord) {
        self.turns += 1;
        self.programs = self.programs.saturating_add(u32::try_from(turn.programs.len()).unwrap_or(u32::MAX));
        for message in turn.messages() {
            if let Message::ExecutionReport(report) = message {
                let score = report.judgement.score();
                self.best = Some(self.best.map_or(score, |best| best.max(score)));
            }
        }
    }

    /// Writes what was gathered.
    pub fn write(&self, attributes: &mut Attributes) {
        attributes.set(name::TURNS, self.turns).set(name::PROGRAMS, self.programs).set(name::SCORE, self.best);
    }
}
