//! Trace files: whole lines, as turns retire, whatever happens.

use std::{collections::BTreeSet, fs, path::Path, sync::Arc, thread, time::Duration};

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use rolecall::{
    conversation::ConversationRecord,
    telemetry::{Projection, TraceOptions, Traces, project},
};

use super::story::seidr;

/// Writes the conversation as a run does.
pub fn tell(traces: &Traces, record: &ConversationRecord) -> std::path::PathBuf {
    let mut trace = traces.conversation(Arc::new(record.head.clone()));
    trace.started();
    record.turns.iter().for_each(|turn| trace.turn(turn));
    trace.end(&record.end);
    trace.path().to_owned()
}

/// Span ids of a file, in its order.
pub fn span_ids(file: &Path) -> Vec<Vec<u8>> {
    let text = fs::read_to_string(file).unwrap();
    assert!(text.ends_with('\n'));
    let requests = text.lines().map(|line| serde_json::from_str::<ExportTraceServiceRequest>(line).unwrap());
    requests.flat_map(|request| ids_of(&request)).collect()
}

/// Span ids of a request.
pub fn ids_of(request: &ExportTraceServiceRequest) -> Vec<Vec<u8>> {
    let scopes = request.resource_spans.iter().flat_map(|resource| &resource.scope_spans);
    scopes.flat_map(|scope| &scope.spans).map(|span| span.span_id.clone()).collect()
}

fn sorted(ids: impl IntoIterator<Item = Vec<u8>>) -> Vec<Vec<u8>> {
    let set: BTreeSet<Vec<u8>> = ids.into_iter().collect();
    set.into_iter().collect()
}

#[test]
fn a_file_holds_every_span_once_and_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let record = seidr(0);
    let traces = Traces::open(record.head.run, TraceOptions::new(directory.path()));
    let file = tell(&traces, &record);
    let expected = directory.path().join(record.head.run.to_string()).join(record.head.id.trace_id() + ".jsonl");
    assert_eq!(file, expected);
    let ids = span_ids(&file);
    let projected = project(&record, Projection::default());
    assert_eq!(ids.len(), projected.len());
    assert_eq!(sorted(ids), sorted(projected.into_iter().map(|one| one.span.span_id)));
    let summary = traces.finish(Duration::from_secs(60));
    assert_eq!((summary.written, summary.lost, summary.waiting()), (seidr_spans(), 0, 0));
    assert_eq!(summary.endpoint, None);
}

/// Spans of one [`seidr`] conversation.
pub fn seidr_spans() -> u64 {
    project(&seidr(0), Projection::default()).len() as u64
}

#[test]
fn a_conversation_that_is_cut_off_leaves_what_had_retired() {
    let directory = tempfile::tempdir().unwrap();
    let record = seidr(0);
    let traces = Traces::open(record.head.run, TraceOptions::new(directory.path()));
    let mut trace = traces.conversation(Arc::new(record.head.clone()));
    trace.started();
    assert_eq!(span_ids(trace.path()).len(), 1);
    let mut before = 1;
    for turn in &record.turns {
        trace.turn(turn);
        let now = span_ids(trace.path()).len();
        assert!(now > before, "turn {} is not in the file", turn.seq);
        before = now;
    }
    let path = trace.path().to_owned();
    drop(trace);
    assert_eq!(span_ids(&path).len(), before);
}

#[test]
fn a_conversation_that_is_told_again_replaces_its_file() {
    let directory = tempfile::tempdir().unwrap();
    let record = seidr(0);
    let traces = Traces::open(record.head.run, TraceOptions::new(directory.path()));
    let first = fs::read(tell(&traces, &record)).unwrap();
    let second = fs::read(tell(&traces, &record)).unwrap();
    assert_eq!(first, second);
}

#[test]
fn a_disk_that_refuses_is_counted_and_stops_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let blocked = directory.path().join("traces");
    fs::write(&blocked, "a file where a folder should be").unwrap();
    let record = seidr(0);
    let traces = Traces::open(record.head.run, TraceOptions::new(&blocked));
    tell(&traces, &record);
    tell(&traces, &seidr(1));
    let summary = traces.finish(Duration::ZERO);
    assert_eq!((summary.written, summary.lost), (0, 2 * seidr_spans()));
    assert!(summary.disk_error.unwrap().contains(".jsonl: "));
}

#[test]
fn conversations_of_several_threads_do_not_meet() {
    let directory = tempfile::tempdir().unwrap();
    let run = seidr(0).head.run;
    let traces = Traces::open(run, TraceOptions::new(directory.path()));
    thread::scope(|scope| {
        for sample in 0..8 {
            let traces = &traces;
            scope.spawn(move || tell(traces, &seidr(sample)));
        }
    });
    assert_eq!(traces.summary().written, 8 * seidr_spans());
    for entry in fs::read_dir(directory.path().join(run.to_string())).unwrap() {
        assert_eq!(span_ids(&entry.unwrap().path()).len() as u64, seidr_spans());
    }
}
