//! Delivery to a collector on loopback that answers as it is told.

use std::{
    collections::VecDeque,
    fs,
    io::Write,
    net::{TcpListener, TcpStream},
    path::Path,
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTracePartialSuccess, ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use prost::Message;
use rolecall::telemetry::{Endpoint, Projection, TraceOptions, TraceSummary, Traces, push};

use super::{
    files::{ids_of, seidr_spans, span_ids, tell},
    story::{self, SECRET, seidr},
};

/// Long enough for a loaded machine; nothing waits for it when all goes well.
const LIMIT: Duration = Duration::from_secs(60);

#[derive(Clone)]
pub struct Reply {
    status: &'static str,
    headers: &'static str,
    body: Vec<u8>,
}

pub fn reply(status: &'static str, headers: &'static str, body: impl Into<Vec<u8>>) -> Reply {
    Reply { status, headers, body: body.into() }
}

fn ok() -> Reply {
    reply("200 OK", "content-type: application/x-protobuf\r\n", "")
}

#[derive(Default)]
struct Seen {
    replies: VecDeque<Reply>,
    requests: usize,
    /// Ids of spans that came with a request answered 200 in the protocol's form.
    taken: Vec<Vec<u8>>,
    largest: usize,
    heads: Vec<String>,
}

pub struct Collector {
    pub url: String,
    seen: Arc<Mutex<Seen>>,
}

impl Collector {
    /// Ids of the spans that it took, in their order.
    pub fn taken(&self) -> Vec<Vec<u8>> {
        self.seen.lock().unwrap().taken.clone()
    }

    /// Gives the replies in turn, then takes everything.
    pub fn start(replies: impl IntoIterator<Item = Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Seen { replies: replies.into_iter().collect(), ..Seen::default() }));
        let of_thread = seen.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let seen = of_thread.clone();
                thread::spawn(move || while serve(stream.as_ref().unwrap(), &seen).is_some() {});
            }
        });
        Self { url, seen }
    }

    fn endpoint(&self) -> Endpoint {
        self.endpoint_with(&[])
    }

    fn endpoint_with(&self, more: &[(&str, &str)]) -> Endpoint {
        let read = |name: &str| match name {
            "OTEL_EXPORTER_OTLP_ENDPOINT" => Some(self.url.clone()),
            _ => more.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()),
        };
        Endpoint::from_env(read).unwrap().unwrap()
    }
}

fn serve(stream: &TcpStream, seen: &Mutex<Seen>) -> Option<()> {
    let (head, body) = crate::jaeger::gate::read(stream)?;
    let request = ExportTraceServiceRequest::decode(&body[..]).ok()?;
    let answer = {
        let mut seen = seen.lock().unwrap();
        let answer = seen.replies.pop_front().unwrap_or_else(ok);
        seen.requests += 1;
        seen.largest = seen.largest.max(body.len());
        seen.heads.push(head);
        if answer.status.starts_with("200") && answer.headers.contains("protobuf") {
            seen.taken.extend(ids_of(&request));
        }
        answer
    };
    let length = answer.body.len();
    let head = format!("HTTP/1.1 {}\r\n{}content-length: {length}\r\n\r\n", answer.status, answer.headers);
    let mut stream = stream;
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(&answer.body).ok()
}

fn options(directory: &Path, endpoint: Endpoint) -> TraceOptions {
    TraceOptions { endpoint: Some(endpoint), ..TraceOptions::new(directory) }
}

/// One conversation, to a collector that first gives these replies.
fn run(directory: &Path, replies: impl IntoIterator<Item = Reply>) -> (Collector, TraceSummary, std::path::PathBuf) {
    let collector = Collector::start(replies);
    let record = seidr(0);
    let traces = Traces::open(record.head.run, options(directory, collector.endpoint()));
    let file = tell(&traces, &record);
    let begin = Instant::now();
    let summary = traces.finish(LIMIT);
    assert!(begin.elapsed() < LIMIT, "everything is settled and the end of the run waits on");
    assert_eq!(span_ids(&file).len() as u64, seidr_spans(), "the file is not whole");
    (collector, summary, file)
}

fn counts(summary: &TraceSummary) -> (u64, u64, u64, u64) {
    (summary.written, summary.acknowledged, summary.refused, summary.waiting())
}

