//! `trace push`.

use std::{collections::BTreeSet, fs, net::TcpListener, path::Path};

use rolecall::telemetry::{Projection, ReadTrace, project};
use serde_json::{Value, json};

use super::scene::{Scene, begun, page, stderr};
use crate::telemetry::{
    delivery::{Collector, reply},
    files::{seidr_spans, span_ids},
    story::seidr,
};

fn push(scene: &Scene, endpoint: &str, arguments: &[&str]) -> (Option<i32>, Value, String) {
    let all: Vec<&str> = ["push", "--json"].iter().chain(arguments).copied().collect();
    let output = scene.run_with(&all, &[("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)]);
    let object = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
    (output.status.code(), object, stderr(&output))
}

fn read(file: &Path) -> ReadTrace {
    ReadTrace::read(&fs::read(file).unwrap()[..]).unwrap()
}

fn sorted(mut ids: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    ids.sort();
    ids
}

#[test]
fn a_folder_arrives_once() {
    let scene = Scene::new();
    let files = [scene.write(&seidr(0)), scene.write(&seidr(1))];
    let collector = Collector::start([]);
    let all = 2 * seidr_spans();
    // Named twice, pushed once.
    let (code, said, _) = push(&scene, &collector.url, &["traces", files[0].to_str().unwrap()]);
    assert_eq!((code, &said["files"], &said["spans"]), (Some(0), &json!(2), &json!(all)), "{said}");
    assert_eq!((&said["acknowledged"], &said["files_done_before"]), (&json!(all), &json!(0)));
    assert_eq!(sorted(collector.taken()), sorted(files.iter().flat_map(|file| span_ids(file)).collect()));
    let (code, said, _) = push(&scene, &collector.url, &["traces"]);
    assert_eq!((code, &said["spans"], &said["files_done_before"]), (Some(0), &json!(0), &json!(2)));
    let third = scene.write(&seidr(2));
    let (_, said, _) = push(&scene, &collector.url, &["traces"]);
    assert_eq!((&said["spans"], &said["files_done_before"]), (&json!(seidr_spans()), &json!(2)));
    assert_eq!(collector.taken().len() as u64, all + seidr_spans());
    assert!(third.exists());
    let words = scene.run_with(&["push", "traces"], &[("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url)]);
    let words = String::from_utf8(words.stdout).unwrap();
    assert!(
        words.starts_with("3 files (3 with nothing left to send): 0 spans to send, 0 acknowledged by http"),
        "{words}"
    );
}

#[test]
fn what_is_not_delivered_is_told_by_the_exit_code() {
    let scene = Scene::new();
    let file = scene.write(&seidr(0));
    let refusing = Collector::start(std::iter::repeat_n(reply("400 Bad Request", "", "no such tenant"), 20));
    let (code, said, words) = push(&scene, &refusing.url, &["traces"]);
    assert_eq!((code, &said["refused"]), (Some(1), &json!(seidr_spans())));
    assert!(said["delivery_error"].as_str().unwrap().contains("no such tenant"), "{said} {words}");
    let absent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", absent.local_addr().unwrap());
    drop(absent);
    let (code, said, _) = push(&scene, &url, &["traces", "--wait-secs", "1"]);
    assert_eq!((code, &said["waiting"], &said["acknowledged"]), (Some(1), &json!(seidr_spans()), &json!(0)));
    fs::write(&file, fs::read_to_string(&file).unwrap().replacen('\n', "\nrubbish\n", 1) + "{\"half").unwrap();
    let collector = Collector::start([]);
    let (code, said, words) = push(&scene, &collector.url, &["traces"]);
    assert_eq!((code, &said["acknowledged"]), (Some(2), &json!(seidr_spans())), "{said}");
    assert_eq!((&said["unread"][0]["line"], said["cut"].as_array().unwrap().len()), (&json!(2), 1));
    assert!(words.contains(".jsonl:2: no OTLP trace request"), "{words}");
}

#[test]
fn nothing_goes_out_without_a_collector_or_a_file() {
    let scene = Scene::new();
    scene.write(&seidr(0));
    let (code, _, words) = push(&scene, "", &["traces"]);
    assert_eq!(code, Some(2));
    assert!(words.contains("no collector is named\n  hint: OTEL_EXPORTER_OTLP_ENDPOINT="), "{words}");
    assert_eq!(push(&scene, "http://127.0.0.1:9", &["missing.jsonl"]).0, Some(2));
    assert_eq!(push(&scene, "http://127.0.0.1:9", &[]).0, Some(2));
}

#[test]
fn t43_a_killed_conversation_is_closed_once_with_the_ids_that_it_would_have_had() {
    let scene = Scene::new();
    let record = seidr(0);
    let file = scene.write(&record);
    Scene::cut(&file, 8, 200);
    let before = fs::read_to_string(&file).unwrap();
    let collector = Collector::start([]);
    let (code, said, words) = push(&scene, &collector.url, &["traces", "--close-open"]);
    assert_eq!(code, Some(0), "{words}");
    // The root and two rounds.
    assert_eq!(said["closed"][0]["spans"], 3, "{said}");
    let after = fs::read_to_string(&file).unwrap();
    let whole = &before[..=before.rfind('\n').unwrap()];
    assert!(after.starts_with(whole) && after.ends_with('\n'));
    assert_eq!(sorted(collector.taken()), sorted(span_ids(&file)));

    let trace = read(&file);
    assert_eq!(trace.damage, []);
    assert_eq!(trace.tops.len(), 1, "a parent is not there");
    let would_have: BTreeSet<Vec<u8>> =
        project(&record, Projection::default()).into_iter().map(|one| one.span.span_id).collect();
    assert!(trace.spans.iter().all(|span| would_have.contains(&span.key.span[..])));
    let root = trace.root().unwrap();
    assert_eq!((root.start, root.text("rolecall.outcome")), (record.head.started_ns, Some("interrupted")));
    assert!(trace.spans.iter().all(|span| span.end <= root.end));
    let services: BTreeSet<Option<&str>> = [root].iter().map(|span| Some(span.service.as_str())).collect();
    assert_eq!(services, BTreeSet::from([Some("rolecall")]));
    let resource = |line: &str| serde_json::from_str::<Value>(line).unwrap()["resourceSpans"][0]["resource"].clone();
    assert_eq!(resource(after.lines().last().unwrap()), resource(after.lines().next().unwrap()));
    insta::assert_snapshot!(page(&after));

    let (code, said, _) = push(&scene, &collector.url, &["traces", "--close-open"]);
    assert_eq!((code, &said["spans"], &said["closed"]), (Some(0), &json!(0), &json!([])));
    assert_eq!(fs::read_to_string(&file).unwrap(), after);
    assert_eq!(scene.json(&["list"])[0]["state"], "interrupted");
}

#[test]
fn one_that_goes_on_is_left_alone() {
    let scene = Scene::new();
    let record = seidr(0);
    let mut trace = begun(&scene, &record);
    record.turns[..4].iter().for_each(|turn| trace.turn(turn));
    let collector = Collector::start([]);
    let (code, said, _) = push(&scene, &collector.url, &["traces", "--close-open"]);
    assert_eq!((code, said["running"].as_array().unwrap().len(), &said["closed"]), (Some(0), 1, &json!([])), "{said}");
    assert_eq!(collector.taken().len(), 0, "its run may send it too");
    record.turns[4..].iter().for_each(|turn| trace.turn(turn));
    trace.end(&record.end);
    let file = trace.path().to_owned();
    drop(trace);
    let (_, said, _) = push(&scene, &collector.url, &["traces", "--close-open"]);
    assert_eq!((&said["running"], &said["closed"]), (&json!([]), &json!([])));
    assert_eq!(sorted(collector.taken()), sorted(span_ids(&file)));
    let unknown = scene.folder.path().join("unknown.jsonl");
    fs::write(&unknown, super::scene::line("x", &[super::scene::span(1, 0, "GET", &[])])).unwrap();
    let (code, said, _) = push(&scene, &collector.url, &["unknown.jsonl", "--close-open"]);
    assert_eq!((code, &said["acknowledged"]), (Some(2), &json!(1)));
    assert!(said["unread"][0]["reason"].as_str().unwrap().contains("does not say which conversation"));
}

#[test]
fn a_killed_conversation_in_several_traces_gets_a_root_in_each() {
    use crate::telemetry::story::{Story, candidate};
    let mut story = Story::new(0);
    let mut report = story.execute(0, None, &candidate(rolecall::ids::MessageId::STARTER, None), 0);
    let mut cause = report.id;
    for generation in 1..=400 {
        let repair = story.repair(generation, cause, &report, 1).remove(0);
        report = story.execute(generation, Some(repair.id), &repair, 0);
        cause = report.id;
    }
    let record = story.finish(rolecall::conversation::Outcome::BudgetGenerations);
    let scene = Scene::new();
    let file = scene.write(&record);
    let lines = fs::read_to_string(&file).unwrap().lines().count();
    Scene::cut(&file, lines - 1, 10);
    let collector = Collector::start([]);
    assert_eq!(push(&scene, &collector.url, &["traces", "--close-open"]).0, Some(0));
    let trace = read(&file);
    let expected = project(&record, Projection::default());
    let ids = |spans: BTreeSet<Vec<u8>>| spans;
    assert_eq!(
        ids(trace.spans.iter().map(|span| span.key.span.to_vec()).collect()),
        ids(expected.iter().map(|one| one.span.span_id.clone()).collect()),
    );
    let parents =
        |id: &[u8]| expected.iter().find(|one| one.span.span_id == id).map(|one| one.span.parent_span_id.clone());
    for span in &trace.spans {
        let parent = span.parent.map(|parent| parent.span.to_vec()).unwrap_or_default();
        assert_eq!(parents(&span.key.span), Some(parent));
    }
    assert!(trace.tops.len() >= 2);
}
