//! One call of a model as a `chat` span.

use std::{collections::BTreeSet, time::Duration};

use opentelemetry::trace::SpanId;

use super::{
    attributes as name, content,
    conversation_attributes::Ending,
    span::{Draft, Period, ServiceSpan},
    turn_spans::Spoken,
    values::Attributes,
};
use crate::{
    domain::Money,
    llm::Attempt,
    runtime::{AnsweredFrom, CallInDoubt, CallRecord, Finished, TurnRecord},
};

/// The span of call number `ordinal` of an attempt. Its id is the one that the request carried as its parent.
pub fn project(
    turn: &TurnRecord,
    attempt: &Finished,
    (ordinal, call): (usize, &CallRecord),
    parent: SpanId,
    spoken: &Spoken<'_>,
) -> ServiceSpan {
    let actor = turn.actor.0.as_str();
    let place = spoken.place("chat", attempt, ordinal);
    let period = Period::new(call.started_ns, call.ended_ns);
    let mut draft = Draft::new(actor, place, Some(parent), format!("chat {}", call.model), period).client();
    let parameters = &call.parameters;
    draft
        .set(name::OPERATION, "chat")
        .set(name::PROVIDER, call.provider.as_str())
        .set(name::REQUEST_MODEL, call.model.as_str())
        .set(name::RESPONSE_MODEL, call.served_model.as_deref())
        .set(name::RESPONSE_ID, call.response_id.as_deref())
        .set(name::AGENT, actor)
        .set(name::CONVERSATION, spoken.head.id.trace_id())
        .set(name::SPAN_KIND, "LLM")
        .set(name::OUTPUT_TYPE, "text")
        .set(name::REQUEST_SEED, parameters.sends_seed().then_some(call.seed))
        .set(name::REQUEST_CHOICES, (call.choices_wanted != 1).then_some(call.choices_wanted))
        .set(name::REQUEST_TEMPERATURE, parameters.temperature.as_ref().map(|temperature| temperature.of(0)))
        .set(name::REQUEST_TOP_P, parameters.top_p)
        .set(name::REQUEST_TOP_K, parameters.top_k)
        .set(name::REQUEST_PRESENCE_PENALTY, parameters.presence_penalty)
        .set(name::REQUEST_FREQUENCY_PENALTY, parameters.frequency_penalty)
        .set(name::REQUEST_MAX_TOKENS, parameters.max_output_tokens)
        .set(name::REQUEST_STOP, (!parameters.stop.is_empty()).then(|| parameters.stop.clone()))
        .set(name::USAGE_INPUT, call.usage.input_tokens)
        .set(name::USAGE_OUTPUT, call.usage.output_tokens)
        .set(name::SERVER_ADDRESS, call.server_address.as_deref())
        .set(name::SERVER_PORT, call.server_port.map(u32::from))
        .set(name::PEER_SERVICE, call.server_address.as_deref().unwrap_or(&call.provider))
        .set(name::ROLE, turn.role.as_str())
        .set(name::SEQ, turn.seq)
        .set(name::ATTEMPT, u32::from(attempt.attempt))
        .set(name::ORDINAL, ordinal)
        .set(name::GENERATION, turn.generation)
        .set(name::PURPOSE, call.purpose.name())
        .set(name::PROMPT_SHORTENED, (!call.shortened.is_empty()).then(|| call.shortened.clone()))
        .set(name::PROMPT, call.prompt.as_ref().map(|prompt| prompt.reference.as_str()))
        .set(name::PROMPT_HASH, call.prompt.as_ref().map(|prompt| prompt.hash.as_str()))
        .set(name::ATTEMPTS, call.attempts.len())
        .set(name::ANSWERED_FROM, call.answered_from.map(AnsweredFrom::word))
        .set(name::COST, call.cost().map(Money::units))
        .set(name::CURRENCY, call.spend().currency.map(|currency| currency.to_string()))
        .set(name::REPORTED_COST, call.usage.reported_cost.map(Money::units))
        .set(name::USAGE_CACHED, call.usage.cached_input_tokens)
        .set(name::CUT_PROMPT, call.cut_prompt().map(|(bytes, _)| bytes))
        .set(name::DISTINCT_CHOICES, call.distinct_choices())
        .set(name::RAN_OUT_THINKING, Some(call.ran_out_thinking()).filter(|count| *count > 0))
        .set(name::OVERSHOOT, call.overshoot());
    if call.attempts_in_doubt() > 0 {
        draft.set(name::ATTEMPTS_IN_DOUBT, call.attempts_in_doubt());
        draft.set(name::COST_IN_DOUBT, call.cost_in_doubt().map(Money::units));
    }
    if let Some(first) = call.attempts.last().and_then(|attempt| attempt.first_token_ms) {
        draft.set(name::REQUEST_STREAM, true);
        draft.set(name::TIME_TO_FIRST, Duration::from_millis(first).as_secs_f64());
    }
    let reasons: Vec<String> = call.choices.iter().map(|choice| choice.finish_reason.clone()).collect();
    if !reasons.is_empty() {
        let distinct: BTreeSet<&str> = reasons.iter().map(String::as_str).collect();
        draft.set(name::FINISH, distinct.into_iter().collect::<Vec<_>>().join(","));
        draft.set(name::RESPONSE_FINISH, reasons);
    }
    for request in &call.attempts {
        let at = call.started_ns.saturating_add(request.started_ms.saturating_mul(1_000_000));
        draft.event(name::REQUEST_EVENT, at, request_attributes(request, spoken.content));
    }
    if spoken.content {
        content::set(&mut draft.attributes, name::INPUT_MESSAGES, content::prompt(&call.messages));
        content::set(&mut draft.attributes, name::OUTPUT_MESSAGES, content::reply(&call.choices));
    }
    if let Some((kind, message)) = &call.error {
        Ending::of_call(kind, message, spoken.content).write(&mut draft);
    }
    draft.finish()
}

