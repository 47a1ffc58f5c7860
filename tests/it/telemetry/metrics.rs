//! Metrics of whole runs, at a collector on loopback.

use std::{
    collections::BTreeMap,
    io::Write,
    net::TcpListener,
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use opentelemetry_proto::tonic::{
    collector::metrics::v1::{ExportMetricsPartialSuccess, ExportMetricsServiceRequest, ExportMetricsServiceResponse},
    common::v1::any_value::Value as ProtoValue,
    metrics::v1::{Metric, metric::Data, number_data_point},
};
use prost::Message;
use rolecall::telemetry::{Metrics, MetricsOptions, TraceSummary};

use super::story;
use crate::{
    cli::{events, rolecall, text},
    jaeger::gate::read,
    store::{model_server::ModelServer, scene::Scene},
};

/// Where metrics are posted, below the general endpoint.
const METRICS_PATH: &str = "/v1/metrics";

/// Requests by their paths.
type Seen = Arc<Mutex<Vec<(String, Vec<u8>)>>>;

struct Sink {
    url: String,
    seen: Seen,
}

impl Sink {
    fn answering(status: &'static str) -> Self {
        Self::saying(status, Vec::new())
    }

    fn saying(status: &'static str, answer: Vec<u8>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen = Seen::default();
        let of_thread = seen.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (stream, seen, answer) = (stream.unwrap(), of_thread.clone(), answer.clone());
                thread::spawn(move || {
                    while let Some((head, body)) = read(&stream) {
                        let path = head.split_whitespace().nth(1).unwrap().to_owned();
                        seen.lock().unwrap().push((path, body));
                        let is_of_metrics = seen.lock().unwrap().last().unwrap().0 == METRICS_PATH;
                        let answer = if is_of_metrics { answer.as_slice() } else { &[] };
                        let length = answer.len();
                        let head = format!("content-type: application/x-protobuf\r\ncontent-length: {length}\r\n\r\n");
                        (&stream).write_all(format!("HTTP/1.1 {status}\r\n{head}").as_bytes()).ok();
                        (&stream).write_all(answer).ok();
                    }
                });
            }
        });
        Self { url, seen }
    }

    /// The metrics of the last request, by name; how many requests there were.
    fn metrics(&self) -> (BTreeMap<String, Metric>, usize) {
        let seen = self.seen.lock().unwrap();
        let of_metrics: Vec<_> = seen.iter().filter(|(path, _)| path == METRICS_PATH).collect();
        let Some((_, body)) = of_metrics.last() else { return (BTreeMap::new(), 0) };
        (by_name(body), of_metrics.len())
    }
}

fn by_name(body: &[u8]) -> BTreeMap<String, Metric> {
    let request = ExportMetricsServiceRequest::decode(body).unwrap();
    let metrics = request.resource_metrics.into_iter().flat_map(|it| it.scope_metrics).flat_map(|it| it.metrics);
    metrics.map(|metric| (metric.name.clone(), metric)).collect()
}

/// The sums of a metric by the value of one attribute.
fn sums(metric: &Metric, by: &str) -> BTreeMap<String, u64> {
    let mut all = BTreeMap::new();
    let mut add = |attributes: &[opentelemetry_proto::tonic::common::v1::KeyValue], amount: u64| {
        let value = attributes.iter().find(|one| one.key == by).and_then(|one| one.value.clone()?.value);
        let key = match value {
            Some(ProtoValue::StringValue(text)) => text,
            _ => String::new(),
        };
        *all.entry(key).or_default() += amount;
    };
    let number = |value: &Option<number_data_point::Value>| match value {
        Some(number_data_point::Value::AsInt(number)) => u64::try_from(*number).unwrap(),
        other => panic!("{other:?}"),
    };
    match metric.data.as_ref().unwrap() {
        Data::Sum(sum) => sum.data_points.iter().for_each(|point| add(&point.attributes, number(&point.value))),
        Data::Gauge(gauge) => gauge.data_points.iter().for_each(|point| add(&point.attributes, number(&point.value))),
        Data::Histogram(all) => {
            all.data_points.iter().for_each(|point| add(&point.attributes, point.sum.unwrap().round() as u64))
        }
        other => panic!("{other:?}"),
    }
    all
}

fn count(metric: &Metric) -> u64 {
    let Some(Data::Histogram(all)) = &metric.data else { panic!("{metric:?}") };
    all.data_points.iter().map(|point| point.count).sum()
}

fn run(sink: &Sink, folder: &tempfile::TempDir, exporter: &str) -> std::process::Output {
    let mut command = command(folder);
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", &sink.url).env("OTEL_METRICS_EXPORTER", exporter).output().unwrap()
}

