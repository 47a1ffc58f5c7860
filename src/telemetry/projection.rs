//! A conversation's record as spans. Pure: the same record gives the same spans, byte for byte, whether it is projected
//! while the conversation runs, after it, or on resume.
//!
//! The spans are built as the structs of the OTLP protocol, not as the SDK's `SpanData`: the file and the wire want these
//! structs, ids and times are our own either way, and the SDK's conversion would only copy every attribute once more.
//!
//! ```text
//! invoke_workflow {topology}                        rolecall
//! ├─ conversation_started                           rolecall, exported at once
//! ├─ round                                          rolecall, generation 0
//! │  ├─ invoke_agent synthesizer                    with its chat spans
//! │  │  └─ execute_tool run_tests                   executor: the receiver is a child of its sender
//! │  │     └─ invoke_agent ranker                   a fan-in: child of its first sender, linked to the others
//! │  └─ handoff                                     rolecall, above the execution of the starter
//! └─ round                                          generation 1
//!    └─ handoff                                     ranker: what crosses into the round, linked to the sender's turn
//!       └─ invoke_agent instructor …
//! ```

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use opentelemetry::trace::{SpanId, TraceId};

use super::{
    attributes as name, conversation_attributes as conversation,
    span::{Draft, Period, Place, ServiceSpan},
    turn_spans::{self, Spoken},
};
use crate::{
    conversation::{ConversationEnd, ConversationHead, ConversationRecord},
    ids::{Generation, MessageId, Seq, span_id, trace_id},
    messages::{Message, Origin},
    runtime::TurnRecord,
};

/// `service.name` of what the conversation itself does.
pub const CONVERSATION_SERVICE: &str = "rolecall";

/// Spans after which the next round begins a continuation trace: Jaeger's page is slow above 2,000.
pub const SPANS_PER_TRACE: usize = 1_800;

/// A turn that later turns may have received messages from.
struct Sender {
    service: String,
    role: String,
    place: Place,
    generation: Generation,
}

/// A round, as far as it is known.
struct Round {
    part: usize,
    period: Period,
    summary: conversation::RoundSummary,
}

/// One trace of the conversation: the first, or a continuation.
struct Part {
    trace: TraceId,
    root: SpanId,
    spans: usize,
    started: u64,
}

/// How conversations are projected.
#[derive(Clone, Copy, Debug, Default)]
pub struct Projection {
    /// Whether prompts, programs and replies go on the spans.
    pub content: bool,
    /// The span in whose context the run was started: each root is linked to it.
    pub context: Option<Place>,
}

/// Projects one conversation, turn by turn.
pub struct Projector {
    head: Arc<ConversationHead>,
    settings: Projection,
    parts: Vec<Part>,
    rounds: BTreeMap<Generation, Round>,
    senders: BTreeMap<Seq, Sender>,
    handoffs: BTreeMap<(Seq, Generation), SpanId>,
    programs: BTreeMap<MessageId, u32>,
    fault: Option<conversation::LastFault>,
}

impl Projector {
    /// A projector of the conversation that begins with `head`.
    pub fn new(head: Arc<ConversationHead>, settings: Projection) -> Self {
        let mut projector = Self {
            head,
            settings,
            parts: Vec::new(),
            rounds: BTreeMap::new(),
            senders: BTreeMap::new(),
            handoffs: BTreeMap::new(),
            programs: BTreeMap::new(),
            fault: None,
        };
        projector.begin_part(projector.head.started_ns);
        projector
    }

    /// The span that lets a running conversation be found.
    pub fn started(&mut self) -> Vec<ServiceSpan> {
        let spans = vec![self.started_span(0)];
        self.count(&spans);
        spans
    }