#[test]
fn what_is_in_the_file_arrives_once_and_is_never_sent_again() {
    let directory = tempfile::tempdir().unwrap();
    let (collector, summary, file) = run(directory.path(), []);
    let all = seidr_spans();
    assert_eq!(counts(&summary), (all, all, 0, 0));
    assert_eq!(summary.delivery_error, None);
    let mut taken = collector.seen.lock().unwrap().taken.clone();
    let mut written = span_ids(&file);
    taken.sort();
    written.sort();
    assert_eq!(taken, written);
    let requests = collector.seen.lock().unwrap().requests;
    let again = push(&[file], collector.endpoint(), LIMIT).summary;
    assert_eq!(counts(&again), (0, 0, 0, 0));
    assert_eq!(collector.seen.lock().unwrap().requests, requests);
}

#[test]
fn a_collector_that_is_busy_is_asked_again() {
    let directory = tempfile::tempdir().unwrap();
    let busy = ["429 Too Many Requests", "503 Service Unavailable", "502 Bad Gateway", "504 Gateway Timeout"];
    let (collector, summary, _) = run(directory.path(), busy.map(|status| reply(status, "", "busy")));
    let all = seidr_spans();
    assert_eq!(counts(&summary), (all, all, 0, 0));
    assert!(collector.seen.lock().unwrap().requests >= 5);
}

#[test]
fn a_collector_says_how_long_to_wait() {
    let directory = tempfile::tempdir().unwrap();
    let begin = Instant::now();
    let later = reply("503 Service Unavailable", "retry-after: 1\r\n", "");
    let (_, summary, _) = run(directory.path(), [later]);
    assert_eq!(summary.acknowledged, seidr_spans());
    assert!(begin.elapsed() >= Duration::from_secs(1));
}

#[test]
fn t29_a_200_that_is_not_of_the_protocol_is_a_refusal() {
    let page = "<html><title>Please log in</title></html>";
    for answer in [
        reply("200 OK", "content-type: text/html\r\n", page),
        reply("200 OK", "content-type: text/html\r\n", ""),
        reply("200 OK", "", page),
        reply("302 Found", "location: http://127.0.0.1:9/login\r\n", page),
        reply("400 Bad Request", "content-type: text/plain\r\n", "no"),
        reply("500 Internal Server Error", "", ""),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let status = answer.status;
        let (collector, summary, file) = run(directory.path(), std::iter::repeat_n(answer, 50));
        let all = seidr_spans();
        assert_eq!(counts(&summary), (all, 0, all, 0), "{status}");
        assert!(summary.delivery_error.unwrap().contains(&status[..3]));
        collector.seen.lock().unwrap().replies.clear();
        let later = push(std::slice::from_ref(&file), collector.endpoint(), LIMIT).summary;
        assert_eq!(counts(&later), (all, all, 0, 0), "{status}");
        assert_eq!(push(&[file], collector.endpoint(), LIMIT).summary.written, 0);
    }
}

#[test]
fn t29_a_partial_success_is_counted_and_not_sent_again() {
    let partial = ExportTracePartialSuccess { rejected_spans: 5, error_message: "too old".to_owned() };
    let body = ExportTraceServiceResponse { partial_success: Some(partial) }.encode_to_vec();
    let json = r#"{"partialSuccess":{"rejectedSpans":"5","errorMessage":"too old"}}"#;
    for answer in [
        reply("200 OK", "content-type: application/x-protobuf\r\n", body),
        reply("200 OK", "content-type: application/json\r\n", json),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let record = seidr(0);
        let file = tell(&Traces::open(record.head.run, TraceOptions::new(directory.path())), &record);
        let collector = Collector::start([answer]);
        let summary = push(std::slice::from_ref(&file), collector.endpoint(), LIMIT).summary;
        let all = seidr_spans();
        assert_eq!(counts(&summary), (all, all - 5, 5, 0));
        assert_eq!(summary.delivery_error.as_deref(), Some("too old"));
        assert_eq!(push(&[file], collector.endpoint(), LIMIT).summary.written, 0);
    }
}

#[test]
fn an_absent_collector_leaves_everything_in_the_file_for_later() {
    let directory = tempfile::tempdir().unwrap();
    let absent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1/traces", absent.local_addr().unwrap());
    drop(absent);
    let record = seidr(0);
    let endpoint = Endpoint::at(url.parse().unwrap());
    let traces = Traces::open(record.head.run, options(directory.path(), endpoint));
    let file = tell(&traces, &record);
    let begin = Instant::now();
    let summary = traces.finish(Duration::from_millis(300));
    assert!(begin.elapsed() < LIMIT, "the end of the run hangs");
    let all = seidr_spans();
    assert_eq!(counts(&summary), (all, 0, 0, all));
    assert!(summary.delivery_error.unwrap().contains("cannot connect"));
    assert_eq!(summary.endpoint.unwrap(), url);
    let collector = Collector::start([]);
    assert_eq!(counts(&push(&[file], collector.endpoint(), LIMIT).summary), (all, all, 0, 0));
}