/// Three conversations.
fn command(folder: &tempfile::TempDir) -> std::process::Command {
    let mut command =
        rolecall(&["run", "--topology", "self_debug", "--tasks", "examples/tasks", "--seed", "1", "--json"]);
    command
        .args(["--task-id", "robot-walk", "--samples", "3", "--budget", "programs=4", "--traces"])
        .arg(folder.path());
    command.env("OTEL_METRIC_EXPORT_INTERVAL", "200");
    command
}

#[test]
fn sums_are_those_of_the_records() {
    let (sink, folder) = (Sink::answering("200 OK"), tempfile::tempdir().unwrap());
    let output = run(&sink, &folder, "otlp");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let mut events = events(&output);
    let run = events.pop().unwrap();
    let total = |key: &str| events.iter().map(|event| event[key].as_u64().unwrap()).sum::<u64>();
    let (metrics, _) = sink.metrics();
    let outcomes = sums(&metrics["rolecall.conversations"], "rolecall.outcome");
    assert_eq!(outcomes.values().sum::<u64>(), 3);
    for event in &events {
        assert!(outcomes.contains_key(event["outcome"].as_str().unwrap()), "{outcomes:?}");
    }
    assert_eq!(count(&metrics["gen_ai.client.operation.duration"]), total("model_calls"));
    let verdicts = sums(&metrics["rolecall.verdicts"], "rolecall.verdict");
    // Each starter was executed as well.
    assert_eq!(verdicts.values().sum::<u64>(), total("programs") + 3, "{verdicts:?}");
    assert_eq!(sums(&metrics["rolecall.verdicts"], "rolecall.language").into_keys().collect::<Vec<_>>(), ["python"]);
    let tokens = sums(&metrics["gen_ai.client.token.usage"], "gen_ai.token.type");
    assert_eq!(tokens.get("input").copied().unwrap_or(0), total("input_tokens"));
    let spans = sums(&metrics["rolecall.spans"], "rolecall.span.state");
    assert_eq!(spans["written"], run["traces"]["written"].as_u64().unwrap());
    assert_eq!(spans["acknowledged"], spans["written"]);
    assert!(!metrics.contains_key("rolecall.restarts"));
    assert!(!text(&output.stderr).contains("metrics:"));
}

#[test]
fn nothing_is_sent_unless_it_is_asked_for() {
    for (exporter, warned) in [("", false), ("none", false), ("prometheus", true)] {
        let (sink, folder) = (Sink::answering("200 OK"), tempfile::tempdir().unwrap());
        let output = run(&sink, &folder, exporter);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert_eq!(sink.metrics().1, 0, "{exporter}");
        assert_eq!(text(&output.stderr).contains("OTEL_METRICS_EXPORTER=`prometheus` is not known here"), warned);
    }
}

#[test]
fn what_is_not_delivered_is_told_and_changes_nothing_else() {
    let (sink, folder) = (Sink::answering("400 Bad Request"), tempfile::tempdir().unwrap());
    let output = run(&sink, &folder, "otlp");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(events(&output).len(), 4);
    let said = text(&output.stderr);
    assert!(said.contains(&format!("metrics: not delivered to {}/v1/metrics: status 400", sink.url)), "{said}");
}

/// The tokens that a server says are those of the records, by kind.
#[test]
fn tokens_are_those_of_the_records() {
    let (sink, server) = (Sink::answering("200 OK"), ModelServer::start(Duration::ZERO));
    let scene = Scene::new(&server);
    let mut command = scene.command(&["run", "--topology", "best_of_n", "--model", "m.toml", "--tasks", "tasks"]);
    command.args(["--budget", "programs=4", "--seed", "1", "--json"]);
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", &sink.url).env("OTEL_METRICS_EXPORTER", "otlp");
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let mut all = events(&output);
    all.retain(|event| event["event"] == "conversation_finished");
    let total = |key: &str| all.iter().filter_map(|event| event[key].as_u64()).sum::<u64>();
    let tokens = sums(&sink.metrics().0["gen_ai.client.token.usage"], "gen_ai.token.type");
    let (input, output) = (total("input_tokens"), total("output_tokens"));
    assert!(input > 0 && output > 0);
    assert_eq!((tokens["input"], tokens["output"]), (input, output));
}

/// The variables of metrics alone: an exact URL, a header, and no collector for spans.
#[test]
fn metrics_have_variables_of_their_own() {
    let (sink, folder) = (Sink::answering("200 OK"), tempfile::tempdir().unwrap());
    let mut command = command(&folder);
    command
        .env("OTEL_METRICS_EXPORTER", "otlp")
        .env("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", format!("{}/mine", sink.url));
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let seen = sink.seen.lock().unwrap();
    assert!(!seen.is_empty() && seen.iter().all(|(path, _)| path == "/mine"), "no span is sent");
    assert!(by_name(&seen.last().unwrap().1).contains_key("rolecall.conversations"));
}

