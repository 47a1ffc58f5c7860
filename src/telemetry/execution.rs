//! Uses of the sandbox: an executor's turn, which is one execution, and what other roles ask of the sandbox themselves.

use std::collections::BTreeMap;

use opentelemetry::trace::SpanId;
use serde_json::{Value, json};

use super::{
    attributes as name, content,
    span::{Draft, Period, ServiceSpan},
    turn_spans::Spoken,
    values::Attributes,
};
use crate::{
    domain::Verdict,
    messages::{ExecutionReport, Message},
    runtime::{ExecutionRecord, Finished, TurnRecord},
};

/// The tool that runs a program against the visible tests; as in `ExecutionRecord::what`.
pub const RUN_TESTS: &str = "run_tests";

/// Describes an executor's attempt: language, verdict counts, CPU time, and one evaluation event a candidate.
pub fn describe(draft: &mut Draft, turn: &TurnRecord, attempt: &Finished, with_content: bool) {
    draft.set(name::TOOL, RUN_TESTS).set(name::TOOL_TYPE, "function");
    let candidate = turn.inbox.first().and_then(Message::candidate);
    let program = candidate.and_then(|candidate| candidate.program.as_ref());
    draft.set(name::LANGUAGE, program.map(|program| program.language.name()));
    let said = attempt.result.as_deref().unwrap_or_default();
    let reports: Vec<&ExecutionReport> = said.iter().filter_map(report_of).collect();
    let cpu_ms: u64 = attempt.log.executions.iter().map(|execution| execution.cpu_ms).sum();
    draft.set(name::CPU_MS, (!attempt.log.executions.is_empty()).then_some(cpu_ms));
    if let [report] = reports[..] {
        let judgement = &report.judgement;
        draft.set(name::VERDICT, judgement.verdict.name()).set(name::SCORE, judgement.score());
        draft.set(name::PROTOCOL, judgement.protocol.name());
        draft.set(name::MEMORY_BYTES, judgement.peak_memory_bytes);
        draft.set(name::NEAR_LIMIT, judgement.near_limit.then_some(true));
        let suspicious = judgement.suspicious.len();
        draft.set(name::SUSPICIOUS_CALLS, (suspicious > 0).then_some(suspicious));
    }
    if !reports.is_empty() {
        let tests = || reports.iter().flat_map(|report| &report.judgement.tests);
        let mut counts: BTreeMap<Verdict, u32> = BTreeMap::from([(Verdict::Passed, 0)]);
        for test in tests() {
            *counts.entry(test.verdict).or_default() += 1;
        }
        draft.set(name::TESTS, tests().count());
        for (verdict, count) in counts {
            draft.set(&format!("{}{}", name::TESTS_PREFIX, verdict.name()), count);
        }
    }
    for report in &reports {
        draft.event(name::EVALUATION, attempt.ended_ns, evaluation(report));
    }
    if let Some(report) = reports.iter().find(|report| report.judgement.verdict == Verdict::Infrastructure) {
        let failed = report.judgement.tests.iter().find(|test| test.verdict == Verdict::Infrastructure);
        let message = failed.and_then(|test| test.message.clone()).filter(|_| with_content);
        draft.fail(Verdict::Infrastructure.name(), message.unwrap_or_default());
    }
    if with_content {
        let candidates = turn.inbox.iter().filter_map(Message::candidate);
        let programs: Vec<Value> = candidates.map(|one| program_json(one.program.as_deref())).collect();
        let judgements: Vec<Value> = reports.iter().map(|report| judgement_json(report)).collect();
        content::set(&mut draft.attributes, name::TOOL_ARGUMENTS, one_or_all(programs));
        content::set(&mut draft.attributes, name::TOOL_RESULT, one_or_all(judgements));
    }
}

/// The span of a use of the sandbox that is not an executor's own turn: `execute_tool profile`, for example.
pub fn project(
    turn: &TurnRecord,
    attempt: &Finished,
    (ordinal, execution): (usize, &ExecutionRecord),
    parent: SpanId,
    spoken: &Spoken<'_>,
) -> ServiceSpan {
    let place = spoken.place("execution", attempt, ordinal);
    let period = Period::new(execution.started_ns, execution.ended_ns);
    let actor = turn.actor.0.as_str();
    let mut draft = Draft::new(actor, place, Some(parent), format!("execute_tool {}", execution.what), period);
    draft
        .set(name::OPERATION, "execute_tool")
        .set(name::TOOL, execution.what.as_str())
        .set(name::TOOL_TYPE, "function")
        .set(name::AGENT, actor)
        .set(name::CONVERSATION, spoken.head.id.trace_id())
        .set(name::SPAN_KIND, "TOOL")
        .set(name::ROLE, turn.role.as_str())
        .set(name::SEQ, turn.seq)
        .set(name::ATTEMPT, u32::from(attempt.attempt))
        .set(name::GENERATION, turn.generation)
        .set(name::VERDICT, execution.verdict.map(Verdict::name))
        .set(name::CPU_MS, execution.verdict.map(|_| execution.cpu_ms));
    if let Some(error) = &execution.error {
        draft.fail(Verdict::Infrastructure.name(), content::head(error, content::LIMIT_BYTES).to_owned());
    }
    draft.finish()
}

fn report_of(message: &Message) -> Option<&ExecutionReport> {
    match message {
        Message::ExecutionReport(report) => Some(report),
        _ => None,
    }
}

fn evaluation(report: &ExecutionReport) -> Attributes {
    let judgement = &report.judgement;
    let explanation = format!("{} of {} tests passed", judgement.passed_tests(), judgement.tests.len());
    Attributes::new()
        .with(name::EVALUATION_NAME, "visible_tests")
        .with(name::EVALUATION_SCORE, judgement.score())
        .with(name::EVALUATION_LABEL, judgement.verdict.name())
        .with(name::EVALUATION_EXPLANATION, explanation)
        .with(name::CANDIDATE, report.candidate.id.to_string())
}

fn program_json(program: Option<&crate::domain::Program>) -> Value {
    program.map_or(Value::Null, |program| json!({"language": program.language.name(), "program": program.text}))
}

/// What the tests said, as far as prompts may show it.
fn judgement_json(report: &ExecutionReport) -> Value {
    let judgement = &report.judgement;
    let mut shown = json!({
        "verdict": judgement.verdict.name(),
        "score": judgement.score(),
        "tests": judgement.tests,
        "compile_output": judgement.compile_output,
        "stdout": judgement.stdout.text,
        "stderr": judgement.stderr.text,
    });
    if !judgement.suspicious.is_empty() {
        shown["suspicious"] = json!(judgement.suspicious);
    }
    shown
}

fn one_or_all(mut values: Vec<Value>) -> Value {
    if values.len() == 1 { values.remove(0) } else { Value::Array(values) }
}
