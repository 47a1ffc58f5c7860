//! Nothing is lost on the way to Jaeger: spans of the turns = spans in the files = spans in Jaeger.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    thread,
    time::{Duration, Instant},
};

use rolecall::{
    conversation::ConversationRecord,
    llm::scripted::{Line, Scripted},
    telemetry::{Endpoint, TraceSummary},
};

use super::{
    gate::{Gate, Manner},
    play::{Run, spans_of, trace_ids, written},
    server::{Jaeger, LIMIT, Site, Storage},
};
use crate::{
    stage::talkative,
    support::{mix, seidr},
};

fn endpoint(url: &str) -> Endpoint {
    Endpoint::at(format!("{url}/v1/traces").parse().unwrap())
}

/// The same number of spans was held, written, acknowledged and is in Jaeger, trace by trace.
fn all_there(run: &Run, records: &[ConversationRecord], summary: &TraceSummary, site: &Site) {
    let held: usize = records.iter().map(spans_of).sum();
    let counts = (summary.written, summary.acknowledged, summary.refused, summary.lost);
    assert_eq!(counts, (held as u64, held as u64, 0, 0), "{summary:?}");
    let written = written(&run.files());
    for record in records {
        let id = record.head.id.trace_id();
        assert_eq!((written[&id], site.trace(&id).len()), (spans_of(record), spans_of(record)), "{id}");
    }
    assert_eq!((written.len(), site.count(written.keys())), (records.len(), held));
}

#[test]
fn t30_two_hundred_conversations_at_once_arrive_whole() {
    let site = &Jaeger::shared().site;
    let run = Run::to(Some(site.endpoint()));
    let records = run.hold(seidr(2, 4, 12), talkative(), 200);
    let summary = run.finish();
    assert_eq!(records.len(), 200);
    all_there(&run, &records, &summary, site);
}

#[test]
fn t32_over_grpc_the_same_arrives_and_a_collector_that_is_not_there_loses_nothing() {
    let site = &Jaeger::shared().site;
    let run = Run::to(Some(site.grpc_endpoint()));
    let records = run.hold(seidr(2, 4, 12), talkative(), 20);
    let summary = run.finish();
    all_there(&run, &records, &summary, site);

    let closed = Endpoint { url: "http://127.0.0.1:9".parse().unwrap(), ..site.grpc_endpoint() };
    let run = Run::to(Some(closed));
    let records = run.hold(seidr(2, 4, 4), talkative(), 2);
    let summary = run.finish();
    let held: usize = records.iter().map(spans_of).sum();
    assert_eq!((summary.written, summary.acknowledged), (held as u64, 0), "{summary:?}");
    assert_eq!(written(&run.files()).values().sum::<usize>(), held, "the files hold all of them");
}

#[test]
fn t31_turns_that_panicked_arrive_too() {
    let site = &Jaeger::shared().site;
    let run = Run::to(Some(site.endpoint()));
    let calls = AtomicUsize::new(0);
    let model = Scripted::with(move |request, _| {
        if calls.fetch_add(1, SeqCst) % 7 == 3 {
            return Line::panic("a fault of the model");
        }
        let text = |choice| format!("```python\ndef f(x): return {}\n```", mix(request.seed, choice));
        Line::say_all((0..u64::from(request.choices)).map(text))
    });
    let records = run.hold(seidr(2, 4, 12), Arc::new(model), 8);
    let summary = run.finish();
    let panicked = records.iter().flat_map(|record| &record.turns).filter(|turn| turn.attempts.len() > 1).count();
    assert!(panicked >= 8, "{panicked}");
    all_there(&run, &records, &summary, site);
}

#[test]
fn a_jaeger_that_starts_late_gets_everything() {
    let site = Site::new(Storage::Memory);
    let run = Run::to(Some(site.endpoint()));
    let records = run.hold(seidr(2, 4, 12), talkative(), 5);
    let process = site.start();
    let summary = run.finish();
    all_there(&run, &records, &summary, &site);
    drop(process);
}

#[test]
fn a_jaeger_that_is_stopped_in_the_middle_and_started_again_has_everything() {
    let site = Site::new(Storage::Disk);
    let process = site.start();
    let run = Run::to(Some(site.endpoint()));
    let mut records = run.hold(seidr(2, 4, 12), talkative(), 3);
    let first = trace_ids(&records).remove(0);
    assert!(!site.await_trace(&first, 1).is_empty(), "it is asked while the run goes on");
    process.stop();
    let run_on = Run::to(Some(site.endpoint()));
    records.extend(run_on.hold(seidr(3, 4, 15), talkative(), 3));
    let process = site.start();
    let (before, after) = (run.finish(), run_on.finish());
    all_there(&run, &records[..3], &before, &site);
    all_there(&run_on, &records[3..], &after, &site);
    drop(process);
}

#[test]
fn a_slow_collector_gets_everything() {
    let site = &Jaeger::shared().site;
    let gate = Gate::before(site, Manner::PassAfter(Duration::from_millis(500)));
    let run = Run::to(Some(endpoint(&gate.url)));
    let records = run.hold(seidr(2, 4, 12), talkative(), 40);
    let summary = run.finish();
    all_there(&run, &records, &summary, site);
    assert!(gate.heads().len() > 1, "more than one request, so that one waits for another");
}

#[test]
fn a_busy_collector_gets_everything_when_it_is_free() {
    let site = &Jaeger::shared().site;
    let gate = Gate::before(site, Manner::Say("503 Service Unavailable", "text/plain", b"busy".to_vec()));
    let run = Run::to(Some(endpoint(&gate.url)));
    let records = run.hold(seidr(2, 4, 12), talkative(), 3);
    let begin = Instant::now();
    while gate.heads().len() < 2 && begin.elapsed() < LIMIT {
        thread::sleep(Duration::from_millis(20));
    }
    gate.set(Manner::Pass);
    let summary = run.finish();
    assert_eq!(summary.delivery_error.as_deref(), Some("status 503"), "what went wrong on the way is kept");
    all_there(&run, &records, &summary, site);
}
