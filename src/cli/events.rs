//! The objects that `--json` prints, one a line. Documented in docs/json.md and kept from then on: keys are added, never
//! changed or removed.

use std::{collections::BTreeMap, path::Path};

use serde::Serialize;

use super::sharding::ShardFacts;
use crate::{
    budget::TurnedAway,
    conversation::ConversationRecord,
    domain::{ErrorType, Isolation, Judgement, OutputRule, Problem, Protocol, Spend},
    evaluation::{
        Shard,
        records::{ConversationProvenance, ConversationResult, ConversationRow, MoneyRow},
    },
    ids::RunId,
    telemetry::TraceSummary,
};

/// `event = "conversation_finished"`.
#[derive(Clone, Debug, Serialize)]
pub struct ConversationFinished {
    event: &'static str,
    #[serde(flatten)]
    result: ConversationResult,
    #[serde(flatten)]
    provenance: ConversationProvenance,
    seconds: f64,
    trace: String,
    test_cpu_ms: u64,
    limits_calibrated: bool,
}

impl ConversationFinished {
    /// Of a record whose trace is in this file.
    pub fn of(record: &ConversationRecord, trace: &Path) -> Self {
        let (head, end) = (&record.head, &record.end);
        let ConversationRow { result, provenance, .. } = record.into();
        Self {
            event: "conversation_finished",
            result,
            provenance,
            seconds: seconds(end.ended_ns.saturating_sub(head.started_ns)),
            trace: trace.display().to_string(),
            test_cpu_ms: head.limits.test_cpu_ms,
            limits_calibrated: head.limits.calibrated,
        }
    }
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
    money: MoneyRow,
    not_begun: Vec<NotBegun>,
    error_types: Vec<OfErrorType>,
    wall_secs: f64,
    traces: Delivered,
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
            money: MoneyRow::from(&spend),
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
