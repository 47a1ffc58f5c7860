//! The objects that `--json` prints, one a line. Documented in docs/json.md and kept from then on: keys are added, never
//! changed or removed.

use std::{collections::BTreeMap, path::Path};

use serde::Serialize;

use super::sharding::ShardFacts;
use crate::{
    budget::TurnedAway,
    conversation::ConversationRecord,
    domain::{ErrorType, Isolation, Judgement, Money, OutputRule, Patches, Problem, Protocol, ScoredOn, Spend},
    evaluation::Shard,
    ids::RunId,
    runtime::AnsweredFrom,
    telemetry::TraceSummary,
};

/// `event = "conversation_finished"`.
#[derive(Clone, Debug, Serialize)]
pub struct ConversationFinished {
    event: &'static str,
    conversation: String,
    task: String,
    sample: u32,
    outcome: &'static str,
    outcome_detail: Option<String>,
    solved: bool,
    starter_passed: bool,
    feedback: &'static str,
    feedback_tests: u32,
    scored_on: ScoredOn,
    error_type: Option<ErrorType>,
    programs: u32,
    programs_to_solve: Option<u32>,
    patches: Patches,
    model_calls: u32,
    model_attempts: u32,
    input_tokens: u64,
    output_tokens: u64,
    calls_without_usage: u32,
    calls_in_doubt: Vec<InDoubt>,
    answers_from_cache: usize,
    #[serde(flatten)]
    money: Spent,
    deterministic: bool,
    seconds: f64,
    isolation: Isolation,
    trace: String,
    compare: Option<String>,
    test_cpu_ms: u64,
    limits_calibrated: bool,
    python_hash_seed: Option<u32>,
    notes: Vec<String>,
    interventions: Vec<String>,
    code_version: String,
    topology_hash: String,
    prompts: BTreeMap<String, String>,
    examples: Vec<String>,
}

impl ConversationFinished {
    /// Of a record whose trace is in this file.
    pub fn of(record: &ConversationRecord, trace: &Path) -> Self {
        let (head, end) = (&record.head, &record.end);
        Self {
            event: "conversation_finished",
            conversation: head.id.to_string(),
            task: head.task.0.clone(),
            sample: head.sample,
            outcome: end.outcome.name(),
            outcome_detail: end.outcome_detail.clone(),
            solved: end.solved,
            starter_passed: end.starter_passed,
            feedback: head.feedback.name(),
            feedback_tests: head.feedback_tests,
            scored_on: head.scored_on,
            error_type: record.error_type(),
            programs: end.spend.programs,
            programs_to_solve: end.programs_to_solve,
            patches: end.patches,
            model_calls: end.spend.model_calls,
            model_attempts: end.spend.model_attempts,
            input_tokens: end.spend.input_tokens,
            output_tokens: end.spend.output_tokens,
            calls_without_usage: end.spend.calls_without_usage,
            calls_in_doubt: InDoubt::of(record),
            answers_from_cache: answers_from_cache(record),
            money: Spent::of(&end.spend),
            deterministic: end.deterministic,
            seconds: seconds(end.ended_ns.saturating_sub(head.started_ns)),
            isolation: head.isolation.clone(),
            trace: trace.display().to_string(),
            compare: head.compare.clone(),
            test_cpu_ms: head.limits.test_cpu_ms,
            limits_calibrated: head.limits.calibrated,
            python_hash_seed: head.python_hash_seed,
            notes: head.notes.clone(),
            interventions: head.interventions.clone(),
            code_version: head.code_version.clone(),
            topology_hash: head.topology_hash.clone(),
            prompts: head.prompts.clone(),
            examples: head.examples.iter().map(|task| task.0.clone()).collect(),
        }
    }
}

/// A call of which nothing more was heard when the run's process was killed.
#[derive(Clone, Debug, Serialize)]
struct InDoubt {
    actor: String,
    seq: u32,
    model: String,
    at_most_tokens: u64,
}

impl InDoubt {
    fn of(record: &ConversationRecord) -> Vec<Self> {
        let turns = record.turns.iter();
        let calls = turns.flat_map(|turn| {
            let logs = turn.attempts.iter().map(|attempt| &attempt.log);
            logs.flat_map(|log| &log.in_doubt).map(move |call| (turn, call))
        });
        calls
            .map(|(turn, call)| Self {
                actor: turn.actor.0.clone(),
                seq: turn.seq,
                model: call.model.clone(),
                at_most_tokens: call.at_most_tokens,
            })
            .collect()
    }
}

