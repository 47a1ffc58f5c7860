//! The spans of one turn: one an attempt, with its model calls and uses of the sandbox below.

use std::collections::BTreeMap;

use opentelemetry::trace::{SpanId, TraceId};

use super::{
    assessing, attributes as name, content,
    conversation_attributes::Ending,
    execution, lineage, model_call, post,
    span::{Draft, Period, Place, ServiceSpan},
    values::Attribute,
};
use crate::{
    agents,
    conversation::ConversationHead,
    ids::{MessageId, span_id},
    messages::{Intervention, Message},
    runtime::{Finished, NoteValue, RoleSpec, TurnRecord},
};

/// What a turn's spans need to know of the conversation around it.
pub struct Spoken<'a> {
    /// The conversation.
    pub head: &'a ConversationHead,
    /// The trace that the turn's round is in.
    pub trace: TraceId,
    /// The span that the turn stands below.
    pub parent: SpanId,
    /// The other senders of a turn that gathered.
    pub links: &'a [Place],
    /// Numbers of the programs that were handed to an executor so far.
    pub programs: &'a BTreeMap<MessageId, u32>,
    /// Whether content goes on the spans.
    pub content: bool,
}

impl Spoken<'_> {
    /// The place of one of the turn's spans.
    pub fn place(&self, what: &str, attempt: &Finished, index: usize) -> Place {
        let index = u32::try_from(index).unwrap_or(u32::MAX);
        Place { trace: self.trace, span: span_id(self.head.id, what, attempt.seq, attempt.attempt, index) }
    }
}

/// What a role's specification says of its spans.
#[derive(Clone, Copy)]
pub struct Manner {
    /// Its turns are executions of programs.
    pub evaluates: bool,
    /// It says the kind that it takes: what it does not say again, it dropped.
    pub filters: bool,
}

impl Manner {
    fn of(role: &str) -> Self {
        let filters = |spec: &RoleSpec| spec.emits.iter().any(|kind| kind.is_judged() && spec.accepts.contains(kind));
        let spec = agents::role(role).map(|entry| entry.spec);
        Self { evaluates: spec.is_some_and(|spec| spec.evaluates), filters: spec.is_some_and(filters) }
    }
}

/// From the begin of the first attempt to the end of the last, with all that happened inside; `None` without an attempt.
pub fn period(turn: &TurnRecord) -> Option<Period> {
    turn.attempts.iter().map(attempt_period).reduce(|mut all, one| {
        all.hold(one);
        all
    })
}

/// A parent ends after its children, whatever the clocks of tasks said.
fn attempt_period(attempt: &Finished) -> Period {
    let mut period = Period::new(attempt.started_ns, attempt.ended_ns);
    for call in &attempt.log.in_doubt {
        period.hold(Period::instant(call.started_ns));
    }
    for call in &attempt.log.calls {
        period.hold(Period::new(call.started_ns, call.ended_ns));
    }
    for execution in &attempt.log.executions {
        period.hold(Period::new(execution.started_ns, execution.ended_ns));
    }
    for post in &attempt.log.posts {
        period.hold(Period::new(post.started_ns, post.ended_ns));
    }
    period
}

/// The spans of a turn, and the one that counts: that of its last attempt.
pub fn project(turn: &TurnRecord, spoken: &Spoken<'_>) -> (SpanId, Vec<ServiceSpan>) {
    let manner = Manner::of(&turn.role);
    let mut spans = Vec::new();
    let mut last = spoken.parent;
    for attempt in &turn.attempts {
        let place = spoken.place("turn", attempt, 0);
        spans.push(attempt_span(turn, attempt, place, manner, spoken));
        for (ordinal, call) in attempt.log.calls.iter().enumerate() {
            spans.push(model_call::project(turn, attempt, (ordinal, call), place.span, spoken));
        }
        for (index, call) in attempt.log.in_doubt.iter().enumerate() {
            spans.push(model_call::project_in_doubt(turn, attempt, (index, call), place.span, spoken));
        }
        for (ordinal, execution) in attempt.log.executions.iter().enumerate() {
            if !(manner.evaluates && execution.what == execution::RUN_TESTS) {
                spans.push(execution::project(turn, attempt, (ordinal, execution), place.span, spoken));
            }
        }
        for (ordinal, post) in attempt.log.posts.iter().enumerate() {
            spans.push(post::project(turn, attempt, (ordinal, post), place.span, spoken));
        }
        last = place.span;
    }
    (last, spans)
}