    /// The spans of a turn that has retired. Turns come in the order of `seq`.
    pub fn turn(&mut self, turn: &TurnRecord) -> Vec<ServiceSpan> {
        let mut spans = Vec::new();
        for (candidate, number) in &turn.programs {
            self.programs.insert(*candidate, *number);
        }
        let Some(period) = turn_spans::period(turn) else { return spans };
        self.open_round(turn.generation, period, &mut spans);
        let parent = self.parent(turn, period.start, &mut spans);
        let links = self.fan_in(turn);
        let part = self.rounds.get(&turn.generation).map_or(0, |round| round.part);
        let spoken = Spoken {
            head: &self.head,
            trace: self.parts[part].trace,
            parent,
            links: &links,
            programs: &self.programs,
            content: self.settings.content,
        };
        let (last, turn_spans) = turn_spans::project(turn, &spoken);
        spans.extend(turn_spans);
        if let Some(round) = self.rounds.get_mut(&turn.generation) {
            round.period.hold(period);
            round.summary.add(turn);
        }
        self.fault = turn.fault().map(|fault| conversation::LastFault::new(&turn.actor, fault)).or(self.fault.take());
        let sender = Sender {
            service: turn.actor.0.clone(),
            role: turn.role.clone(),
            place: Place { trace: self.parts[part].trace, span: last },
            generation: turn.generation,
        };
        self.senders.insert(turn.seq, sender);
        self.count(&spans);
        spans
    }

    /// The rounds and the roots.
    pub fn end(&mut self, end: &ConversationEnd) -> Vec<ServiceSpan> {
        let mut periods: Vec<Period> = self.parts.iter().map(|part| Period::instant(part.started)).collect();
        let mut spans = Vec::new();
        for (generation, round) in &self.rounds {
            periods[round.part].hold(round.period);
            let place = Place { trace: self.parts[round.part].trace, span: self.round_id(*generation) };
            let root = self.parts[round.part].root;
            let mut draft =
                Draft::new(CONVERSATION_SERVICE, place, Some(root), name::ROUND_SPAN.to_owned(), round.period);
            draft.set(name::GENERATION, *generation).set(name::SPAN_KIND, "CHAIN");
            round.summary.write(&mut draft.attributes);
            spans.push(draft.finish());
        }
        if let Some(last) = periods.last_mut() {
            last.hold(Period::new(last.start, end.ended_ns));
        }
        for (number, period) in periods.into_iter().enumerate() {
            spans.push(self.root_span(number, period, end));
        }
        spans
    }

    fn begin_part(&mut self, started: u64) {
        let number = u32::try_from(self.parts.len()).unwrap_or(u32::MAX);
        let conversation = self.head.id;
        let trace = if number == 0 { trace_id(conversation) } else { continuation_trace(&self.head, number) };
        let root = span_id(conversation, "root", 0, 0, number);
        self.parts.push(Part { trace, root, spans: 0, started });
    }

    /// Makes the round known; where the trace is long enough, it begins a new one.
    fn open_round(&mut self, generation: Generation, period: Period, spans: &mut Vec<ServiceSpan>) {
        if self.rounds.contains_key(&generation) {
            return;
        }
        let newest = self.rounds.keys().all(|known| *known < generation);
        let full = self.parts.last().is_some_and(|part| part.spans >= SPANS_PER_TRACE);
        if newest && full {
            self.begin_part(period.start);
            spans.push(self.started_span(self.parts.len() - 1));
        }
        let part = self.parts.len() - 1;
        let round = Round { part, period, summary: conversation::RoundSummary::default() };
        self.rounds.insert(generation, round);
        self.parts[part].spans += 1;
    }

    /// The span below which a turn stands: its first sender's in the same round, a handoff across rounds, or the round.
    fn parent(&mut self, turn: &TurnRecord, start: u64, spans: &mut Vec<ServiceSpan>) -> SpanId {
        let round = self.round_id(turn.generation);
        let Some(first) = turn.causes.first() else {
            let starter = matches!(turn.inbox.first(), Some(Message::Candidate(one)) if one.origin == Origin::Starter);
            return if starter { self.handoff(Seq::MAX, turn, start, spans) } else { round };
        };
        match self.senders.get(&first.seq) {
            Some(sender) if sender.generation == turn.generation => sender.place.span,
            Some(_) => self.handoff(first.seq, turn, start, spans),
            None => round,
        }
    }