/// Calls that were answered by what another conversation was told.
fn answers_from_cache(record: &ConversationRecord) -> usize {
    let calls = record.turns.iter().flat_map(|turn| &turn.attempts).flat_map(|attempt| &attempt.log.calls);
    calls.filter(|call| call.answered_from == Some(AnsweredFrom::Cache)).count()
}

/// `event = "run_finished"`, the last line.
#[derive(Clone, Debug, Serialize)]
pub struct RunFinished {
    event: &'static str,
    run: String,
    /// Which part of the run it is, and of which run; null where it is a whole run.
    shard: Option<Shard>,
    shard_of: Option<RunId>,
    topology: String,
    seed: u64,
    conversations: usize,
    planned: usize,
    solved: usize,
    infrastructure_errors: usize,
    programs: u32,
    model_calls: u32,
    model_attempts: u32,
    input_tokens: u64,
    output_tokens: u64,
    calls_without_usage: u32,
    #[serde(flatten)]
    money: Spent,
    not_begun: Vec<NotBegun>,
    error_types: Vec<OfErrorType>,
    wall_secs: f64,
    traces: Delivered,
}

/// Money that calls cost, in units of the currency. Unknown is `null`, never 0.
#[derive(Clone, Debug, Serialize)]
struct Spent {
    cost: Option<f64>,
    currency: Option<String>,
    calls_without_cost: u32,
    attempts_in_doubt: u32,
    cost_in_doubt: Option<f64>,
    cost_reported: Option<f64>,
    cost_saved: Option<f64>,
}

impl Spent {
    fn of(spend: &Spend) -> Self {
        Self {
            cost: spend.known_cost().map(Money::units),
            currency: spend.currency.map(|currency| currency.to_string()),
            calls_without_cost: spend.calls_without_cost,
            attempts_in_doubt: spend.attempts_in_doubt,
            cost_in_doubt: spend.currency.map(|_| spend.cost_in_doubt.units()),
            cost_reported: spend.reported_cost.map(Money::units),
            cost_saved: spend.currency.map(|_| spend.saved_cost.units()),
        }
    }
}

/// A conversation that was not begun, since a budget that it shares was spent.
#[derive(Clone, Debug, Serialize)]
struct NotBegun {
    task: String,
    sample: u32,
    why: String,
}

impl NotBegun {
    fn of(one: &TurnedAway) -> Self {
        Self { task: one.task.clone(), sample: one.sample, why: one.why.clone() }
    }
}

/// What became of the spans of a run.
#[derive(Clone, Debug, Serialize)]
struct Delivered {
    written: u64,
    lost: u64,
    endpoint: Option<String>,
    acknowledged: u64,
    refused: u64,
    left_out: u64,
    waiting: u64,
    error: Option<String>,
}

impl From<&TraceSummary> for Delivered {
    fn from(summary: &TraceSummary) -> Self {
        Self {
            written: summary.written,
            lost: summary.lost,
            endpoint: summary.endpoint.clone(),
            acknowledged: summary.acknowledged,
            refused: summary.refused,
            left_out: summary.left_out,
            waiting: summary.waiting(),
            error: summary.disk_error.clone().or_else(|| summary.delivery_error.clone()),
        }
    }
}

impl RunFinished {
    /// Sums over the records of a run, and what became of its spans.
    pub fn of(
        (run, topology, seed): (String, String, u64),
        records: &[ConversationRecord],
        (planned, turned_away): (usize, &[TurnedAway]),
        wall: std::time::Duration,
        delivered: &TraceSummary,
    ) -> Self {
        let mut spend = Spend::default();
        for record in records {
            spend += record.end.spend;
        }
        Self {
            event: "run_finished",
            run,
            shard: None,
            shard_of: None,
            topology,
            seed,
            conversations: records.len(),
            planned,
            solved: records.iter().filter(|record| record.end.solved).count(),
            infrastructure_errors: records.iter().filter(|record| record.end.infrastructure_error).count(),
            programs: spend.programs,
            model_calls: spend.model_calls,
            model_attempts: spend.model_attempts,
            input_tokens: spend.input_tokens,
            output_tokens: spend.output_tokens,
            calls_without_usage: spend.calls_without_usage,
            money: Spent::of(&spend),
            not_begun: turned_away.iter().map(NotBegun::of).collect(),
            error_types: by_error_type(records),
            wall_secs: wall.as_secs_f64(),
            traces: delivered.into(),
        }
    }

