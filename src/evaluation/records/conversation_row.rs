use std::collections::BTreeMap;

use serde::Serialize;

use super::{MoneyRow, SCHEMA};
use crate::{
    conversation::ConversationRecord,
    domain::{ErrorType, Isolation, Limits, Patches, ScoredOn},
    ids::{ActorName, MessageId, TaskId},
    runtime::{AnsweredFrom, CallRecord},
};

/// A conversation that has ended.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ConversationRow {
    /// [`SCHEMA`].
    pub schema: u32,
    /// What it found.
    pub result: ConversationResult,
    /// How it came about.
    pub provenance: ConversationProvenance,
}

/// What a conversation found. No time, id or machine is in it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ConversationResult {
    /// The arm.
    pub arm: String,
    /// Its data set.
    pub dataset: String,
    /// The task.
    pub task: TaskId,
    /// Sample of the task, from 0.
    pub sample: u32,
    /// Seed of the run.
    pub seed: u64,
    /// Name of the arrangement.
    pub topology: String,
    /// BLAKE3 of the effective arrangement.
    pub topology_hash: String,
    /// BLAKE3 of every prompt file, by `ACTOR.KEY`.
    pub prompts: BTreeMap<String, String>,
    /// Tasks whose solutions prompts show.
    pub examples: Vec<TaskId>,
    /// Edges that change what they carry.
    pub interventions: Vec<String>,
    /// Why it ended.
    pub outcome: &'static str,
    /// Whether the best program passes the tests that decide.
    pub solved: bool,
    /// Whether the starter passed the feedback tests.
    pub starter_passed: bool,
    /// The best candidate, by turn and place in it; null where it is the starter.
    pub best: Option<MessageId>,
    /// Whether the starter is it.
    pub best_is_starter: bool,
    /// Its visible score.
    pub best_score: Option<f64>,
    /// Its verdict on the hidden tests.
    pub hidden_verdict: Option<&'static str>,
    /// Which tests feed back.
    pub feedback: &'static str,
    /// How many.
    pub feedback_tests: u32,
    /// Which tests decide.
    pub scored_on: ScoredOn,
    /// The mistake of the first program that failed.
    pub error_type: Option<ErrorType>,
    /// Programs of roles given to an executor.
    pub programs: u32,
    /// Number of the program that passed the feedback tests.
    pub programs_to_solve: Option<u32>,
    /// The programs of roles by what the tests that feed back said.
    pub patches: Patches,
    /// Calls of a model that roles made.
    pub model_calls: u32,
    /// Known prompt tokens.
    pub input_tokens: u64,
    /// Known reply tokens.
    pub output_tokens: u64,
    /// Calls whose tokens the server did not say.
    pub calls_without_usage: u32,
    /// Whether nothing from outside decided the outcome.
    pub deterministic: bool,
    /// How outputs are compared.
    pub compare: Option<String>,
    /// `PYTHONHASHSEED` of the programs.
    pub python_hash_seed: Option<u32>,
}

/// How a conversation came about.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ConversationProvenance {
    /// Also the trace id, without its hyphens.
    pub conversation: String,
    /// The run.
    pub run: String,
    /// Version of Rolecall.
    pub code_version: String,
    /// Unix time in ns.
    pub started_ns: u64,
    /// Unix time in ns.
    pub ended_ns: u64,
    /// Words for the outcome: they can hold names of this machine.
    pub outcome_detail: Option<String>,
    /// How programs were isolated.
    pub isolation: Isolation,
    /// The limits of one execution: they may have been measured on this machine.
    pub limits: Limits,
    /// What is to be known of the task: also of measured limits.
    pub notes: Vec<String>,
    /// Requests sent, retries included.
    pub model_attempts: u32,
    /// Calls answered by what another conversation was told.
    pub answers_from_cache: usize,
    /// Calls answered by what was stored before the run went on.
    pub answers_resumed: usize,
    /// Calls of which nothing more was heard when the process was killed.
    pub calls_in_doubt: Vec<CallDoubted>,
    /// What it cost: what is taken over from others costs nothing.
    #[serde(flatten)]
    pub money: MoneyRow,
}

/// A call that may have been paid for twice.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CallDoubted {
    /// Who made it.
    pub actor: ActorName,
    /// The turn.
    pub seq: u32,
    /// The model.
    pub model: String,
    /// Tokens that it cost at most.
    pub at_most_tokens: u64,
}

impl From<&ConversationRecord> for ConversationRow {
    fn from(record: &ConversationRecord) -> Self {
        let ConversationRecord { head, end, .. } = record;
        let logs =
            || record.turns.iter().flat_map(|turn| turn.attempts.iter().map(move |attempt| (turn, &attempt.log)));
        let calls = || logs().flat_map(|(_, log)| &log.calls);
        let answered = |from| calls().filter(|call: &&CallRecord| call.answered_from == Some(from)).count();
        let doubted = logs().flat_map(|(turn, log)| log.in_doubt.iter().map(move |call| (turn, call)));
        let result = ConversationResult {
            arm: head.arm.clone(),
            dataset: head.dataset.clone(),
            task: head.task.clone(),
            sample: head.sample,
            seed: head.seed,
            topology: head.topology.clone(),
            topology_hash: head.topology_hash.clone(),
            prompts: head.prompts.clone(),
            examples: head.examples.clone(),
            interventions: head.interventions.clone(),
            outcome: end.outcome.name(),
            solved: end.solved,
            starter_passed: end.starter_passed,
            best: end.best.filter(|best| *best != MessageId::STARTER),
            best_is_starter: end.best == Some(MessageId::STARTER),
            best_score: end.best_score,
            hidden_verdict: end.hidden_verdict.map(|verdict| verdict.name()),
            feedback: head.feedback.name(),
            feedback_tests: head.feedback_tests,
            scored_on: head.scored_on,
            error_type: record.error_type(),
            programs: end.spend.programs,
            programs_to_solve: end.programs_to_solve,
            patches: end.patches,
            model_calls: end.spend.model_calls,
            input_tokens: end.spend.input_tokens,
            output_tokens: end.spend.output_tokens,
            calls_without_usage: end.spend.calls_without_usage,
            deterministic: end.deterministic,
            compare: head.compare.clone(),
            python_hash_seed: head.python_hash_seed,
        };
        let provenance = ConversationProvenance {
            conversation: head.id.to_string(),
            run: head.run.to_string(),
            code_version: head.code_version.clone(),
            started_ns: head.started_ns,
            ended_ns: end.ended_ns,
            outcome_detail: end.outcome_detail.clone(),
            isolation: head.isolation.clone(),
            limits: head.limits.clone(),
            notes: head.notes.clone(),
            model_attempts: end.spend.model_attempts,
            answers_from_cache: answered(AnsweredFrom::Cache),
            answers_resumed: answered(AnsweredFrom::Resumed),
            calls_in_doubt: doubted
                .map(|(turn, call)| CallDoubted {
                    actor: turn.actor.clone(),
                    seq: turn.seq,
                    model: call.model.clone(),
                    at_most_tokens: call.at_most_tokens,
                })
                .collect(),
            money: MoneyRow::from(&end.spend),
        };
        Self { schema: SCHEMA, result, provenance }
    }
}
