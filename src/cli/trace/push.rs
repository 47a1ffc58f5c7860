//! `rolecall trace push`: delivers what a collector has not acknowledged.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    time::Duration,
};

use serde_json::{Value, json};

use super::{args::PushArgs, files};
use crate::{
    cli::{
        exit::{Exit, Failure},
        machine, terminal,
    },
    telemetry::{BadLine, Closing, Endpoint, Pushed, Unread, close_open, push as deliver, trace_files},
};

/// What is to be done where no collector is named.
const NO_COLLECTOR: &str =
    "no collector is named\n  hint: OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318 for one on this machine";

/// What was closed, and what could not be.
#[derive(Default)]
struct Closed {
    files: Vec<(PathBuf, usize)>,
    unread: Vec<Unread>,
}

/// Carries out `rolecall trace push`.
///
/// # Errors
/// A file that is not there, no collector. What could not be delivered or read is told, and by the exit code.
pub fn push(args: &PushArgs) -> Result<Exit, Failure> {
    let endpoint = Endpoint::from_env(machine::variable).map_err(Failure::usage)?;
    let endpoint = endpoint.ok_or_else(|| Failure::usage(NO_COLLECTOR))?;
    let found = find(args)?;
    let closed = if args.close_open { close(&found) } else { Closed::default() };
    let pushed = deliver(&found, endpoint, Duration::from_secs(args.wait_secs));
    if args.json {
        terminal::json(&to_json(found.len(), &closed, &pushed));
    } else {
        say(found.len(), &closed, &pushed);
    }
    tell_unread(closed.unread.iter().chain(&pushed.unread));
    Ok(if pushed.summary.acknowledged < pushed.summary.written {
        Exit::SomeFailed
    } else if pushed.unread.is_empty() && closed.unread.is_empty() {
        Exit::Ended
    } else {
        Exit::Usage
    })
}

/// What was left out, file by file.
fn tell_unread<'a>(unread: impl Iterator<Item = &'a Unread>) {
    let mut lines: BTreeMap<&Path, Vec<BadLine>> = BTreeMap::new();
    for one in unread {
        match one.line {
            Some(line) => lines.entry(&one.file).or_default().push(BadLine { line, reason: one.reason.clone() }),
            None => terminal::talk(&format!("error: {one}")),
        }
    }
    for words in lines.iter().filter_map(|(file, bad)| files::damage(file, bad)) {
        terminal::talk(&format!("error: {words}"));
    }
}

/// Every file once, in the order in which they were named.
fn find(args: &PushArgs) -> Result<Vec<PathBuf>, Failure> {
    let mut found: Vec<PathBuf> = Vec::new();
    for word in &args.files {
        let path = files::find(word, &args.below)?;
        let of_word = if path.is_dir() {
            trace_files(&path).map_err(|error| files::unreadable(&path, &error))?
        } else {
            files::open(&path)?;
            vec![path]
        };
        found.extend(of_word);
    }
    let mut seen = BTreeSet::new();
    found.retain(|file| seen.insert(file.canonicalize().unwrap_or_else(|_| file.clone())));
    Ok(found)
}

fn close(found: &[PathBuf]) -> Closed {
    let mut closed = Closed::default();
    for file in found {
        let mut unread = |reason: String| closed.unread.push(Unread { file: file.clone(), line: None, reason });
        match close_open(file) {
            Ok(Closing::Closed(spans)) => closed.files.push((file.clone(), spans)),
            // What is still written is told when it is not sent.
            Ok(Closing::WasClosed | Closing::IsWritten) => {}
            Ok(Closing::Unknown) => unread("cannot be closed: it does not say which conversation it is".to_owned()),
            Err(error) => unread(format!("cannot be closed: {error}")),
        }
    }
    closed
}

fn say(files: usize, closed: &Closed, pushed: &Pushed) {
    for (file, spans) in &closed.files {
        terminal::data(&format!("{}: closed by {spans} spans", file.display()));
    }
    for file in &pushed.running {
        terminal::talk(&format!("note: {}: left alone: a process still writes it", file.display()));
    }
    for file in &pushed.cut {
        terminal::talk(&format!("note: {}: the last line is cut off; it is passed over", file.display()));
    }
    let summary = &pushed.summary;
    let endpoint = summary.endpoint.as_deref().unwrap_or_default();
    let word = if files == 1 { "file" } else { "files" };
    terminal::data(&format!(
        "{files} {word} ({} with nothing left to send): {} spans to send, {} acknowledged by {endpoint}, {} refused, \
         {} not delivered",
        pushed.done_before,
        summary.written,
        summary.acknowledged,
        summary.refused,
        summary.waiting(),
    ));
    if let Some(why) = summary.delivery_error.as_deref().filter(|_| summary.acknowledged < summary.written) {
        terminal::talk(&format!("error: {why}; the files hold what was not delivered"));
    }
}

fn to_json(files: usize, closed: &Closed, pushed: &Pushed) -> Value {
    let summary = &pushed.summary;
    let path = |path: &Path| path.to_string_lossy().into_owned();
    let closing = |(file, spans): &(PathBuf, usize)| json!({"file": path(file), "spans": spans});
    let unread = |one: &Unread| json!({"file": path(&one.file), "line": one.line, "reason": one.reason});
    json!({
        "event": "pushed",
        "endpoint": summary.endpoint,
        "files": files,
        "files_done_before": pushed.done_before,
        "spans": summary.written,
        "acknowledged": summary.acknowledged,
        "refused": summary.refused,
        "waiting": summary.waiting(),
        "delivery_error": summary.delivery_error,
        "closed": closed.files.iter().map(closing).collect::<Vec<_>>(),
        "running": pushed.running.iter().map(|file| path(file)).collect::<Vec<_>>(),
        "cut": pushed.cut.iter().map(|file| path(file)).collect::<Vec<_>>(),
        "unread": closed.unread.iter().chain(&pushed.unread).map(unread).collect::<Vec<_>>(),
    })
}
