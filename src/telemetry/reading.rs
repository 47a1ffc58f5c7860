//! Reads a trace file back: spans in a forest, whatever of the conversation is there.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use opentelemetry_proto::tonic::{
    collector::trace::v1::ExportTraceServiceRequest,
    common::v1::{AnyValue, KeyValue, any_value::Value as ProtoValue},
    trace::v1::{Span, status::StatusCode},
};
use serde_json::{Map, Value, json};

use super::attributes as name;

/// The deepest tree that is shown. A trace of ours is as deep as its arrangement has roles, and three more.
const DEEPEST: usize = 200;

/// What is wrong with one line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine {
    /// Which, from 1.
    pub line: usize,
    /// What.
    pub reason: String,
}

impl fmt::Display for BadLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.line, self.reason)
    }
}

/// A span as it was read.
#[derive(Debug)]
pub struct ReadSpan {
    /// Its service: the actor.
    pub service: String,
    /// Its name.
    pub name: String,
    /// Begin, in ns of Unix time.
    pub start: u64,
    /// End.
    pub end: u64,
    /// Its attributes.
    pub attributes: Map<String, Value>,
    /// Its events: name and attributes.
    pub events: Vec<(String, Map<String, Value>)>,
    /// The description of its error, where it is one.
    pub error: Option<String>,
    /// Where its children are: by the logical order of turns, then by start.
    pub children: Vec<usize>,
}

impl ReadSpan {
    /// A text attribute.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.attributes.get(key)?.as_str()
    }

    /// A count.
    pub fn count(&self, key: &str) -> Option<u64> {
        self.attributes.get(key)?.as_u64()
    }

    /// A number.
    pub fn number(&self, key: &str) -> Option<f64> {
        self.attributes.get(key)?.as_f64()
    }
}

/// A trace file as it was read.
#[derive(Debug)]
pub struct ReadTrace {
    /// All spans, in the order of the file.
    pub spans: Vec<ReadSpan>,
    /// The spans without a parent in the file, in the same order.
    pub tops: Vec<usize>,
    /// Whether the last line was cut off, as by a kill.
    pub cut: bool,
}

/// One span's own ids and the line that it is on.
struct Ids {
    line: usize,
    own: (Vec<u8>, Vec<u8>),
    parent: (Vec<u8>, Vec<u8>),
}

/// Reads the text of a trace file. A last line that was cut off is passed over.
///
/// # Errors
/// Every line that is no export request, or holds a span that cannot stand in a tree.
pub fn read(text: &str) -> Result<ReadTrace, Vec<BadLine>> {
    let mut bad = Vec::new();
    let mut spans = Vec::new();
    let mut ids = Vec::new();
    let mut cut = false;
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match serde_json::from_str::<ExportTraceServiceRequest>(line) {
            Ok(request) => add_spans(request, index + 1, &mut spans, &mut ids),
            Err(_) if !text.ends_with('\n') && index + 1 == text.lines().count() => cut = true,
            Err(error) => bad.push(BadLine { line: index + 1, reason: format!("no OTLP trace request: {error}") }),
        }
    }
    if spans.is_empty() && bad.is_empty() {
        bad.push(BadLine { line: 1, reason: "the file holds no span".to_owned() });
    }
    let tops = link(&mut spans, &ids, &mut bad);
    if bad.is_empty() { Ok(ReadTrace { spans, tops, cut }) } else { Err(bad) }
}

fn add_spans(request: ExportTraceServiceRequest, line: usize, spans: &mut Vec<ReadSpan>, ids: &mut Vec<Ids>) {
    for resource in request.resource_spans {
        let of_resource = attributes(resource.resource.map(|resource| resource.attributes).unwrap_or_default());
        let service = of_resource.get(name::SERVICE_NAME).and_then(Value::as_str).unwrap_or_default();
        for span in resource.scope_spans.into_iter().flat_map(|scope| scope.spans) {
            let trace = span.trace_id.clone();
            ids.push(Ids {
                line,
                own: (trace.clone(), span.span_id.clone()),
                parent: (trace, span.parent_span_id.clone()),
            });
            spans.push(read_span(span, service));
        }
    }
}

