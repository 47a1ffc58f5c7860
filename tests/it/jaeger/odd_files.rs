//! Trace files that are damaged, odd or huge, pushed to a real Jaeger: what is whole arrives, and nothing harms what is there.

use std::{
    collections::BTreeSet,
    fs,
    path::PathBuf,
    sync::atomic::{AtomicU64, Ordering::SeqCst},
    time::SystemTime,
};

use rolecall::telemetry::{Closing, Endpoint, Pushed, close_open, push};
use serde_json::{Value, json};

use super::{
    play::Run,
    server::{Jaeger, LIMIT},
};
use crate::{stage::talkative, support::seidr};

/// A trace that nobody else knows, and a folder for its file.
struct Odd {
    trace: String,
    folder: tempfile::TempDir,
}

impl Odd {
    fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let trace = format!("{:016x}{:016x}", 0x0dd, NEXT.fetch_add(1, SeqCst));
        Self { trace, folder: tempfile::tempdir().unwrap() }
    }

    /// Span number `own` with these attributes.
    fn span(&self, own: usize, attributes: &Value) -> Value {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_nanos();
        let pairs = attributes.as_object().unwrap().iter();
        let attributes: Vec<Value> = pairs.map(|(key, value)| json!({"key": key, "value": value})).collect();
        json!({
            "traceId": self.trace, "spanId": format!("{own:016x}"), "name": "round", "kind": 1,
            "startTimeUnixNano": now.to_string(), "endTimeUnixNano": (now + 5_000).to_string(),
            "attributes": attributes,
        })
    }

    /// A line of a file, of a service named after the trace.
    fn line(&self, spans: &[Value]) -> String {
        let resource = json!({"attributes": [{"key": "service.name", "value": {"stringValue": self.trace}}]});
        json!({"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": spans}]}]}).to_string()
    }

    fn file(&self, text: impl AsRef<[u8]>) -> PathBuf {
        let file = self.folder.path().join("odd.jsonl");
        fs::write(&file, text).unwrap();
        file
    }

    fn push(&self, text: impl AsRef<[u8]>, endpoint: Endpoint) -> Pushed {
        push(&[self.file(text)], endpoint, LIMIT)
    }
}

/// Spans acknowledged, lines that were unreadable, files that were cut off.
fn came_to(pushed: &Pushed) -> (u64, Vec<usize>, usize) {
    (pushed.summary.acknowledged, pushed.unread.iter().filter_map(|one| one.line).collect(), pushed.cut.len())
}

#[test]
fn t38_a_span_of_any_size_arrives_with_those_around_it() {
    let site = &Jaeger::shared().site;
    for endpoint in [site.endpoint(), site.grpc_endpoint()] {
        let odd = Odd::new();
        let text = |megabytes: usize| json!({"text": {"stringValue": "word ".repeat(megabytes << 18)}});
        let spans: Vec<Value> =
            [3, 3, 3, 5, 22].iter().enumerate().map(|(own, size)| odd.span(own + 1, &text(*size))).collect();
        let small: Vec<Value> = (10..13).map(|own| odd.span(own, &json!({}))).collect();
        let file = odd.line(&spans[..3]) + "\n" + &odd.line(&small) + "\n" + &odd.line(&spans[3..]) + "\n";
        let pushed = odd.push(file, endpoint);
        assert_eq!(came_to(&pushed), (8, Vec::new(), 0), "{:?}", pushed.summary);
        let seen = site.trace(&odd.trace);
        assert_eq!(seen.len(), 8);
        let shortened = seen.iter().filter(|span| span.tag("rolecall.truncated") == "true");
        assert_eq!(shortened.map(|span| span.tag("text").starts_with("word word ")).collect::<Vec<_>>(), [true; 5]);
    }
}

#[test]
fn t39_whole_lines_arrive_and_each_other_line_is_named() {
    let site = &Jaeger::shared().site;
    let odd = Odd::new();
    let good = |own: usize| odd.line(&[odd.span(own, &json!({}))]);
    let short_id = good(9).replace(&odd.trace, &odd.trace[..16]);
    let base64 = good(9).replace(&odd.trace, "AAAAAAAAAAAAAAAAAAAAAQ==");
    let whole = format!("{}\n{}\n", good(1), good(2));
    for (text, expected, in_all) in [
        (whole.clone(), (2, vec![], 0), 2),
        (format!("{}\n{short_id}\n{}\n", good(3), good(4)), (2, vec![2], 0), 4),
        (format!("{}\n{base64}\nno JSON\n{}\n", good(5), good(6)), (2, vec![2, 3], 0), 6),
        (format!("{}\n{}", good(7), &good(8)[..60]), (1, vec![], 1), 7),
        // A whole line needs no end, and line ends may be those of Windows.
        (format!("{}\r\n\r\n{}", good(10), good(11)), (2, vec![], 0), 9),
        (String::new(), (0, vec![], 0), 9),
        ("\n\n".to_owned(), (0, vec![], 0), 9),
    ] {
        let _ = fs::remove_file(odd.folder.path().join("odd.jsonl.acked"));
        let pushed = odd.push(&text, site.endpoint());
        assert_eq!(came_to(&pushed), expected, "{text}");
        assert_eq!((pushed.summary.refused, pushed.summary.waiting()), (0, 0));
        assert_eq!(site.trace(&odd.trace).len(), in_all, "{text}");
    }
}

