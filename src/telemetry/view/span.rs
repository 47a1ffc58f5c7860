//! One span of a trace file, as it was read.

use opentelemetry_proto::tonic::{
    common::v1::{AnyValue, KeyValue, any_value::Value as ProtoValue},
    trace::v1::{Span, span::Link, status::StatusCode},
};
use serde_json::{Map, Value, json};

use crate::telemetry::{attributes as name, vocabulary};

/// Which span of which trace: ids as they stand on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SpanKey {
    /// The trace.
    pub trace: [u8; 16],
    /// The span.
    pub span: [u8; 8],
}

impl SpanKey {
    fn of(trace: &[u8], span: &[u8]) -> Option<Self> {
        Some(Self { trace: trace.try_into().ok()?, span: span.try_into().ok()? })
    }

    /// The trace id in hexadecimal digits.
    pub fn trace_hex(&self) -> String {
        hex(&self.trace)
    }

    /// The span id in hexadecimal digits.
    pub fn span_hex(&self) -> String {
        hex(&self.span)
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A link of a span.
#[derive(Clone, Debug)]
pub struct ReadLink {
    /// Where it leads.
    pub to: SpanKey,
    /// What it means; empty where nobody says.
    pub why: String,
}

/// A span as it was read.
#[derive(Clone, Debug)]
pub struct ReadSpan {
    /// Its own ids.
    pub key: SpanKey,
    /// The span above, if any.
    pub parent: Option<SpanKey>,
    /// The line of the file that it is on, from 1.
    pub line: usize,
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
    /// Its links.
    pub links: Vec<ReadLink>,
    /// The description of its error, where it is one.
    pub error: Option<String>,
}

impl ReadSpan {
    /// The span on line `line` as it is read; `None` where its ids are not of 16 and 8 bytes.
    pub fn read(span: Span, service: &str, line: usize) -> Option<Self> {
        let key = SpanKey::of(&span.trace_id, &span.span_id)?;
        let mut of_span = attributes(span.attributes);
        vocabulary::understand(&mut of_span);
        let status = span.status.filter(|status| status.code() == StatusCode::Error);
        Some(Self {
            key,
            parent: SpanKey::of(&span.trace_id, &span.parent_span_id),
            line,
            service: service.to_owned(),
            name: span.name,
            start: span.start_time_unix_nano,
            end: span.end_time_unix_nano,
            attributes: of_span,
            events: span.events.into_iter().map(|event| (event.name, attributes(event.attributes))).collect(),
            links: span.links.into_iter().filter_map(read_link).collect(),
            error: status.map(|status| status.message),
        })
    }

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

    /// Yes or no.
    pub fn flag(&self, key: &str) -> Option<bool> {
        self.attributes.get(key)?.as_bool()
    }

    /// The attributes of its events of this name.
    pub fn events_named<'a>(&'a self, wanted: &'a str) -> impl Iterator<Item = &'a Map<String, Value>> {
        self.events.iter().filter(move |(event, _)| event == wanted).map(|(_, attributes)| attributes)
    }

    /// What a critic's turn said of programs: each with its reward, or none where it could not be scored.
    pub fn rewards(&self) -> Vec<(&str, Option<f64>)> {
        if !self.attributes.contains_key(name::REWARD_SOURCE) {
            return Vec::new();
        }
        let reward = |of: &Map<String, Value>| of.get(name::EVALUATION_SCORE).and_then(Value::as_f64);
        let all = self.events_named(name::EVALUATION);
        all.filter_map(|of| Some((of.get(name::CANDIDATE)?.as_str()?, reward(of)))).collect()
    }

    /// How long it took, in ns.
    pub fn duration(&self) -> u64 {
        self.end.saturating_sub(self.start)
    }

    /// Whether it is the root of a conversation, and not that of a continuation.
    pub fn is_root(&self) -> bool {
        self.attributes.contains_key(name::OUTCOME) && !self.attributes.contains_key(name::PART)
    }

    /// Whether it was written when the conversation, or a continuation of it, began.
    pub fn is_start(&self) -> bool {
        self.name == name::STARTED_SPAN
    }

    /// Whether it is a round.
    pub fn is_round(&self) -> bool {
        self.name == name::ROUND_SPAN
    }

    /// Whether it is a call of a model.
    pub fn is_chat(&self) -> bool {
        self.text(name::OPERATION) == Some("chat")
    }

    /// Whether it is the run of a program against the tests that feed back.
    pub fn is_execution(&self) -> bool {
        self.text(name::TOOL) == Some(crate::telemetry::execution::RUN_TESTS)
    }

    /// Whether it is a turn of an actor: one attempt of it.
    pub fn is_turn(&self) -> bool {
        self.text(name::OPERATION) == Some("invoke_agent") || self.is_execution()
    }
}

fn read_link(link: Link) -> Option<ReadLink> {
    let why = attributes(link.attributes);
    let why = why.get(name::LINK).and_then(Value::as_str).unwrap_or_default().to_owned();
    Some(ReadLink { to: SpanKey::of(&link.trace_id, &link.span_id)?, why })
}

/// Attributes as JSON.
pub fn attributes(pairs: Vec<KeyValue>) -> Map<String, Value> {
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