/// The span of a call of which nothing more was heard when the process was killed. It has no length, since nobody knows how
/// long it took.
pub fn project_in_doubt(
    turn: &TurnRecord,
    attempt: &Finished,
    (index, call): (usize, &CallInDoubt),
    parent: SpanId,
    spoken: &Spoken<'_>,
) -> ServiceSpan {
    let actor = turn.actor.0.as_str();
    let place = spoken.place("chat in doubt", attempt, index);
    let period = Period::instant(call.started_ns);
    let mut draft = Draft::new(actor, place, Some(parent), format!("chat {}", call.model), period).client();
    draft
        .set(name::OPERATION, "chat")
        .set(name::PROVIDER, call.provider.as_str())
        .set(name::REQUEST_MODEL, call.model.as_str())
        .set(name::AGENT, actor)
        .set(name::CONVERSATION, spoken.head.id.trace_id())
        .set(name::SPAN_KIND, "LLM")
        .set(name::SERVER_ADDRESS, call.server_address.as_deref())
        .set(name::SERVER_PORT, call.server_port.map(u32::from))
        .set(name::PEER_SERVICE, call.server_address.as_deref().unwrap_or(&call.provider))
        .set(name::ROLE, turn.role.as_str())
        .set(name::SEQ, turn.seq)
        .set(name::ATTEMPT, u32::from(attempt.attempt))
        .set(name::ORDINAL, call.ordinal)
        .set(name::GENERATION, turn.generation)
        .set(name::PURPOSE, call.purpose.name())
        .set(name::AT_MOST_TOKENS, call.at_most_tokens);
    draft.fail(name::INTERRUPTED, "the process was killed before an answer was stored".to_owned());
    draft.finish()
}

/// What one request on the wire came to, with what came of a reply that broke off where `content` is wanted.
pub fn request_attributes(request: &Attempt, content: bool) -> Attributes {
    Attributes::new()
        .with(name::HTTP_STATUS, request.status.map(u32::from))
        .with(name::ERROR_TYPE, request.error.as_deref())
        .with(name::DURATION_MS, request.duration_ms)
        .with(name::ADAPTED, (!request.adapted.is_empty()).then(|| request.adapted.clone()))
        .with(name::SERVER, request.server.as_deref())
        .with(name::WAITED_MS, (request.waited_ms > 0).then_some(request.waited_ms))
        .with(name::PARTIAL_CHARS, request.partial.as_ref().map(|text| text.chars().count()))
        .with(name::PARTIAL_TEXT, request.partial.as_deref().filter(|_| content))
}
