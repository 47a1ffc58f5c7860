//! What a collector would not take is counted and stays in the files; it is delivered later, each span once.

use std::{collections::BTreeMap, time::Duration};

use rolecall::{
    conversation::ConversationRecord,
    telemetry::{Projection, TraceSummary, project},
};

use super::{
    gate::{Gate, Manner},
    play::{Run, pushed, spans_of, written},
    server::{Jaeger, LIMIT, Site},
};
use crate::{stage::talkative, support::seidr};

fn counts(summary: &TraceSummary) -> (u64, u64, u64, u64) {
    (summary.written, summary.acknowledged, summary.refused, summary.waiting())
}

/// Two conversations, and how many spans they have.
fn hold(run: &Run) -> (Vec<ConversationRecord>, u64) {
    let records = run.hold(seidr(2, 4, 12), talkative(), 2);
    let spans: usize = records.iter().map(spans_of).sum();
    assert_eq!(written(&run.files()).values().sum::<usize>(), spans, "the files hold all of them, whatever is sent");
    (records, spans as u64)
}

/// The edges that Jaeger should have counted: each parent and child once.
fn edges(records: &[ConversationRecord]) -> BTreeMap<(String, String), u64> {
    let mut edges: BTreeMap<(String, String), u64> = BTreeMap::new();
    for record in records {
        let told = project(record, Projection::default());
        let service: BTreeMap<_, _> = told.iter().map(|one| (&one.span.span_id, &one.service)).collect();
        for one in told.iter().filter(|one| !one.span.parent_span_id.is_empty()) {
            *edges.entry((service[&one.span.parent_span_id].clone(), one.service.clone())).or_default() += 1;
        }
    }
    edges
}

fn there(site: &Site, records: &[ConversationRecord]) -> bool {
    records.iter().all(|record| site.trace(&record.head.id.trace_id()).len() == spans_of(record))
}

#[test]
fn a42_what_was_not_delivered_is_pushed_later_and_each_edge_is_counted_once() {
    let jaeger = Jaeger::start();
    let site = &jaeger.site;
    let gate = Gate::before(site, Manner::Pass);
    let endpoint = || rolecall::telemetry::Endpoint::at(format!("{}/v1/traces", gate.url).parse().unwrap());
    let page = b"<html>Please log in</html>".to_vec();
    let mut all = Vec::new();
    for (manner, refused, why) in [
        (Manner::Say("503 Service Unavailable", "text/plain", Vec::new()), false, "status 503"),
        (Manner::Say("200 OK", "text/html", page), true, "status 200 but not OTLP: <html>Please log in</html>"),
        (Manner::Say("400 Bad Request", "text/plain", b"no".to_vec()), true, "status 400: no"),
    ] {
        gate.set(manner);
        let run = Run::to(None);
        let (records, spans) = hold(&run);
        // A collector that is busy is asked until no time is left.
        let summary = pushed(&run.files(), endpoint(), if refused { LIMIT } else { Duration::from_secs(2) });
        let expected = if refused { (spans, 0, spans, 0) } else { (spans, 0, 0, spans) };
        assert_eq!(counts(&summary), expected, "{why}");
        let words = summary.words().unwrap();
        assert!(words.contains(why) && words.ends_with("; the files hold all of them"), "{words}");
        assert_eq!(site.trace(&records[0].head.id.trace_id()).len(), 0);
        gate.set(Manner::Pass);
        // One file, then both: the second push leaves out what the first one delivered.
        let (files, taken) = (run.files(), |files| counts(&pushed(files, endpoint(), LIMIT)).1);
        let (first, rest) = (taken(&files[..1]), taken(&files));
        assert!(first > 0 && rest > 0 && first + rest == spans, "{first} + {rest}");
        assert_eq!(counts(&pushed(&files, endpoint(), LIMIT)), (0, 0, 0, 0), "nothing is left");
        assert!(there(site, &records), "{why}");
        all.extend(records);
    }
    assert_eq!(site.dependencies(), edges(&all));
}

#[test]
fn t29_spans_that_a_collector_refused_in_part_are_counted_and_not_sent_again() {
    let site = &Jaeger::shared().site;
    let gate = Gate::before(site, Manner::PassAllBut(5));
    let endpoint = || rolecall::telemetry::Endpoint::at(format!("{}/v1/traces", gate.url).parse().unwrap());
    let run = Run::to(None);
    let (records, spans) = hold(&run);
    let summary = pushed(&run.files(), endpoint(), LIMIT);
    assert_eq!(counts(&summary), (spans, spans - 5, 5, 0));
    assert!(summary.words().unwrap().contains(", 5 refused, 0 not delivered: too old;"), "{summary:?}");
    gate.set(Manner::Pass);
    assert_eq!(counts(&pushed(&run.files(), endpoint(), LIMIT)), (0, 0, 0, 0));
    let seen: usize = records.iter().map(|record| site.trace(&record.head.id.trace_id()).len()).sum();
    assert_eq!(seen as u64, spans - 5);
    // Whoever wants them sent all the same takes the notes of what was acknowledged away.
    for file in run.files() {
        std::fs::remove_file(file.with_extension("jsonl.acked")).unwrap();
    }
    assert_eq!(counts(&pushed(&run.files(), endpoint(), LIMIT)), (spans, spans, 0, 0));
    assert!(there(site, &records));
}

/// As docs/jaeger.md tells people to do it without Rolecall.
#[test]
fn lines_of_a_file_are_taken_as_they_are() {
    let site = &Jaeger::shared().site;
    let run = Run::to(None);
    let (records, _) = hold(&run);
    let client = reqwest::blocking::Client::new();
    for file in run.files() {
        for line in std::fs::read_to_string(file).unwrap().lines() {
            let request = client.post(format!("{}/v1/traces", site.otlp_url())).body(line.to_owned());
            let answer = request.header("content-type", "application/json").send().unwrap();
            assert_eq!(answer.status(), 200);
        }
    }
    assert!(there(site, &records));
}
