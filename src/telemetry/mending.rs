//! Makes a line of a trace file fit to be sent, whoever wrote it: what a collector refuses takes everything else in its
//! request with it, and what it should have refused blinds whoever looks for the trace later.

use opentelemetry_proto::tonic::{
    collector::trace::v1::ExportTraceServiceRequest,
    common::v1::{AnyValue, KeyValue, any_value::Value},
    trace::v1::Span,
};
use prost::Message;
use serde_json::Value as Json;

use super::{
    attributes as name, content,
    values::{Attribute, Attributes},
};

/// The largest span that is sent, in encoded bytes. Receivers over gRPC take messages of 4 MiB.
pub const SPAN_BYTES: usize = 1 << 20;

/// A line, ready to be sent.
pub struct Mended {
    /// What is sent of it.
    pub request: ExportTraceServiceRequest,
    /// Spans that are left out, since their ids are not of 16 and 8 bytes.
    pub without_ids: usize,
}

/// Reads a line and mends it: spans without whole ids are left out, links and parents without them too, and so are numbers
/// that are not finite; texts of a span that is longer than [`SPAN_BYTES`] are shortened, which it then says.
///
/// # Errors
/// In words, where the line is no export request.
pub fn read(line: &[u8]) -> Result<Mended, String> {
    let mut request = parse(line)?;
    let mut without_ids = 0;
    for resource in &mut request.resource_spans {
        finite(resource.resource.iter_mut().flat_map(|one| [&mut one.attributes]));
        for scope in &mut resource.scope_spans {
            let all = scope.spans.len();
            scope.spans.retain(|span| is_id(&span.trace_id, 16) && is_id(&span.span_id, 8));
            without_ids += all - scope.spans.len();
            scope.spans.iter_mut().for_each(mend);
        }
    }
    Ok(Mended { request, without_ids })
}

/// Reads a line as it stands. Numbers that others wrote as text (`"NaN"`, `"0.5"`) are understood, which the protocol's crate
/// does not do; those that are not finite become no value at all.
///
/// # Errors
/// In words, where the line is no export request.
pub fn parse(line: &[u8]) -> Result<ExportTraceServiceRequest, String> {
    let text = std::str::from_utf8(line).map_err(|_| "not UTF-8".to_owned())?;
    // Some editors begin a file with a mark.
    let text = text.trim_start_matches('\u{feff}').trim();
    if !text.starts_with('{') {
        return Err("no OTLP trace request: not a JSON object".to_owned());
    }
    let parsed = serde_json::from_str(text).or_else(|error| {
        let mut json: Json = serde_json::from_str(text).map_err(|_| error)?;
        read_numbers(&mut json);
        serde_json::from_value(json)
    });
    parsed.map_err(|error| format!("no OTLP trace request: {error}"))
}

fn read_numbers(json: &mut Json) {
    match json {
        Json::Array(values) => values.iter_mut().for_each(read_numbers),
        Json::Object(fields) => {
            if let Some(Json::String(text)) = fields.get("doubleValue") {
                let number = text.parse().ok().and_then(serde_json::Number::from_f64);
                match number {
                    Some(number) => fields.insert("doubleValue".to_owned(), Json::Number(number)),
                    None => fields.remove("doubleValue"),
                };
            }
            fields.values_mut().for_each(read_numbers);
        }
        _ => {}
    }
}

fn is_id(bytes: &[u8], length: usize) -> bool {
    bytes.len() == length && bytes.iter().any(|byte| *byte != 0)
}

fn mend(span: &mut Span) {
    if !is_id(&span.parent_span_id, 8) {
        span.parent_span_id.clear();
    }
    span.links.retain(|link| is_id(&link.trace_id, 16) && is_id(&link.span_id, 8));
    finite(lists(span));
    let halves = std::iter::successors(Some(content::LIMIT_BYTES), |bytes| (*bytes > 64).then_some(bytes / 2));
    for bytes in halves {
        if span.encoded_len() <= SPAN_BYTES {
            return;
        }
        lists(span).flatten().filter_map(|one| one.value.as_mut()).for_each(|value| shorten(value, bytes));
        note(span);
    }
    // What is left is not long, but much.
    while span.encoded_len() > SPAN_BYTES && span.attributes.len() + span.events.len() + span.links.len() > 1 {
        span.events.truncate(span.events.len() / 2);
        span.links.truncate(span.links.len() / 2);
        span.attributes.truncate(span.attributes.len().div_ceil(2));
        note(span);
    }
}

fn note(span: &mut Span) {
    if span.attributes.iter().all(|one| one.key != name::TRUNCATED) {
        span.attributes.splice(0..0, Attributes::new().with(name::TRUNCATED, true).into_inner());
    }
}

/// All lists of attributes of a span.
fn lists(span: &mut Span) -> impl Iterator<Item = &mut Vec<KeyValue>> {
    let events = span.events.iter_mut().map(|event| &mut event.attributes);
    let links = span.links.iter_mut().map(|link| &mut link.attributes);
    std::iter::once(&mut span.attributes).chain(events).chain(links)
}

fn finite<'a>(lists: impl Iterator<Item = &'a mut Vec<KeyValue>>) {
    for list in lists {
        list.retain_mut(|one| one.value.as_mut().is_some_and(is_finite));
    }
}

/// Whether there is a value that may be sent; what it holds that may not is taken out.
fn is_finite(any: &mut AnyValue) -> bool {
    match &mut any.value {
        Some(Value::DoubleValue(number)) => number.value().is_some(),
        Some(Value::ArrayValue(array)) => {
            array.values.retain_mut(is_finite);
            true
        }
        Some(Value::KvlistValue(list)) => {
            finite(std::iter::once(&mut list.values));
            true
        }
        Some(_) => true,
        None => false,
    }
}