    /// The same, of a shard where it is one.
    #[must_use]
    pub fn of_shard(self, shard: Option<&ShardFacts>) -> Self {
        Self { shard: shard.map(|facts| facts.shard), shard_of: shard.map(|facts| facts.of), ..self }
    }
}

/// The conversations whose first failing program made one kind of mistake.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct OfErrorType {
    /// The kind.
    pub error_type: ErrorType,
    /// How many they are.
    pub conversations: usize,
    /// How many of them were solved.
    pub solved: usize,
}

/// Each kind of mistake that occurs, in the order of their list. Conversations without a failing program are in none.
pub fn by_error_type(records: &[ConversationRecord]) -> Vec<OfErrorType> {
    let mut kinds = BTreeMap::<ErrorType, (usize, usize)>::new();
    for (record, kind) in records.iter().filter_map(|record| Some((record, record.error_type()?))) {
        let (conversations, solved) = kinds.entry(kind).or_default();
        *conversations += 1;
        *solved += usize::from(record.end.solved);
    }
    let kinds = kinds.into_iter();
    kinds.map(|(error_type, (conversations, solved))| OfErrorType { error_type, conversations, solved }).collect()
}

/// `event = "judged"`.
#[derive(Clone, Debug, Serialize)]
pub struct Judged<'a> {
    event: &'static str,
    task: &'a str,
    index: usize,
    verdict: &'static str,
    tests: Vec<JudgedTest<'a>>,
    protocol: &'static str,
    compile_output: Option<&'a str>,
    suspicious: Vec<&'a str>,
    isolation: &'a Isolation,
    compare: Option<&'static str>,
    test_cpu_ms: u64,
    limits_calibrated: bool,
    notes: &'a [String],
}

#[derive(Clone, Debug, Serialize)]
struct JudgedTest<'a> {
    set: &'static str,
    index: usize,
    verdict: &'static str,
    score: f64,
    test: &'a str,
    expected: Option<&'a str>,
    actual: Option<&'a str>,
    message: Option<&'a str>,
}

impl<'a> Judged<'a> {
    /// Of one program: its word over all suites, and each test of each suite.
    pub fn of(
        problem: &'a Problem,
        index: usize,
        (verdict, isolation): (&'static str, &'a Isolation),
        suites: &[(&'static str, &'a Judgement)],
    ) -> Self {
        let tests = suites.iter().flat_map(|(set, judgement)| {
            judgement.tests.iter().enumerate().map(|(index, test)| JudgedTest {
                set,
                index,
                verdict: test.verdict.name(),
                score: test.score,
                test: &test.test,
                expected: test.expected.as_deref(),
                actual: test.actual.as_deref(),
                message: test.message.as_deref(),
            })
        });
        let judgements = || suites.iter().map(|(_, judgement)| *judgement);
        let linked = judgements().any(|judgement| judgement.protocol == Protocol::InProcess);
        let suspicious = suspicious(judgements());
        let task = &problem.task;
        Self {
            event: "judged",
            task: &task.id.0,
            index,
            verdict,
            tests: tests.collect(),
            protocol: if linked { Protocol::InProcess } else { Protocol::Split }.name(),
            compile_output: judgements().find_map(|judgement| judgement.compile_output.as_deref()),
            suspicious,
            isolation,
            compare: task.visible.output_rule().map(OutputRule::name),
            test_cpu_ms: task.limits.test_cpu_ms,
            limits_calibrated: task.limits.calibrated,
            notes: &problem.notes,
        }
    }
}

/// The suspicious calls of one program that several suites judged, each once.
pub fn suspicious<'a>(judgements: impl IntoIterator<Item = &'a Judgement>) -> Vec<&'a str> {
    let mut calls = Vec::new();
    for call in judgements.into_iter().flat_map(|judgement| &judgement.suspicious) {
        if !calls.contains(&call.as_str()) {
            calls.push(call.as_str());
        }
    }
    calls
}

/// Nanoseconds as seconds.
pub fn seconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e9
}
