//! Metrics of whole runs, at a collector on loopback.

use std::{
    collections::BTreeMap,
    io::Write,
    net::TcpListener,
    sync::{Arc, Mutex},
    thread,
};

use opentelemetry_proto::tonic::{
    collector::metrics::v1::ExportMetricsServiceRequest,
    common::v1::any_value::Value as ProtoValue,
    metrics::v1::{Metric, metric::Data, number_data_point},
};
use prost::Message;

use crate::{
    cli::{events, rolecall, text},
    jaeger::gate::read,
};

/// Requests by their paths.
type Seen = Arc<Mutex<Vec<(String, Vec<u8>)>>>;

struct Sink {
    url: String,
    seen: Seen,
}

impl Sink {
    fn answering(status: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen = Seen::default();
        let of_thread = seen.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (stream, seen) = (stream.unwrap(), of_thread.clone());
                thread::spawn(move || {
                    while let Some((head, body)) = read(&stream) {
                        let path = head.split_whitespace().nth(1).unwrap().to_owned();
                        seen.lock().unwrap().push((path, body));
                        let head = "content-type: application/x-protobuf\r\ncontent-length: 0\r\n\r\n";
                        (&stream).write_all(format!("HTTP/1.1 {status}\r\n{head}").as_bytes()).ok();
                    }
                });
            }
        });
        Self { url, seen }
    }

    /// The metrics of the last request, by name; how many requests there were.
    fn metrics(&self) -> (BTreeMap<String, Metric>, usize) {
        let seen = self.seen.lock().unwrap();
        let of_metrics: Vec<_> = seen.iter().filter(|(path, _)| path == "/v1/metrics").collect();
        let Some((_, body)) = of_metrics.last() else { return (BTreeMap::new(), 0) };
        let request = ExportMetricsServiceRequest::decode(&body[..]).unwrap();
        let metrics = request.resource_metrics.into_iter().flat_map(|it| it.scope_metrics).flat_map(|it| it.metrics);
        (metrics.map(|metric| (metric.name.clone(), metric)).collect(), of_metrics.len())
    }
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
    let mut command =
        rolecall(&["run", "--topology", "self_debug", "--tasks", "examples/tasks", "--seed", "1", "--json"]);
    command
        .args(["--task-id", "robot-walk", "--samples", "3", "--budget", "programs=4", "--traces"])
        .arg(folder.path());
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", &sink.url).env("OTEL_METRICS_EXPORTER", exporter);
    command.env("OTEL_METRIC_EXPORT_INTERVAL", "200").output().unwrap()
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
    for exporter in ["", "none", "prometheus"] {
        let (sink, folder) = (Sink::answering("200 OK"), tempfile::tempdir().unwrap());
        let output = run(&sink, &folder, exporter);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert_eq!(sink.metrics().1, 0, "{exporter}");
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