/// Shortens texts to about `bytes` each. JSON stays JSON.
fn shorten(any: &mut AnyValue, bytes: usize) {
    match &mut any.value {
        Some(Value::StringValue(text)) if text.len() > bytes => {
            *text = match serde_json::from_str::<Json>(text) {
                Ok(json @ (Json::Object(_) | Json::Array(_) | Json::String(_))) => content::bounded(json, bytes).0,
                _ => content::head(text, bytes).to_owned(),
            };
        }
        Some(Value::BytesValue(data)) => data.truncate(bytes),
        Some(Value::ArrayValue(array)) => array.values.iter_mut().for_each(|one| shorten(one, bytes)),
        Some(Value::KvlistValue(list)) => {
            list.values.iter_mut().filter_map(|one| one.value.as_mut()).for_each(|one| shorten(one, bytes));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]

    use opentelemetry_proto::tonic::common::v1::any_value::Value;
    use prost::Message;
    use serde_json::{Value as Json, json};

    use super::{Mended, SPAN_BYTES, read};

    const TRACE: &str = "00000000000000000000000000000001";

    fn line(spans: Json) -> Vec<u8> {
        json!({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).to_string().into_bytes()
    }

    fn keys(mended: &Mended) -> Vec<String> {
        let span = &mended.request.resource_spans[0].scope_spans[0].spans[0];
        span.attributes.iter().map(|one| one.key.clone()).collect()
    }

    fn attributes(pairs: &[(&str, Json)]) -> Json {
        let pair = |(key, value): &(&str, Json)| json!({"key": key, "value": value});
        let attributes: Vec<Json> = pairs.iter().map(pair).collect();
        json!([{"traceId": TRACE, "spanId": "0000000000000001", "attributes": attributes}])
    }

    #[test]
    fn t39_a_span_without_whole_ids_does_not_take_the_others_with_it() {
        let span = |trace: &str, own: &str| {
            json!({"traceId": trace, "spanId": own, "parentSpanId": "01",
            "links": [{"traceId": "01", "spanId": "01"}]})
        };
        let spans = json!([
            span(TRACE, "0000000000000001"),
            span("0000000000000001", "0000000000000001"),
            span(TRACE, "01"),
            span(TRACE, "0000000000000000"),
        ]);
        let mended = read(&line(spans)).unwrap();
        assert_eq!(mended.without_ids, 3);
        let spans = &mended.request.resource_spans[0].scope_spans[0].spans;
        assert_eq!((spans.len(), spans[0].parent_span_id.len(), spans[0].links.len()), (1, 0, 0));
        for (line, words) in [
            (&b"{\"resourceSpans\": 7}"[..], "no OTLP trace request: invalid type: integer `7`"),
            (b"[1, 2]", "no OTLP trace request: not a JSON object"),
            (b"", "no OTLP trace request: not a JSON object"),
            (b"{\xff}", "not UTF-8"),
        ] {
            assert!(read(line).is_err_and(|error| error.starts_with(words)), "{words}");
        }
        assert!(read("\u{feff}{\"resourceSpans\": []}\r\n".as_bytes()).is_ok());
    }

    #[test]
    fn t41_numbers_that_are_not_finite_are_never_sent() {
        let double = |text: &str| json!({"doubleValue": text});
        let spans = attributes(&[
            ("a", double("NaN")),
            ("b", double("-Infinity")),
            ("c", json!({"doubleValue": "0.5"})),
            ("g", json!({"doubleValue": null})),
            ("d", json!({"arrayValue": {"values": [double("Infinity"), {"intValue": "1"}]}})),
            ("e", json!({"kvlistValue": {"values": [{"key": "f", "value": double("NaN")}]}})),
        ]);
        let mended = read(&line(spans)).unwrap();
        assert_eq!(keys(&mended), ["c", "d", "e"]);
        let text = format!("{:?}", mended.request);
        assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
    }

    #[test]
    fn t38_a_span_that_is_too_long_is_shortened_and_says_so() {
        let messages =
            json!([{"role": "user", "parts": [{"type": "text", "content": "x".repeat(5 << 20)}]}]).to_string();
        let plain = "aaaaaaaaa🌍".repeat(300_000);
        let spans =
            attributes(&[("messages", json!({"stringValue": messages})), ("plain", json!({"stringValue": plain}))]);
        let mended = read(&line(spans)).unwrap();
        assert!(mended.request.encoded_len() <= SPAN_BYTES);
        assert_eq!(keys(&mended), ["rolecall.truncated", "messages", "plain"]);
        let span = &mended.request.resource_spans[0].scope_spans[0].spans[0];
        let Some(Value::StringValue(text)) = span.attributes[1].value.clone().unwrap().value else { panic!() };
        let kept: Json = serde_json::from_str(&text).unwrap();
        assert_eq!(kept[0]["role"], "user");
        // Very many short ones.
        let many: Vec<(String, Json)> =
            (0..60_000).map(|at| (format!("k{at}"), json!({"stringValue": "twenty bytes of text"}))).collect();
        let many: Vec<(&str, Json)> = many.iter().map(|(key, value)| (key.as_str(), value.clone())).collect();
        let mended = read(&line(attributes(&many))).unwrap();
        assert!(mended.request.encoded_len() <= SPAN_BYTES);
        assert_eq!(keys(&mended)[0], "rolecall.truncated");
    }

    #[test]
    fn what_is_well_is_sent_as_it_is() {
        let spans = attributes(&[("a", json!({"stringValue": "x".repeat(100_000)}))]);
        let mended = read(&line(spans.clone())).unwrap();
        assert_eq!(mended.request, serde_json::from_slice(&line(spans)).unwrap());
        assert_eq!(mended.without_ids, 0);
    }
}