fn attempt_span(
    turn: &TurnRecord,
    attempt: &Finished,
    place: Place,
    manner: Manner,
    spoken: &Spoken<'_>,
) -> ServiceSpan {
    let actor = turn.actor.0.as_str();
    let (operation, span_name, kind) = if manner.evaluates {
        ("execute_tool", format!("execute_tool {}", execution::RUN_TESTS), "TOOL")
    } else {
        ("invoke_agent", format!("invoke_agent {actor}"), "AGENT")
    };
    let mut draft = Draft::new(actor, place, Some(spoken.parent), span_name, attempt_period(attempt));
    draft
        .set(name::OPERATION, operation)
        .set(name::AGENT, actor)
        .set(name::CONVERSATION, spoken.head.id.trace_id())
        .set(name::SPAN_KIND, kind)
        .set(name::ROLE, turn.role.as_str())
        .set(name::SEQ, turn.seq)
        .set(name::ATTEMPT, u32::from(attempt.attempt))
        .set(name::GENERATION, turn.generation)
        .set(name::RECEIVED, turn.inbox.first().map(|message| message.kind().name()))
        .set(name::SAID, attempt.result.as_ref().ok().map(Vec::len))
        .set(name::INTERVENTION, turn.inbox.iter().find_map(intervention))
        .set(name::REFUSED, attempt.log.refused.as_ref().map(|refusal| refusal.kind.name()))
        .set(name::REFUSED_BY, attempt.log.refused.as_ref().and_then(|refusal| refusal.shared.as_deref()));
    if !turn.missing.is_empty() {
        draft.set(name::MISSING, turn.missing.iter().map(|actor| actor.0.clone()).collect::<Vec<_>>());
    }
    if manner.evaluates {
        execution::describe(&mut draft, turn, attempt, spoken.content);
    }
    assessing::describe(&mut draft, turn, attempt, spoken.content);
    lineage::describe(&mut draft, turn, attempt, manner, spoken.programs);
    for sender in spoken.links {
        draft.link(*sender, "fan_in");
    }
    for note in &attempt.log.notes {
        draft.set(&format!("{}{}", name::PREFIX, note.key), &note.value);
    }
    if spoken.content && !manner.evaluates {
        content::set(&mut draft.attributes, name::INPUT_MESSAGES, content::said(&turn.inbox, "user"));
        if let Ok(messages) = &attempt.result {
            content::set(&mut draft.attributes, name::OUTPUT_MESSAGES, content::said(messages, "assistant"));
        }
    }
    if let Err(fault) = &attempt.result {
        Ending::of_fault(fault, spoken.content).write(&mut draft);
    }
    draft.finish()
}

fn intervention(message: &Message) -> Option<&'static str> {
    match message {
        Message::Diagnosis(diagnosis) => diagnosis.intervention.map(Intervention::word),
        _ => None,
    }
}

impl Attribute for &NoteValue {
    fn value(self) -> Option<opentelemetry_proto::tonic::common::v1::any_value::Value> {
        match self {
            NoteValue::Text(text) => content::head(text, content::LIMIT_BYTES).value(),
            NoteValue::Count(count) => count.value(),
            NoteValue::Number(number) => number.value(),
            NoteValue::Flag(flag) => flag.value(),
            NoteValue::Texts(texts) => texts.clone().value(),
        }
    }
}
