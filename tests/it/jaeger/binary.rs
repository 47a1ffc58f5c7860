//! The built program and a real Jaeger: a run, its end by Ctrl-C and by `kill -9`, and the context that it is started in.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{
    gate::{Gate, Manner},
    play::{files_below, pushed, written},
    server::{Jaeger, LIMIT},
};
use crate::{
    cli::{EASY, events, rolecall, text},
    openai::server::{Answer, Server, answer},
};

/// A run in a folder of its own, whose spans go to `collector`.
pub fn command(folder: &Path, collector: &str, arguments: &[&str]) -> Command {
    let mut command = rolecall(&["run", "--task", EASY, "--seed", "1", "--json"]);
    command.args(arguments).arg("--traces").arg(folder);
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", collector).env_remove("TRACEPARENT");
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn repaired(folder: &Path, collector: &str) -> Command {
    command(folder, collector, &["--topology", "self_debug", "--budget", "programs=3"])
}

/// The ids of the traces of the conversations that ended, and the last event.
pub fn ended(output: &Output) -> (Vec<String>, Value) {
    let mut events = events(output);
    let run = events.pop().unwrap_or_else(|| panic!("{}", text(&output.stderr)));
    assert_eq!(run["event"], "run_finished");
    let id = |event: &Value| event["conversation"].as_str().unwrap().replace('-', "");
    (events.iter().map(id).collect(), run)
}

#[test]
fn a_run_is_in_jaeger_when_it_ends() {
    let site = &Jaeger::shared().site;
    let folder = tempfile::tempdir().unwrap();
    let output = repaired(folder.path(), &site.otlp_url())
        .args(["--samples", "2"])
        .env("OTEL_SERVICE_NAME", "ci")
        .env("TRACEPARENT", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
        .output()
        .unwrap();
    let (ids, run) = ended(&output);
    let written = written(&files_below(folder.path()));
    assert_eq!(ids.iter().collect::<BTreeSet<_>>(), written.keys().collect());
    let spans: usize = written.values().sum();
    let counts = json!([spans, 0, format!("{}/v1/traces", site.otlp_url()), spans, 0, 0, null]);
    let keys = ["written", "lost", "endpoint", "acknowledged", "refused", "waiting", "error"];
    assert_eq!(Value::from(keys.map(|key| run["traces"][key].clone()).to_vec()), counts);
    let said = text(&output.stderr);
    assert!(said.contains(&format!("traces: {spans} spans written, {spans} acknowledged by")), "{said}");
    let actors: BTreeSet<&str> = ["rolecall", "synthesizer", "executor", "debugger"].into();
    for id in &ids {
        let seen = site.trace(id);
        assert_eq!(seen.len(), written[id]);
        let services: BTreeSet<&str> = seen.iter().map(|span| span.service.as_str()).collect();
        assert!(services.is_subset(&actors) && services.len() >= 3, "{services:?}");
        assert!(seen.iter().all(|span| span.resource["service.namespace"] == "ci"));
        assert!(seen.iter().all(|span| span.warnings.is_empty() && !span.failed()));
        // The context is a link of the root, and nobody's parent.
        let context = ("4bf92f3577b34da6a3ce929d0e0e4736".to_owned(), "00f067aa0ba902b7".to_owned());
        let linked: Vec<&str> =
            seen.iter().filter(|span| span.links.contains(&context)).map(|span| span.name.as_str()).collect();
        assert_eq!(linked, ["invoke_workflow self_debug"]);
        assert!(seen.iter().all(|span| span.parent.as_deref() != Some("00f067aa0ba902b7")));
        let roots = seen.iter().filter(|span| span.parent.is_none());
        assert_eq!(roots.map(|span| span.name.as_str()).collect::<Vec<_>>(), ["invoke_workflow self_debug"]);
    }
    assert!(!said.contains("TRACEPARENT"), "{said}");
}

#[test]
fn a_context_that_is_absent_or_malformed_links_nothing() {
    let site = &Jaeger::shared().site;
    for context in
        ["", "00-4bf92f3577b34da6a3ce929d0e0e4736", "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01"]
    {
        let folder = tempfile::tempdir().unwrap();
        let output = repaired(folder.path(), &site.otlp_url()).env("TRACEPARENT", context).output().unwrap();
        let (ids, _) = ended(&output);
        let said = text(&output.stderr);
        assert_eq!(said.contains(&format!("warning: TRACEPARENT is `{context}`")), !context.is_empty(), "{said}");
        let seen = site.trace(&ids[0]);
        assert!(!seen.is_empty());
        assert!(seen.iter().flat_map(|span| &span.links).all(|(trace, _)| *trace == ids[0]), "{context}");
    }
}

#[test]
fn t29_what_a_collector_does_not_take_is_said_and_pushed_later() {
    let site = &Jaeger::shared().site;
    let page = Manner::Say("200 OK", "text/html", b"<html>Please log in</html>".to_vec());
    // The end of the run waits for the second in vain, as long as its one limit allows.
    for (manner, refused, why) in [(page, true, "status 200 but not OTLP"), (Manner::Silence, false, "")] {
        let folder = tempfile::tempdir().unwrap();
        let gate = Gate::before(site, manner);
        let output = repaired(folder.path(), &gate.url).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "the run itself is not touched by it");
        let (ids, run) = ended(&output);
        let files = files_below(folder.path());
        let spans: usize = written(&files).values().sum();
        let (refused, waiting) = if refused { (spans, 0) } else { (0, spans) };
        let traces = &run["traces"];
        assert_eq!((&traces["written"], &traces["acknowledged"]), (&spans.into(), &0.into()));
        assert_eq!((&traces["refused"], &traces["waiting"]), (&refused.into(), &waiting.into()));
        let said = text(&output.stderr);
        let line =
            format!("0 acknowledged by {}/v1/traces, {refused} refused, {waiting} not delivered: {why}", gate.url);
        assert!(said.contains(&line), "{said}");
        assert!(site.trace(&ids[0]).is_empty());
        assert_eq!(pushed(&files, site.endpoint(), LIMIT).acknowledged, spans as u64);
        assert_eq!(site.trace(&ids[0]).len(), spans);
    }
}

/// A model that answers this often and then never again.
async fn model_that_falls_silent(answers: usize) -> Server {
    let reply = |number: usize| {
        let program = format!("```python\nprint({number})\n```");
        let body = json!({
            "choices": [{ "message": { "content": program }, "finish_reason": "stop" }],
            "usage": { "prompt_tokens": 10, "completion_tokens": 5 },
        });
        answer(200, "", body.to_string())
    };
    Server::start((0..answers).map(reply).chain([Answer::Silence]).collect()).await
}

/// A run that is in the middle of its third model call: two programs were written and executed.
async fn in_the_middle(folder: &Path, collector: &str) -> (std::process::Child, Server, PathBuf) {
    let server = model_that_falls_silent(2).await;
    let child = command(folder, collector, &["--topology", "self_debug", "--model", "openai:m"])
        .env("OPENAI_BASE_URL", &server.base_url)
        .env("OPENAI_API_KEY", "k")
        .spawn()
        .unwrap();
    let begin = Instant::now();
    while server.seen().len() < 3 {
        assert!(begin.elapsed() < LIMIT, "the model is not asked a third time");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let file = files_below(folder).remove(0);
    (child, server, file)
}

fn traceparent(head: &str) -> String {
    let value = |line: &str| Some(line.to_lowercase().strip_prefix("traceparent:")?.trim().to_owned());
    head.lines().find_map(value).unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t31_an_interrupted_run_is_in_jaeger_to_its_last_turn() {
    let folder = tempfile::tempdir().unwrap();
    let url = tokio::task::spawn_blocking(|| Jaeger::shared().site.otlp_url()).await.unwrap();
    let (child, server, file) = in_the_middle(folder.path(), &url).await;
    let look = move || {
        // It is found while it runs, before there is a root.
        let (site, id) = (&Jaeger::shared().site, file.file_stem().unwrap().to_str().unwrap().to_owned());
        let begun = site.await_trace(&id, 1);
        let started = begun.iter().find(|span| span.name == "conversation_started").unwrap();
        let run = [("rolecall.run", started.tag("rolecall.run")), ("rolecall.task", "robot-walk")];
        assert_eq!(site.search("rolecall", &run), BTreeSet::from([id]));
        rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::INT).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
        let (ids, run) = ended(&output);
        let spans = written(&[file])[&ids[0]];
        assert_eq!(run["traces"]["acknowledged"], spans);
        let seen = site.trace(&ids[0]);
        assert_eq!(seen.len(), spans);
        let root = seen.iter().find(|span| span.parent.is_none()).unwrap();
        assert_eq!(root.tag("rolecall.outcome"), "cancelled");
        let known: BTreeSet<&str> = seen.iter().map(|span| span.id.as_str()).collect();
        assert!(seen.iter().filter_map(|span| span.parent.as_deref()).all(|parent| known.contains(parent)));
        // The context that went to the model with each request names the span of the call.
        let asked: BTreeSet<String> = server.seen().iter().map(|seen| traceparent(&seen.head)).collect();
        let calls = seen.iter().filter(|span| span.name == "chat m");
        assert_eq!(calls.map(|call| format!("00-{}-{}-01", call.trace, call.id)).collect::<BTreeSet<_>>(), asked);
        let executions = seen.iter().filter(|span| span.name == "execute_tool run_tests").count();
        assert!(executions >= 2, "{executions}");
    };
    tokio::task::spawn_blocking(look).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t43_a_killed_run_is_pushed_from_its_files() {
    let folder = tempfile::tempdir().unwrap();
    let jaeger = tokio::task::spawn_blocking(Jaeger::start).await.unwrap();
    // Nothing arrives while it runs.
    let gate = Gate::before(&jaeger.site, Manner::Silence);
    let (mut child, _server, file) = in_the_middle(folder.path(), &gate.url).await;
    let look = move || {
        // What retired before the third call was asked for is written by then, and nothing more comes.
        thread::sleep(Duration::from_millis(200));
        child.kill().unwrap();
        child.wait().unwrap();
        let (site, files) = (&jaeger.site, [file]);
        let whole = written(&files);
        let (id, spans) = whole.first_key_value().unwrap();
        assert!(*spans >= 5, "the beginning, two programs and their executions: {spans}");
        // A kill may cut a line in two.
        let mut text = fs::read_to_string(&files[0]).unwrap();
        text += "{\"resourceSpans\":[{\"resou";
        fs::write(&files[0], text).unwrap();
        let first = pushed(&files, site.endpoint(), LIMIT);
        assert_eq!((first.written, first.acknowledged, first.waiting()), (*spans as u64, *spans as u64, 0));
        let (seen, edges) = (site.trace(id), site.dependencies());
        assert_eq!(seen.len(), *spans);
        assert!(seen.iter().any(|span| span.name == "conversation_started"), "it can be found without its root");
        assert_eq!(site.search("rolecall", &[("rolecall.task", "robot-walk")]), BTreeSet::from([id.clone()]));
        let again = pushed(&files, site.endpoint(), LIMIT);
        assert_eq!((again.written, site.trace(id).len()), (0, *spans));
        assert_eq!(site.dependencies(), edges, "an edge was counted twice");
    };
    tokio::task::spawn_blocking(look).await.unwrap();
}