    /// The handoff of what turn `from` said into the round of `turn`; made once, above all its receivers there.
    fn handoff(&mut self, from: Seq, turn: &TurnRecord, start: u64, spans: &mut Vec<ServiceSpan>) -> SpanId {
        if let Some(known) = self.handoffs.get(&(from, turn.generation)) {
            return *known;
        }
        let span = span_id(self.head.id, "handoff", from, 0, turn.generation);
        self.handoffs.insert((from, turn.generation), span);
        let part = self.rounds.get(&turn.generation).map_or(0, |round| round.part);
        let place = Place { trace: self.parts[part].trace, span };
        let sender = self.senders.get(&from);
        let service = sender.map_or(CONVERSATION_SERVICE, |sender| sender.service.as_str());
        let parent = Some(self.round_id(turn.generation));
        let mut draft = Draft::new(service, place, parent, name::HANDOFF_SPAN.to_owned(), Period::instant(start));
        draft.set(name::GENERATION, turn.generation).set(name::SPAN_KIND, "CHAIN");
        draft.set(name::RECEIVED, turn.inbox.first().map(|message| message.kind().name()));
        if let Some(sender) = sender {
            draft.set(name::ROLE, sender.role.as_str()).set(name::SENDER_SEQ, from);
            draft.link(sender.place, "handoff");
        }
        spans.push(draft.finish());
        span
    }

    /// The other senders of a turn that gathered.
    fn fan_in(&self, turn: &TurnRecord) -> Vec<Place> {
        let first = turn.causes.first().map(|cause| cause.seq);
        let others: BTreeSet<Seq> =
            turn.causes.iter().map(|cause| cause.seq).filter(|seq| Some(*seq) != first).collect();
        others.iter().filter_map(|seq| self.senders.get(seq)).map(|sender| sender.place).collect()
    }

    fn round_id(&self, generation: Generation) -> SpanId {
        span_id(self.head.id, "round", 0, 0, generation)
    }

    fn started_span(&self, part: usize) -> ServiceSpan {
        let &Part { trace, root, started, .. } = &self.parts[part];
        let index = u32::try_from(part).unwrap_or(u32::MAX);
        let place = Place { trace, span: span_id(self.head.id, "started", 0, 0, index) };
        let span = name::STARTED_SPAN.to_owned();
        let mut draft = Draft::new(CONVERSATION_SERVICE, place, Some(root), span, Period::instant(started));
        conversation::write_head(&mut draft.attributes, &self.head);
        // What the root will be called: a killed conversation is closed by it.
        draft.set(name::WORKFLOW, self.head.topology.as_str());
        draft.set(name::PART, (part > 0).then_some(part)).set(name::SPAN_KIND, "CHAIN");
        draft.finish()
    }

    fn root_span(&self, number: usize, period: Period, end: &ConversationEnd) -> ServiceSpan {
        let part = &self.parts[number];
        let place = Place { trace: part.trace, span: part.root };
        let name = format!("invoke_workflow {}", self.head.topology);
        let mut draft = Draft::new(CONVERSATION_SERVICE, place, None, name, period);
        draft.set(name::OPERATION, "invoke_workflow").set(name::WORKFLOW, self.head.topology.as_str());
        draft.set(name::SPAN_KIND, "CHAIN");
        conversation::write_head(&mut draft.attributes, &self.head);
        conversation::write_end(&mut draft, end, self.fault.as_ref(), self.settings.content);
        draft.set(name::PART, (number > 0).then_some(number));
        draft.set(name::PARTS, (self.parts.len() > 1).then_some(self.parts.len()));
        if let Some(context) = self.settings.context {
            draft.link(context, "context");
        }
        let other = |index: usize| self.parts.get(index).map(|part| Place { trace: part.trace, span: part.root });
        if let Some(before) = number.checked_sub(1).and_then(other) {
            draft.link(before, "continues");
        }
        if let Some(after) = other(number + 1) {
            draft.link(after, "continued_by");
        }
        draft.finish()
    }

    fn count(&mut self, spans: &[ServiceSpan]) {
        for one in spans {
            let part = self.parts.iter_mut().find(|part| part.trace.to_bytes() == one.span.trace_id[..]);
            if let Some(part) = part {
                part.spans += 1;
            }
        }
    }
}

/// The trace of part `number` of a long conversation: 16 bytes of a hash, never zero.
fn continuation_trace(head: &ConversationHead, number: u32) -> TraceId {
    let halves = [0, 1].map(|half| span_id(head.id, "trace", half, 0, number).to_bytes());
    TraceId::from_bytes(std::array::from_fn(|at| halves[at / 8][at % 8]))
}

/// All spans of a finished conversation.
pub fn project(record: &ConversationRecord, settings: Projection) -> Vec<ServiceSpan> {
    let mut projector = Projector::new(Arc::new(record.head.clone()), settings);
    let mut spans = projector.started();
    for turn in &record.turns {
        spans.extend(projector.turn(turn));
    }
    spans.extend(projector.end(&record.end));
    spans
}
