//! What turns and conversations add to the metrics.

use super::{
    instruments::{CALL_DURATION, CONVERSATIONS, REQUESTS, RESTARTS, SPANS, TOKEN_USAGE, TURN_DURATION, VERDICTS},
    registry::{Labels, Registry},
};
use crate::{
    conversation::{ConversationEnd, ConversationHead},
    messages::Message,
    runtime::{CallRecord, Fault, Finished, TurnRecord},
    telemetry::{TraceSummary, attributes as name},
};

/// A turn has retired.
pub fn turn(registry: &mut Registry, head: &ConversationHead, turn: &TurnRecord) {
    let own = || -> Labels {
        vec![
            (name::WORKFLOW, head.topology.clone()),
            (name::AGENT, turn.actor.0.clone()),
            (name::ROLE, turn.role.clone()),
        ]
    };
    for attempt in &turn.attempts {
        registry.record(&TURN_DURATION, own(), seconds(attempt.started_ns, attempt.ended_ns));
        if matches!(attempt.result, Err(Fault::Panic { .. })) {
            registry.add(&RESTARTS, own(), 1);
        }
        attempt.log.calls.iter().for_each(|one| call(registry, one, &own()));
        verdicts(registry, attempt, &own());
    }
}

fn verdicts(registry: &mut Registry, attempt: &Finished, own: &Labels) {
    let reports = attempt.result.iter().flatten().filter_map(|message| match message {
        Message::ExecutionReport(report) => Some(report),
        _ => None,
    });
    // A role that hands a report on has not executed anything.
    for report in reports.filter(|_| !attempt.log.executions.is_empty()) {
        let mut labels = own.clone();
        labels.push((name::VERDICT, report.judgement.verdict.name().to_owned()));
        if let Some(program) = &report.candidate.program {
            labels.push((name::LANGUAGE, program.language.name().to_owned()));
        }
        registry.add(&VERDICTS, labels, 1);
    }
}

fn call(registry: &mut Registry, call: &CallRecord, own: &Labels) {
    let mut labels = own.clone();
    labels.extend([
        (name::OPERATION, "chat".to_owned()),
        (name::PROVIDER, call.provider.clone()),
        (name::REQUEST_MODEL, call.model.clone()),
    ]);
    labels.extend(call.served_model.clone().map(|model| (name::RESPONSE_MODEL, model)));
    labels.extend(call.server_address.clone().map(|address| (name::SERVER_ADDRESS, address)));
    labels.extend(call.answered_from.map(|from| (name::ANSWERED_FROM, from.word().to_owned())));
    let tokens = [("input", call.usage.input_tokens), ("output", call.usage.output_tokens)];
    for (kind, number) in tokens.into_iter().filter_map(|(kind, number)| Some((kind, number?))) {
        let labels = labels.iter().cloned().chain([(name::TOKEN_TYPE, kind.to_owned())]).collect();
        registry.record(&TOKEN_USAGE, labels, number as f64);
    }
    for request in &call.attempts {
        let error = request.error.clone().map(|error| (name::ERROR_TYPE, error));
        registry.add(&REQUESTS, labels.iter().cloned().chain(error).collect(), 1);
    }
    labels.extend(call.error.clone().map(|(kind, _)| (name::ERROR_TYPE, kind)));
    registry.record(&CALL_DURATION, labels, seconds(call.started_ns, call.ended_ns));
}

/// A conversation is over.
pub fn ended(registry: &mut Registry, head: &ConversationHead, end: &ConversationEnd) {
    let labels = vec![
        (name::WORKFLOW, head.topology.clone()),
        (name::OUTCOME, end.outcome.name().to_owned()),
        (name::SOLVED, end.solved.to_string()),
    ];
    registry.add(&CONVERSATIONS, labels, 1);
}

/// What has become of the spans.
pub fn spans(registry: &mut Registry, summary: &TraceSummary) {
    let states = [
        ("written", summary.written),
        ("lost", summary.lost),
        ("acknowledged", summary.acknowledged),
        ("refused", summary.refused),
        ("left_out", summary.left_out),
        ("waiting", summary.waiting()),
    ];
    for (state, number) in states {
        registry.set(&SPANS, vec![(name::SPAN_STATE, state.to_owned())], number);
    }
}

fn seconds(started_ns: u64, ended_ns: u64) -> f64 {
    ended_ns.saturating_sub(started_ns) as f64 / 1e9
}