#[test]
fn t41_no_number_that_is_not_finite_blinds_a_service() {
    let site = &Jaeger::shared().site;
    let odd = Odd::new();
    let bad = json!({
        "pass_rate": {"doubleValue": "NaN"}, "mean": {"doubleValue": null}, "speed": {"doubleValue": "Infinity"},
        "list": {"arrayValue": {"values": [{"doubleValue": "-Infinity"}, {"intValue": "1"}]}}, "kept": {"doubleValue": 0.5},
    });
    let file = odd.line(&[odd.span(1, &bad)]) + "\n" + &odd.line(&[odd.span(2, &json!({}))]) + "\n";
    assert_eq!(came_to(&odd.push(file, site.endpoint())), (2, Vec::new(), 0));
    // Both questions are answered: a span that was not mended makes them fail for ever.
    assert_eq!(site.search(&odd.trace, &[("kept", "0.5")]), BTreeSet::from([odd.trace.clone()]));
    let seen = site.trace(&odd.trace);
    assert_eq!(seen.len(), 2);
    let said: Vec<&str> = seen.iter().flat_map(|span| span.tags.keys()).map(String::as_str).collect();
    assert!(!said.iter().any(|key| ["pass_rate", "mean", "speed"].contains(key)), "{said:?}");

    // Nothing to divide by: a task without tests.
    let run = Run::to(Some(site.endpoint()));
    let record = run.hold_about(crate::support::task(0, None), seidr(2, 4, 4), talkative(), 1).remove(0);
    assert_eq!(run.finish().waiting(), 0);
    let id = record.head.id.trace_id();
    assert!(!site.trace(&id).is_empty());
    assert_eq!(site.search("rolecall", &[("gen_ai.conversation.id", &id)]), BTreeSet::from([id.clone()]));
    assert!(site.search("executor", &[("gen_ai.conversation.id", &id)]).contains(&id));
}

#[test]
fn t43_a_killed_conversation_is_found_closed_once_and_has_no_orphan_after() {
    let site = &Jaeger::shared().site;
    let run = Run::to(None);
    let record = run.hold(seidr(2, 4, 12), talkative(), 1).remove(0);
    let (file, id) = (run.files().remove(0), record.head.id.trace_id());
    // The kill: the rounds and the root, which come last and at once, were not written.
    let text = fs::read_to_string(&file).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    fs::write(&file, lines[..lines.len() - 1].join("\n") + "\n").unwrap();
    let files = std::slice::from_ref(&file);
    assert_eq!(push(files, site.endpoint(), LIMIT).summary.waiting(), 0);
    let warned = |id: &str| site.trace(id).iter().filter(|span| !span.warnings.is_empty()).count();
    assert!(warned(&id) > 0, "the parents of some are not there");
    assert_eq!(site.search("rolecall", &[("gen_ai.conversation.id", &id)]), BTreeSet::from([id.clone()]));

    assert!(matches!(close_open(&file).unwrap(), Closing::Closed(spans) if spans >= 3));
    let closed = push(files, site.endpoint(), LIMIT);
    assert_eq!((closed.summary.written, warned(&id)), (closed.summary.acknowledged, 0));
    let seen = site.trace(&id);
    let ids: BTreeSet<&str> = seen.iter().map(|span| span.id.as_str()).collect();
    assert_eq!(ids.len(), seen.len(), "a span came twice");
    let roots: Vec<_> = seen.iter().filter(|span| span.parent.is_none()).collect();
    assert_eq!(roots.len(), 1);
    assert_eq!((roots[0].name.as_str(), roots[0].tag("rolecall.outcome")), ("invoke_workflow test", "interrupted"));

    assert_eq!(close_open(&file).unwrap(), Closing::WasClosed);
    assert_eq!(push(files, site.endpoint(), LIMIT).summary.written, 0);
    assert_eq!(site.trace(&id).len(), seen.len());
}
