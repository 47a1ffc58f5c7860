//! Closes the trace of a conversation whose process was killed: adds the rounds that were open and the root, as they
//! would have come at its end.
//!
//! Ids are those that the conversation itself would have given, so that a trace viewer hangs up what was sent already.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{File, OpenOptions, TryLockError},
    io::{self, BufRead, BufReader, Seek, Write},
    path::Path,
};

use opentelemetry::trace::{SpanId, TraceId};
use opentelemetry_proto::tonic::{
    collector::trace::v1::ExportTraceServiceRequest,
    common::v1::{AnyValue, ArrayValue, any_value::Value as ProtoValue},
};
use serde_json::{Map, Value};

use super::{
    attributes as name,
    projection::CONVERSATION_SERVICE,
    span::{Draft, Period, Place, ResourceOf, ServiceSpan, export_request},
    values::Attribute,
    view::{Lineage, Listed, ReadSpan, SpanLines, attributes},
};
use crate::ids::{ConversationId, Generation, span_id};

/// What became of a file that was to be closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closing {
    /// So many spans were added.
    Closed(usize),
    /// Its root is there.
    WasClosed,
    /// A process still writes it.
    IsWritten,
    /// It does not say which conversation it is.
    Unknown,
}

/// Adds the root and the open rounds to a trace file that has no root and that nobody writes any more. Half a last line
/// is taken away. A conversation that is to be resumed should not be closed: its trace will have another root.
///
/// # Errors
/// Those of the disk; also where the file system cannot say whether somebody writes the file.
pub fn close_open(path: &Path) -> io::Result<Closing> {
    let mut file = OpenOptions::new().read(true).append(true).open(path)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(Closing::IsWritten),
        Err(TryLockError::Error(error)) => return Err(error),
    }
    let mut lines = SpanLines::new(BufReader::new(&file));
    let mut open = Open::default();
    while let Some(portion) = lines.next_whole()? {
        portion.spans.iter().for_each(|span| open.add(span));
    }
    let whole = lines.whole_bytes();
    let unended = lines.rest();
    if let Some(portion) = &unended {
        portion.spans.iter().for_each(|span| open.add(span));
    }
    if open.has_root {
        return Ok(Closing::WasClosed);
    }
    let Some(spans) = open.close() else { return Ok(Closing::Unknown) };
    let count = spans.len();
    let resource = resource(&file)?;
    let mut line = match unended {
        Some(portion) if portion.cut => {
            file.set_len(whole)?;
            Vec::new()
        }
        Some(_) => b"\n".to_vec(),
        None => Vec::new(),
    };
    line.extend(serde_json::to_vec(&export_request(spans, &resource))?);
    line.push(b'\n');
    file.write_all(&line)?;
    Ok(Closing::Closed(count))
}

/// What the first service that can be read has in common with the others.
fn resource(mut file: &File) -> io::Result<ResourceOf> {
    file.rewind()?;
    let mut lines = BufReader::new(file);
    let mut line = Vec::new();
    let mut found = Map::new();
    while found.is_empty() && lines.read_until(b'\n', &mut line)? > 0 {
        let request: ExportTraceServiceRequest = serde_json::from_slice(&line).unwrap_or_default();
        let first = request.resource_spans.into_iter().find_map(|spans| spans.resource);
        found = attributes(first.unwrap_or_default().attributes);
        line.clear();
    }
    let text = |key, otherwise: &str| found.get(key).and_then(Value::as_str).unwrap_or(otherwise).to_owned();
    let more = found.iter().filter(|(key, _)| !name::OF_SERVICES.contains(&key.as_str()));
    Ok(ResourceOf {
        namespace: text(name::SERVICE_NAMESPACE, CONVERSATION_SERVICE),
        instance: text(name::SERVICE_INSTANCE_ID, ""),
        more: more.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect(),
    })
}

/// One trace of the conversation.
struct Part {
    trace: TraceId,
    root: SpanId,
    period: Period,
    head: ReadSpan,
}

struct Round {
    trace: TraceId,
    period: Period,
    turns: BTreeSet<u64>,
    programs: BTreeSet<u64>,
    best: Option<f64>,
}

/// What is known of a conversation that has no root.
#[derive(Default)]
struct Open {
    has_root: bool,
    parts: BTreeMap<u64, Part>,
    rounds: BTreeMap<Generation, Round>,
    has_round: BTreeSet<Generation>,
    listed: Listed,
    lineage: Lineage,
    last: u64,
}