#[test]
fn the_general_path_and_the_headers_are_sent_and_a_secret_that_comes_back_is_masked() {
    let directory = tempfile::tempdir().unwrap();
    let collector = Collector::start([reply("401 Unauthorized", "", format!("bad key {SECRET}"))]);
    let headers = format!("authorization=Bearer%20{SECRET}");
    let endpoint = collector.endpoint_with(&[("OTEL_EXPORTER_OTLP_HEADERS", &headers)]);
    let record = seidr(0);
    let file = tell(&Traces::open(record.head.run, TraceOptions::new(directory.path())), &record);
    let summary = push(&[file], endpoint, LIMIT).summary;
    assert_eq!(summary.delivery_error.as_deref(), Some("status 401: bad key ***"));
    let head = collector.seen.lock().unwrap().heads[0].to_lowercase();
    assert!(head.starts_with("post /v1/traces http/1.1"), "{head}");
    assert!(head.contains("content-type: application/x-protobuf"));
    assert!(head.contains(&format!("authorization: bearer {}", SECRET.to_lowercase())));
}

#[test]
fn requests_are_split_by_their_size_even_inside_a_line() {
    let directory = tempfile::tempdir().unwrap();
    let collector = Collector::start([]);
    let mut record = seidr(0);
    // 80 calls with 64 KiB of prompt and of reply each in one turn: one line of more than 10 MB.
    let turn = Arc::make_mut(&mut record.turns[0]);
    let mut call = story::call(turn, rolecall::llm::Purpose::Draft);
    call.messages[0].content = "p".repeat(100_000);
    call.choices[0].text = "r".repeat(100_000);
    story::log(turn).calls = vec![call; 80];
    let options = TraceOptions {
        projection: Projection { content: true, context: None },
        ..options(directory.path(), collector.endpoint())
    };
    let traces = Traces::open(record.head.run, options);
    let file = tell(&traces, &record);
    let summary = traces.finish(LIMIT);
    assert_eq!(summary.acknowledged, summary.written);
    assert_eq!(summary.written, span_ids(&file).len() as u64);
    let seen = collector.seen.lock().unwrap();
    assert!(seen.requests >= 4, "{} requests", seen.requests);
    assert!(seen.largest < 3 << 20, "{} bytes", seen.largest);
}

#[test]
fn many_conversations_at_once_arrive_whole_from_a_collector_that_stumbles() {
    let directory = tempfile::tempdir().unwrap();
    let stumble = || reply("503 Service Unavailable", "", "");
    let collector = Collector::start([ok(), stumble(), stumble(), ok(), stumble()]);
    let run = seidr(0).head.run;
    let traces = Traces::open(run, options(directory.path(), collector.endpoint()));
    thread::scope(|scope| {
        for worker in 0..4 {
            let traces = &traces;
            scope.spawn(move || (0..10).for_each(|sample| drop(tell(traces, &seidr(worker * 10 + sample)))));
        }
    });
    let summary = traces.finish(LIMIT);
    let all = 40 * seidr_spans();
    assert_eq!(counts(&summary), (all, all, 0, 0));
    let mut taken = collector.seen.lock().unwrap().taken.clone();
    assert_eq!(taken.len() as u64, all);
    taken.sort();
    taken.dedup();
    assert_eq!(taken.len() as u64, all, "a span came twice");
}

#[test]
fn t39_a_damaged_line_is_named_and_the_others_are_delivered() {
    let directory = tempfile::tempdir().unwrap();
    let record = seidr(0);
    let file = tell(&Traces::open(record.head.run, TraceOptions::new(directory.path())), &record);
    let text = fs::read_to_string(&file).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    lines.insert(1, r#"{"resourceSpans": 7}"#);
    fs::write(&file, lines.join("\n") + "\n" + r#"{"resourceSp"#).unwrap();
    let collector = Collector::start([]);
    let pushed = push(std::slice::from_ref(&file), collector.endpoint(), LIMIT);
    let all = seidr_spans();
    assert_eq!(counts(&pushed.summary), (all, all, 0, 0));
    assert_eq!(pushed.unread.len(), 1);
    assert!(pushed.unread[0].to_string().contains(".jsonl:2: "));
    assert_eq!(pushed.cut, std::slice::from_ref(&file));
    assert_eq!(push(&[file], collector.endpoint(), LIMIT).summary.written, 0);
}
