//! A span under construction, and how spans are grouped into an export request.

use std::collections::BTreeMap;

use opentelemetry::trace::{SpanId, TraceId};
use opentelemetry_proto::tonic::{
    collector::trace::v1::ExportTraceServiceRequest,
    common::v1::{InstrumentationScope, KeyValue},
    resource::v1::Resource,
    trace::v1::{
        ResourceSpans, ScopeSpans, Span, Status,
        span::{Event, Link, SpanKind},
        status::StatusCode,
    },
};

use super::{
    attributes as name,
    values::{Attribute, Attributes},
    vocabulary,
};

/// The shortest span, in ns: one of length zero is shown as a negative duration.
pub const SHORTEST_NS: u64 = 1_000;

/// Which span of which trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The trace.
    pub trace: TraceId,
    /// The span.
    pub span: SpanId,
}

impl Place {
    /// The span that a W3C trace context names (`00-TRACE-SPAN-FLAGS`); `None` where it names none.
    pub fn of_traceparent(text: &str) -> Option<Self> {
        let mut fields = text.trim().split('-');
        let (version, trace, span, flags) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
        let hexadecimal = |field: &str, digits| {
            field.len() == digits && field.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
        };
        // Later versions may add fields; version ff is forbidden, and 00 has these four alone.
        let known = hexadecimal(version, 2) && version != "ff" && (version != "00" || fields.next().is_none());
        if !known || !hexadecimal(trace, 32) || !hexadecimal(span, 16) || !hexadecimal(flags, 2) {
            return None;
        }
        let place = Self { trace: TraceId::from_hex(trace).ok()?, span: SpanId::from_hex(span).ok()? };
        (place.trace != TraceId::INVALID && place.span != SpanId::INVALID).then_some(place)
    }
}

/// From when to when, in ns of Unix time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    /// Begin.
    pub start: u64,
    /// End; never less than [`SHORTEST_NS`] after the begin.
    pub end: u64,
}

impl Period {
    /// From `start` to `end`, or to just after `start` where that is later.
    pub fn new(start: u64, end: u64) -> Self {
        Self { start, end: end.max(start.saturating_add(SHORTEST_NS)) }
    }

    /// The shortest period that begins at `start`.
    pub fn instant(start: u64) -> Self {
        Self::new(start, start)
    }

    /// Widened until it holds `other`: a parent ends after its children.
    pub fn hold(&mut self, other: Self) {
        self.start = self.start.min(other.start);
        self.end = self.end.max(other.end);
    }
}

/// A finished span and the service that it belongs to.
#[derive(Clone, Debug, PartialEq)]
pub struct ServiceSpan {
    /// `service.name`: the actor's name, or `rolecall` for what the conversation itself does.
    pub service: String,
    /// The span as it goes on the wire.
    pub span: Span,
}

/// A span under construction.
pub struct Draft {
    service: String,
    place: Place,
    parent: Option<SpanId>,
    name: String,
    client: bool,
    period: Period,
    /// Its attributes.
    pub attributes: Attributes,
    events: Vec<Event>,
    links: Vec<Link>,
    status: Option<Status>,
}

impl Draft {
    /// An internal span.
    pub fn new(service: &str, place: Place, parent: Option<SpanId>, name: String, period: Period) -> Self {
        Self {
            service: service.to_owned(),
            place,
            parent,
            name,
            client: false,
            period,
            attributes: Attributes::new(),
            events: Vec::new(),
            links: Vec::new(),
            status: None,
        }
    }

    /// Makes it a call to another service.
    pub fn client(mut self) -> Self {
        self.client = true;
        self
    }

    /// Sets an attribute.
    pub fn set(&mut self, key: &str, value: impl Attribute) -> &mut Self {
        self.attributes.set(key, value);
        self
    }

    /// Adds an event.
    pub fn event(&mut self, event: &str, time_unix_nano: u64, attributes: Attributes) {
        self.events.push(Event {
            time_unix_nano,
            name: event.to_owned(),
            attributes: attributes.into_inner(),
            dropped_attributes_count: 0,
        });
    }

    /// Adds a link; `why` says what it means.
    pub fn link(&mut self, to: Place, why: &str) {
        self.links.push(Link {
            trace_id: to.trace.to_bytes().to_vec(),
            span_id: to.span.to_bytes().to_vec(),
            trace_state: String::new(),
            attributes: Attributes::new().with(name::LINK, why).into_inner(),
            dropped_attributes_count: 0,
            flags: 0,
        });
    }