impl Open {
    fn add(&mut self, span: &ReadSpan) {
        self.has_root |= span.is_root();
        self.listed.add(span);
        self.lineage.add(span);
        self.last = self.last.max(span.end);
        let trace = TraceId::from_bytes(span.key.trace);
        let period = Period::new(span.start, span.end);
        if let Some(parent) = span.parent.filter(|_| span.is_start()) {
            let root = SpanId::from_bytes(parent.span);
            let part = Part { trace, root, period, head: span.clone() };
            self.parts.insert(span.count(name::PART).unwrap_or(0), part);
        }
        let generation = span.count(name::GENERATION).and_then(|number| Generation::try_from(number).ok());
        let Some(generation) = generation else { return };
        if span.is_round() {
            self.has_round.insert(generation);
            return;
        }
        let none = || Round { trace, period, turns: BTreeSet::new(), programs: BTreeSet::new(), best: None };
        let round = self.rounds.entry(generation).or_insert_with(none);
        round.period.hold(period);
        round.turns.extend(span.count(name::SEQ));
        round.programs.extend(span.events_named(name::WRITTEN_EVENT).filter_map(|of| of.get(name::PROGRAM)?.as_u64()));
        if let Some(score) = span.number(name::SCORE).filter(|_| span.is_execution()) {
            round.best = Some(round.best.map_or(score, |best| best.max(score)));
        }
    }

    /// The spans that close it; `None` where the file does not say which conversation it is.
    fn close(mut self) -> Option<Vec<ServiceSpan>> {
        let first = self.parts.get(&0)?;
        let conversation = first.head.text(name::CONVERSATION)?.parse().ok().map(ConversationId)?;
        let mut spans = Vec::new();
        for (generation, round) in &self.rounds {
            let Some(part) = self.parts.values_mut().find(|part| part.trace == round.trace) else { continue };
            part.period.hold(round.period);
            if self.has_round.contains(generation) {
                continue;
            }
            let place = Place { trace: round.trace, span: span_id(conversation, "round", 0, 0, *generation) };
            let mut draft =
                Draft::new(CONVERSATION_SERVICE, place, Some(part.root), name::ROUND_SPAN.to_owned(), round.period);
            draft
                .set(name::GENERATION, *generation)
                .set(name::SPAN_KIND, "CHAIN")
                .set(name::TURNS, round.turns.len())
                .set(name::PROGRAMS, round.programs.len())
                .set(name::SCORE, round.best)
                .set(name::ENDED_BY, name::INTERRUPTED);
            spans.push(draft.finish());
        }
        if let Some(part) = self.parts.values_mut().next_back() {
            part.period.end = part.period.end.max(self.last);
        }
        spans.extend(self.parts.keys().map(|number| self.root(*number)));
        Some(spans)
    }

    fn root(&self, number: u64) -> ServiceSpan {
        let part = &self.parts[&number];
        let place = Place { trace: part.trace, span: part.root };
        let topology = part.head.text(name::WORKFLOW).or_else(|| part.head.text(name::ARM)).unwrap_or("?");
        let mut draft =
            Draft::new(CONVERSATION_SERVICE, place, None, format!("invoke_workflow {topology}"), part.period);
        for (key, value) in &part.head.attributes {
            draft.set(key, value);
        }
        let listed = &self.listed;
        let best = self.lineage.best();
        draft
            .set(name::OPERATION, "invoke_workflow")
            .set(name::WORKFLOW, topology)
            .set(name::OUTCOME, name::INTERRUPTED)
            .set(name::OUTCOME_DETAIL, "the process ended before the conversation; the trace was closed afterwards")
            .set(name::BEST, best.map(|best| best.id.as_str()))
            .set(name::SCORE, best.and_then(|best| best.score))
            .set(name::PROGRAMS, listed.programs)
            .set(name::MODEL_CALLS, listed.model_calls)
            .set(name::INPUT_TOKENS, listed.input_tokens)
            .set(name::OUTPUT_TOKENS, listed.output_tokens)
            .set(name::CALLS_WITHOUT_USAGE, (listed.calls_without_usage > 0).then_some(listed.calls_without_usage))
            .set(name::COST, listed.cost)
            .set(name::CURRENCY, listed.currency.as_deref())
            .set(name::CALLS_WITHOUT_COST, (listed.calls_without_cost > 0).then_some(listed.calls_without_cost))
            .set(name::PARTS, (self.parts.len() > 1).then_some(self.parts.len()));
        let other = |number: u64| self.parts.get(&number).map(|part| Place { trace: part.trace, span: part.root });
        if let Some(before) = number.checked_sub(1).and_then(other) {
            draft.link(before, "continues");
        }
        if let Some(after) = other(number + 1) {
            draft.link(after, "continued_by");
        }
        draft.finish()
    }
}

impl Attribute for &Value {
    fn value(self) -> Option<ProtoValue> {
        match self {
            Value::Null | Value::Object(_) => None,
            Value::Bool(flag) => flag.value(),
            Value::Number(number) => number.as_i64().map(ProtoValue::IntValue).or_else(|| number.as_f64()?.value()),
            Value::String(text) => text.as_str().value(),
            Value::Array(values) => {
                let values = values.iter().map(|one| AnyValue { value: one.value() }).collect();
                Some(ProtoValue::ArrayValue(ArrayValue { values }))
            }
        }
    }
}
