//! A conversation as it is written down: who took part, every turn, how it ended. Traces and results are made of it.

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};

use super::Outcome;
use crate::{
    domain::{ErrorType, FeedbackSet, Isolation, Limits, Patches, Program, ScoredOn, Spend, Verdict},
    ids::{ActorName, ConversationId, MessageId, RunId, TaskId},
    messages::{Candidate, Message},
    runtime::TurnRecord,
};

/// What is known of a conversation before its first turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConversationHead {
    /// Which conversation; also the trace id.
    pub id: ConversationId,
    /// The run that it belongs to.
    pub run: RunId,
    /// Name of the arrangement.
    pub topology: String,
    /// BLAKE3 of the effective arrangement.
    pub topology_hash: String,
    /// Version of Rolecall that held it.
    #[serde(default)]
    pub code_version: String,
    /// BLAKE3 of every prompt, by actor and key (`debugger.repair`).
    #[serde(default)]
    pub prompts: BTreeMap<String, String>,
    /// Tasks whose solutions prompts show.
    #[serde(default)]
    pub examples: Vec<TaskId>,
    /// Edges that change what they carry, as `teacher -> learner: blank`.
    #[serde(default)]
    pub interventions: Vec<String>,
    /// The arm of an experiment; the arrangement's name elsewhere.
    pub arm: String,
    /// The task.
    pub task: TaskId,
    /// Its data set.
    pub dataset: String,
    /// Sample of the task, from 0.
    pub sample: u32,
    /// Seed of the run.
    pub seed: u64,
    /// The actors and their roles, in the order of the file.
    pub actors: Vec<(ActorName, String)>,
    /// The starter, where the task has one.
    pub starter: Option<Arc<Candidate>>,
    /// Which of the task's tests feed back.
    #[serde(default)]
    pub feedback: FeedbackSet,
    /// How many tests feed back.
    #[serde(default)]
    pub feedback_tests: u32,
    /// Which tests decide whether it is solved.
    pub scored_on: ScoredOn,
    /// How programs are isolated.
    pub isolation: Isolation,
    /// How outputs are compared (`tokens`, `exact`, `tolerance`, `checker`), where the tests are of stdin and stdout.
    #[serde(default)]
    pub compare: Option<String>,
    /// The limits of one execution.
    #[serde(default)]
    pub limits: Limits,
    /// `PYTHONHASHSEED` of the programs, where they are Python: with it the order of their sets is fixed.
    #[serde(default)]
    pub python_hash_seed: Option<u32>,
    /// What the loader had to say of the task.
    pub notes: Vec<String>,
    /// Unix time in ns.
    pub started_ns: u64,
}

/// How a conversation ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConversationEnd {
    /// Why.
    pub outcome: Outcome,
    /// Who and why, in words, where the outcome's word does not say it all.
    pub outcome_detail: Option<String>,
    /// Whether the best program passes the tests that decide.
    pub solved: bool,
    /// Whether the starter passed the feedback tests: then nothing was repaired.
    pub starter_passed: bool,
    /// The best candidate by visible score, earliest on ties.
    pub best: Option<MessageId>,
    /// Its visible score.
    pub best_score: Option<f64>,
    /// Its verdict on the hidden tests, where there are some and they were run.
    pub hidden_verdict: Option<Verdict>,
    /// Number of the program that passed the feedback tests: programs to solution.
    pub programs_to_solve: Option<u32>,
    /// The programs of roles by what the tests that feed back said of them.
    #[serde(default)]
    pub patches: Patches,
    /// What was spent, over all turns.
    pub spend: Spend,
    /// Whether only our machine's failure ended it (`failed` by the sandbox): an infrastructure error.
    pub infrastructure_error: bool,
    /// Whether a provider refused for good.
    pub refused: bool,
    /// Whether another run with the same seed and answers gives the same result.
    pub deterministic: bool,
    /// Unix time in ns.
    pub ended_ns: u64,
}

/// A whole conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConversationRecord {
    /// What was known before.
    pub head: ConversationHead,
    /// Every turn that took effect, by `seq`.
    pub turns: Vec<Arc<TurnRecord>>,
    /// How it ended.
    pub end: ConversationEnd,
}

impl ConversationRecord {
    /// The kind of mistake that the first failing program made: the starter, or else the first draft that failed.
    pub fn error_type(&self) -> Option<ErrorType> {
        let reports = self.turns.iter().flat_map(|turn| turn.messages()).filter_map(|message| match message {
            Message::ExecutionReport(report) => Some(&report.judgement),
            _ => None,
        });
        reports.into_iter().find_map(|judgement| ErrorType::of(judgement))
    }

    /// The best program; `None` where no program came of it.
    pub fn best_program(&self) -> Option<&Arc<Program>> {
        let best = self.end.best?;
        let said = self.turns.iter().flat_map(|turn| turn.messages()).filter_map(Message::candidate);
        let candidate = self.head.starter.iter().chain(said).find(|candidate| candidate.id == best)?;
        candidate.program.as_ref()
    }
}
