//! A request to a server that is no model, as a span of its own: `execute_tool reward`.

use opentelemetry::trace::SpanId;

use super::{
    attributes as name,
    conversation_attributes::Ending,
    model_call::request_attributes,
    span::{Draft, Period, ServiceSpan},
    turn_spans::Spoken,
};
use crate::runtime::{Finished, PostRecord, TurnRecord};

/// The span of request number `ordinal` of an attempt, with one event for each time that it was sent.
pub fn project(
    turn: &TurnRecord,
    attempt: &Finished,
    (ordinal, post): (usize, &PostRecord),
    parent: SpanId,
    spoken: &Spoken<'_>,
) -> ServiceSpan {
    let actor = turn.actor.0.as_str();
    let place = spoken.place("post", attempt, ordinal);
    let period = Period::new(post.started_ns, post.ended_ns);
    let mut draft = Draft::new(actor, place, Some(parent), format!("execute_tool {}", post.what), period).client();
    draft
        .set(name::OPERATION, "execute_tool")
        .set(name::TOOL, post.what.as_str())
        .set(name::TOOL_TYPE, "extension")
        .set(name::AGENT, actor)
        .set(name::CONVERSATION, spoken.head.id.trace_id())
        .set(name::SPAN_KIND, "TOOL")
        .set(name::SERVER_ADDRESS, post.server_address.as_deref())
        .set(name::SERVER_PORT, post.server_port.map(u32::from))
        .set(name::PEER_SERVICE, post.server_address.as_deref())
        .set(name::HTTP_STATUS, post.attempts.last().and_then(|attempt| attempt.status).map(u32::from))
        .set(name::ATTEMPTS, post.attempts.len())
        .set(name::ROLE, turn.role.as_str())
        .set(name::SEQ, turn.seq)
        .set(name::ATTEMPT, u32::from(attempt.attempt))
        .set(name::ORDINAL, ordinal)
        .set(name::GENERATION, turn.generation);
    for request in &post.attempts {
        let at = post.started_ns.saturating_add(request.started_ms.saturating_mul(1_000_000));
        draft.event(name::REQUEST_EVENT, at, request_attributes(request, spoken.content));
    }
    if let Some((kind, message)) = &post.error {
        Ending::of_call(kind, message, spoken.content).write(&mut draft);
    }
    draft.finish()
}