#[test]
fn a_collector_that_never_answers_delays_the_end_by_its_limit_alone() {
    let (gate, folder) = (TcpListener::bind("127.0.0.1:0").unwrap(), tempfile::tempdir().unwrap());
    let mut command = command(&folder);
    // Connections are taken by the system and never read.
    let url = format!("http://{}/v1/metrics", gate.local_addr().unwrap());
    command.env("OTEL_METRICS_EXPORTER", "otlp").env("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", &url);
    command.env("OTEL_EXPORTER_OTLP_METRICS_TIMEOUT", "300");
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(events(&output).len(), 4, "the run is whole");
    assert!(text(&output.stderr).contains(&format!("metrics: not delivered to {url}: ")), "{}", text(&output.stderr));
}

#[test]
fn data_points_that_a_collector_refuses_are_told() {
    let partial = ExportMetricsPartialSuccess { rejected_data_points: 3, error_message: "too old".to_owned() };
    let answer = ExportMetricsServiceResponse { partial_success: Some(partial) }.encode_to_vec();
    let (sink, folder) = (Sink::saying("200 OK", answer), tempfile::tempdir().unwrap());
    let output = run(&sink, &folder, "otlp");
    assert_eq!(output.status.code(), Some(0));
    let said = text(&output.stderr);
    assert!(said.contains("/v1/metrics: 3 data points refused: too old"), "{said}");
}

/// A role that panicked was replaced once.
#[test]
fn a_replaced_role_is_counted() {
    let sink = Sink::answering("200 OK");
    let endpoint = sink.url.clone();
    let variable = |name: &str| match name {
        "OTEL_METRICS_EXPORTER" => Some("otlp".to_owned()),
        "OTEL_EXPORTER_OTLP_ENDPOINT" => Some(endpoint.clone()),
        _ => None,
    };
    let options = MetricsOptions::from_env(variable).unwrap().unwrap();
    let record = story::seidr(0);
    let metrics = Metrics::open(record.head.run, options, "rolecall", &[]);
    record.turns.iter().for_each(|turn| metrics.turn(&record.head, turn));
    metrics.ended(&record.head, &record.end);
    assert_eq!(metrics.finish(&TraceSummary::default(), Duration::from_secs(60)), None);
    let restarts = sums(&sink.metrics().0["rolecall.restarts"], "gen_ai.agent.name");
    assert_eq!(restarts, BTreeMap::from([("executor".to_owned(), 1)]));
}

/// Over gRPC the same arrives.
#[test]
fn metrics_go_over_grpc_too() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let seen = Seen::default();
    let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    runtime.spawn(grpc_sink(listener, seen.clone()));
    let folder = tempfile::tempdir().unwrap();
    let mut command = command(&folder);
    command.env("OTEL_METRICS_EXPORTER", "otlp").env("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", &url);
    let output = command.env("OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "grpc").output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(!text(&output.stderr).contains("metrics:"), "{}", text(&output.stderr));
    let seen = seen.lock().unwrap();
    let (path, body) = seen.last().unwrap();
    assert_eq!(path, "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export");
    assert_eq!(sums(&by_name(&body[5..])["rolecall.conversations"], "rolecall.outcome").values().sum::<u64>(), 3);
}

/// Takes every call, and answers it with an empty message.
async fn grpc_sink(listener: tokio::net::TcpListener, seen: Seen) {
    while let Ok((stream, _)) = listener.accept().await {
        let seen = seen.clone();
        tokio::spawn(async move {
            let mut connection = h2::server::handshake(stream).await.unwrap();
            while let Some(Ok((request, mut respond))) = connection.accept().await {
                let seen = seen.clone();
                tokio::spawn(async move {
                    let path = request.uri().path().to_owned();
                    let (mut body, mut bytes) = (request.into_body(), Vec::new());
                    while let Some(Ok(chunk)) = body.data().await {
                        body.flow_control().release_capacity(chunk.len()).unwrap();
                        bytes.extend_from_slice(&chunk);
                    }
                    seen.lock().unwrap().push((path, bytes));
                    let head = http::Response::builder().header("content-type", "application/grpc").body(()).unwrap();
                    let mut answer = respond.send_response(head, false).unwrap();
                    answer.send_data(bytes::Bytes::from_static(&[0; 5]), false).unwrap();
                    let status = http::HeaderMap::from_iter([(
                        http::HeaderName::from_static("grpc-status"),
                        http::HeaderValue::from_static("0"),
                    )]);
                    answer.send_trailers(status).unwrap();
                });
            }
        });
    }
}
