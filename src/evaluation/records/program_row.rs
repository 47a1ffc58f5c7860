use std::{collections::BTreeMap, sync::Arc};

use serde::Serialize;

use super::SCHEMA;
use crate::{
    conversation::ConversationRecord,
    domain::{Language, Spend, TestResult},
    ids::{ActorName, MessageId, TaskId},
    messages::{Candidate, ExecutionReport, Message, Origin, TestsRun},
    runtime::TurnRecord,
};

/// A program that was given to an executor.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProgramRow {
    /// [`SCHEMA`].
    pub schema: u32,
    /// What it is and what came of it.
    pub result: ProgramResult,
    /// Which conversation it belongs to.
    pub provenance: ProgramProvenance,
}

/// What a program is and what came of it. No time, id or machine is in it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProgramResult {
    /// The arm.
    pub arm: String,
    /// The task.
    pub task: TaskId,
    /// Sample of the task, from 0.
    pub sample: u32,
    /// Its number among the programs of the conversation, from 1.
    pub order: u32,
    /// The turn that said it, and its place there.
    pub candidate: MessageId,
    /// The round of that turn.
    pub generation: u32,
    /// What it repairs.
    pub parent: Option<MessageId>,
    /// Whether that is the starter.
    pub of_starter: bool,
    /// How it came about.
    pub origin: Origin,
    /// Who wrote it.
    pub actor: ActorName,
    /// The role of that actor.
    pub role: String,
    /// What the tests that feed back said; null where the conversation ended before.
    pub verdict: Option<&'static str>,
    /// The word of each test.
    pub verdicts: Vec<&'static str>,
    /// Mean score of the tests; null where it was not run.
    pub score: Option<f64>,
    /// The candidate of the same text that was run in its place.
    pub duplicate_of: Option<MessageId>,
    /// Calls up to and with its turn.
    pub model_calls: u32,
    /// Known prompt tokens up to and with its turn.
    pub input_tokens: u64,
    /// Known reply tokens up to and with its turn.
    pub output_tokens: u64,
    /// Its language; null where the reply held no program.
    pub language: Option<Language>,
    /// BLAKE3 of language and text; null where the reply held no program.
    pub text_hash: Option<String>,
    /// BLAKE3 of the prompt files of its turn, in the order of the calls.
    pub prompt_hashes: Vec<String>,
    /// Why the replies of its turn ended.
    pub finish_reasons: Vec<String>,
    /// The text; null where it was left out or there is none.
    pub text: Option<String>,
}

/// Which conversation a program belongs to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProgramProvenance {
    /// The conversation.
    pub conversation: String,
    /// Unix time in ns, when its turn ended.
    pub ended_ns: Option<u64>,
}

impl ProgramRow {
    /// Those of a conversation, by their numbers; with their texts where `with_text`.
    pub fn of(record: &ConversationRecord, with_text: bool) -> Vec<Self> {
        let reports = reports(record);
        let mut spend = Spend::default();
        let mut rows = Vec::new();
        for turn in &record.turns {
            spend += turn.spend();
            for (id, order) in &turn.programs {
                let said = turn.messages().iter().find_map(|message| match message {
                    Message::Candidate(candidate) if candidate.id == *id => Some(candidate),
                    _ => None,
                });
                let Some(candidate) = said else { continue };
                let report = reports.get(id).copied();
                let result = result(record, turn, (candidate, *order), report, spend, with_text);
                let ended_ns = turn.attempts.last().map(|attempt| attempt.ended_ns);
                let provenance = ProgramProvenance { conversation: record.head.id.to_string(), ended_ns };
                rows.push(Self { schema: SCHEMA, result, provenance });
            }
        }
        rows.sort_by_key(|row| row.result.order);
        rows
    }
}

/// The first report on each candidate that tells of the tests that feed back.
fn reports(record: &ConversationRecord) -> BTreeMap<MessageId, &ExecutionReport> {
    let mut reports = BTreeMap::new();
    for message in record.turns.iter().flat_map(|turn| turn.messages()) {
        if let Message::ExecutionReport(report) = message
            && report.tests != TestsRun::Generated
        {
            reports.entry(report.candidate.id).or_insert(&**report);
        }
    }
    reports
}

fn result(
    record: &ConversationRecord,
    turn: &TurnRecord,
    (candidate, order): (&Arc<Candidate>, u32),
    report: Option<&ExecutionReport>,
    spend: Spend,
    with_text: bool,
) -> ProgramResult {
    let tests: &[TestResult] = report.map_or(&[], |report| &report.judgement.tests);
    let calls = || turn.attempts.last().into_iter().flat_map(|attempt| &attempt.log.calls);
    ProgramResult {
        arm: record.head.arm.clone(),
        task: record.head.task.clone(),
        sample: record.head.sample,
        order,
        candidate: candidate.id,
        generation: turn.generation,
        parent: candidate.parent.filter(|parent| *parent != MessageId::STARTER),
        of_starter: candidate.parent == Some(MessageId::STARTER),
        origin: candidate.origin,
        actor: turn.actor.clone(),
        role: turn.role.clone(),
        verdict: report.map(|report| report.judgement.verdict.name()),
        verdicts: tests.iter().map(|test| test.verdict.name()).collect(),
        score: report.map(|report| report.judgement.score()),
        duplicate_of: report.and_then(|report| report.duplicate_of),
        model_calls: spend.model_calls,
        input_tokens: spend.input_tokens,
        output_tokens: spend.output_tokens,
        language: candidate.program.as_ref().map(|program| program.language),
        text_hash: candidate.program.as_ref().map(|program| program.hash().0),
        prompt_hashes: calls().filter_map(|call| Some(call.prompt.as_ref()?.hash.clone())).collect(),
        finish_reasons: calls().flat_map(|call| &call.choices).map(|choice| choice.finish_reason.clone()).collect(),
        text: candidate.program.as_ref().filter(|_| with_text).map(|program| program.text.clone()),
    }
}
