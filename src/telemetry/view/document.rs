//! Spans as JSON for programs: written from what was read, without a copy of it.

use serde::Serialize;
use serde_json::{Map, Value};

use super::{span::ReadSpan, stream::BadLine, tree::ReadTrace};
use crate::telemetry::attributes as name;

/// A span, and what stands below it.
#[derive(Serialize)]
pub struct SpanDocument<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<&'static str>,
    service: &'a str,
    name: &'a str,
    trace_id: String,
    span_id: String,
    parent_span_id: Option<String>,
    start_unix_ns: u64,
    duration_ns: u64,
    error: Option<&'a str>,
    attributes: &'a Map<String, Value>,
    events: Vec<EventDocument<'a>>,
    links: Vec<LinkDocument<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    children: Option<Vec<SpanDocument<'a>>>,
}

#[derive(Serialize)]
struct EventDocument<'a> {
    name: &'a str,
    attributes: &'a Map<String, Value>,
}

#[derive(Serialize)]
struct LinkDocument<'a> {
    trace_id: String,
    span_id: String,
    why: &'a str,
}

impl<'a> SpanDocument<'a> {
    /// A span alone, as an object of its own.
    pub fn alone(span: &'a ReadSpan) -> Self {
        Self { event: Some("span"), ..Self::of(span, None) }
    }

    fn tree(trace: &'a ReadTrace, index: usize) -> Self {
        let children = trace.children[index].iter().map(|&child| Self::tree(trace, child)).collect();
        Self::of(&trace.spans[index], Some(children))
    }

    fn of(span: &'a ReadSpan, children: Option<Vec<Self>>) -> Self {
        let events = span.events.iter().map(|(name, attributes)| EventDocument { name, attributes });
        let links = span.links.iter().map(|link| LinkDocument {
            trace_id: link.to.trace_hex(),
            span_id: link.to.span_hex(),
            why: &link.why,
        });
        Self {
            event: None,
            service: &span.service,
            name: &span.name,
            trace_id: span.key.trace_hex(),
            span_id: span.key.span_hex(),
            parent_span_id: span.parent.map(|parent| parent.span_hex()),
            start_unix_ns: span.start,
            duration_ns: span.duration(),
            error: span.error.as_deref(),
            attributes: &span.attributes,
            events: events.collect(),
            links: links.collect(),
            children,
        }
    }
}

/// A conversation: what says which it is, what could not be read, and the tree of spans.
#[derive(Serialize)]
pub struct TraceDocument<'a> {
    event: &'static str,
    conversation: Option<&'a str>,
    finished: bool,
    cut: bool,
    damage: &'a [BadLine],
    spans: Vec<SpanDocument<'a>>,
}

impl<'a> TraceDocument<'a> {
    /// The document of a trace file.
    pub fn of(trace: &'a ReadTrace) -> Self {
        Self {
            event: "trace",
            conversation: trace.head().and_then(|head| head.text(name::CONVERSATION)),
            finished: trace.root().is_some(),
            cut: trace.cut,
            damage: &trace.damage,
            spans: trace.tops.iter().map(|&top| SpanDocument::tree(trace, top)).collect(),
        }
    }
}