fn read_span(span: Span, service: &str) -> ReadSpan {
    let status = span.status.filter(|status| status.code() == StatusCode::Error);
    ReadSpan {
        service: service.to_owned(),
        name: span.name,
        start: span.start_time_unix_nano,
        end: span.end_time_unix_nano,
        attributes: attributes(span.attributes),
        events: span.events.into_iter().map(|event| (event.name, attributes(event.attributes))).collect(),
        error: status.map(|status| status.message),
        children: Vec::new(),
    }
}

fn attributes(pairs: Vec<KeyValue>) -> Map<String, Value> {
    pairs.into_iter().map(|pair| (pair.key, value(pair.value))).collect()
}

fn value(any: Option<AnyValue>) -> Value {
    match any.and_then(|any| any.value) {
        Some(ProtoValue::StringValue(text)) => Value::String(text),
        Some(ProtoValue::BoolValue(flag)) => Value::Bool(flag),
        Some(ProtoValue::IntValue(number)) => json!(number),
        Some(ProtoValue::DoubleValue(number)) => json!(number),
        Some(ProtoValue::ArrayValue(array)) => array.values.into_iter().map(|one| value(Some(one))).collect(),
        Some(ProtoValue::KvlistValue(list)) => Value::Object(attributes(list.values)),
        Some(ProtoValue::BytesValue(_) | ProtoValue::StringValueStrindex(_)) | None => Value::Null,
    }
}

/// The turn that each span is of; what is of none, a handoff or a round, goes with the first turn directly below it.
fn turns(spans: &[ReadSpan], ids: &[Ids], known: &BTreeMap<&(Vec<u8>, Vec<u8>), usize>) -> Vec<Option<u64>> {
    let own: Vec<Option<u64>> = spans.iter().map(|span| span.count(name::SEQ)).collect();
    let mut turns = own.clone();
    for (index, seq) in own.iter().enumerate() {
        let above = known.get(&ids[index].parent).filter(|above| own[**above].is_none());
        if let (Some(&above), Some(seq)) = (above, seq) {
            turns[above] = Some(turns[above].map_or(*seq, |first| first.min(*seq)));
        }
    }
    turns
}

/// Hangs each span below its parent; gives those whose parent is not there.
fn link(spans: &mut [ReadSpan], ids: &[Ids], bad: &mut Vec<BadLine>) -> Vec<usize> {
    let mut known = BTreeMap::new();
    for (index, one) in ids.iter().enumerate() {
        if one.own.0.len() != 16 || one.own.1.len() != 8 {
            bad.push(BadLine { line: one.line, reason: "a span whose ids are not of 16 and 8 bytes".to_owned() });
        } else if known.insert(&one.own, index).is_some() {
            bad.push(BadLine { line: one.line, reason: "a span whose id stands earlier already".to_owned() });
        }
    }
    let mut by_place: Vec<usize> = (0..spans.len()).collect();
    let turns = turns(spans, ids, &known);
    by_place.sort_by_key(|&index| (turns[index], spans[index].start, index));
    let mut tops = Vec::new();
    for index in by_place {
        match known.get(&ids[index].parent) {
            Some(&parent) => spans[parent].children.push(index),
            None => tops.push(index),
        }
    }
    let mut reached = BTreeSet::new();
    let mut open: Vec<(usize, usize)> = tops.iter().map(|&top| (top, 1)).collect();
    while let Some((index, depth)) = open.pop() {
        if depth > DEEPEST {
            bad.push(BadLine { line: ids[index].line, reason: format!("a span more than {DEEPEST} levels deep") });
        } else if reached.insert(index) {
            open.extend(spans[index].children.iter().map(|&child| (child, depth + 1)));
        }
    }
    if bad.is_empty()
        && let Some(lost) = (0..spans.len()).find(|index| !reached.contains(index))
    {
        bad.push(BadLine { line: ids[lost].line, reason: "a span that is its own ancestor".to_owned() });
    }
    tops
}