    /// Marks it as failed.
    pub fn fail(&mut self, error_type: &str, message: String) {
        self.set(name::ERROR_TYPE, error_type);
        self.status = Some(Status { message, code: StatusCode::Error.into() });
    }

    /// The finished span.
    pub fn finish(self) -> ServiceSpan {
        let kind = if self.client { SpanKind::Client } else { SpanKind::Internal };
        let mut attributes = self.attributes.into_inner();
        vocabulary::say_twice(&mut attributes);
        let span = Span {
            trace_id: self.place.trace.to_bytes().to_vec(),
            span_id: self.place.span.to_bytes().to_vec(),
            trace_state: String::new(),
            parent_span_id: self.parent.map(|parent| parent.to_bytes().to_vec()).unwrap_or_default(),
            flags: 0,
            name: self.name,
            kind: kind.into(),
            start_time_unix_nano: self.period.start,
            end_time_unix_nano: self.period.end,
            attributes,
            dropped_attributes_count: 0,
            events: self.events,
            dropped_events_count: 0,
            links: self.links,
            dropped_links_count: 0,
            status: self.status,
        };
        ServiceSpan { service: self.service, span }
    }
}

/// What the resources of all services of a run have in common.
#[derive(Clone, Debug)]
pub struct ResourceOf {
    /// What `OTEL_SERVICE_NAME` says, else `rolecall`.
    pub namespace: String,
    /// The run.
    pub instance: String,
    /// What `OTEL_RESOURCE_ATTRIBUTES` says beyond.
    pub more: Vec<(String, String)>,
}

/// The attributes of one service's resource.
pub fn resource_attributes(service: &str, of: &ResourceOf) -> Vec<KeyValue> {
    let ours = Attributes::new()
        .with(name::SERVICE_NAME, service)
        .with(name::SERVICE_NAMESPACE, of.namespace.as_str())
        .with(name::SERVICE_INSTANCE_ID, of.instance.as_str())
        .with(name::SERVICE_VERSION, env!("CARGO_PKG_VERSION"))
        .with(name::IP, "127.0.0.1");
    of.more.iter().fold(ours, |all, (key, value)| all.with(key, value.as_str())).into_inner()
}

/// One export request: the spans grouped by service, one resource each.
pub fn export_request(spans: Vec<ServiceSpan>, of: &ResourceOf) -> ExportTraceServiceRequest {
    let mut services: BTreeMap<String, Vec<Span>> = BTreeMap::new();
    for one in spans {
        services.entry(one.service).or_default().push(one.span);
    }
    let resource_spans = services
        .into_iter()
        .map(|(service, spans)| {
            let scope = InstrumentationScope {
                name: env!("CARGO_PKG_NAME").to_owned(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                ..InstrumentationScope::default()
            };
            ResourceSpans {
                resource: Some(Resource { attributes: resource_attributes(&service, of), ..Resource::default() }),
                scope_spans: vec![ScopeSpans { scope: Some(scope), spans, schema_url: name::SCHEMA_URL.to_owned() }],
                schema_url: name::SCHEMA_URL.to_owned(),
            }
        })
        .collect();
    ExportTraceServiceRequest { resource_spans }
}

#[cfg(test)]
mod tests {
    use super::Place;

    #[test]
    fn a_trace_context_is_taken_only_where_it_is_whole() {
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
        let place =
            Place::of_traceparent(&format!("00-{trace}-00f067aa0ba902b7-01\n")).map(|place| place.trace.to_string());
        assert_eq!(place.as_deref(), Some(trace));
        assert!(Place::of_traceparent(&format!("cc-{trace}-00f067aa0ba902b7-01-more")).is_some());
        for bad in [
            String::new(),
            "00-x".to_owned(),
            format!("ff-{trace}-00f067aa0ba902b7-01"),
            format!("00-{trace}-00f067aa0ba902b7-01-more"),
            format!("00-{}-00f067aa0ba902b7-01", trace.to_uppercase()),
            format!("00-{trace}-0000000000000000-01"),
            format!("00-{}-00f067aa0ba902b7-01", "0".repeat(32)),
        ] {
            assert_eq!(Place::of_traceparent(&bad), None, "{bad}");
        }
    }
}
