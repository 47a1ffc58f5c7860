//! Delivers trace files again: only what no collector has acknowledged yet.

use std::{
    fmt,
    fs::File,
    io::{self, BufRead, BufReader},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;

use super::{
    Endpoint, TraceSummary, acknowledged, delivery,
    file::Extent,
    outbox::Outbox,
    view::{Hand, hand},
};

/// Something that could not be read and so was not sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1; `None` where it is the whole file.
    pub line: Option<usize>,
    /// Why.
    pub reason: String,
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = self.line.map(|line| format!(":{line}")).unwrap_or_default();
        write!(f, "{}{line}: {}", self.file.display(), self.reason)
    }
}

/// What became of files that were pushed.
#[derive(Clone, Debug, Default)]
pub struct Pushed {
    /// What became of the spans that had not been acknowledged; `written` counts these alone.
    pub summary: TraceSummary,
    /// How many files had nothing left to send.
    pub done_before: usize,
    /// What could not be read.
    pub unread: Vec<Unread>,
    /// Files that a process still writes: left alone, since whoever writes may deliver too.
    pub running: Vec<PathBuf>,
    /// Files whose last line a kill cut off: it is passed over.
    pub cut: Vec<PathBuf>,
}

/// Sends what of `files` was not acknowledged. Gives up when for `limit` nothing was taken or refused.
///
/// A line that is no export request is left out and named in `unread`, as is a file that cannot be read; a last line
/// that a kill cut off is passed over; a file that a process still writes is left alone. Blocks: not for asynchronous
/// code.
pub fn push(files: &[PathBuf], endpoint: Endpoint, limit: Duration) -> Pushed {
    let outbox = Arc::new(Outbox::new(Some(endpoint.to_string())));
    let mut pushed = Pushed::default();
    for file in files {
        if hand(file).is_ok_and(|hand| hand == Hand::Held) {
            pushed.running.push(file.clone());
        } else if let Err(error) = queue(&file.as_path().into(), &outbox, &mut pushed) {
            pushed.unread.push(Unread { file: file.clone(), line: None, reason: error.to_string() });
        }
    }
    if outbox.summary().written > 0 {
        delivery::start(endpoint, outbox.clone());
        outbox.drain_while_moving(limit);
    }
    pushed.summary = outbox.summary();
    pushed
}

fn queue(file: &Arc<Path>, outbox: &Outbox, pushed: &mut Pushed) -> io::Result<()> {
    let unsent = acknowledged::unsent(file, std::fs::metadata(file)?.len())?;
    let mut rest = unsent.iter().peekable();
    let mut lines = BufReader::new(File::open(file)?);
    let mut line = Vec::new();
    let mut at = Extent { start: 0, end: 0 };
    let (mut number, mut queued) = (0, 0);
    while lines.read_until(b'\n', &mut line)? > 0 {
        if !line.ends_with(b"\n") {
            pushed.cut.push(file.to_path_buf());
            break;
        }
        number += 1;
        at = Extent { start: at.end, end: at.end + line.len() as u64 };
        while rest.next_if(|extent| extent.end <= at.start).is_some() {}
        if rest.peek().is_some_and(|extent| extent.start < at.end) && !line.trim_ascii().is_empty() {
            match serde_json::from_slice::<ExportTraceServiceRequest>(&line) {
                Ok(request) => {
                    let spans = delivery::span_count(&request);
                    outbox.appended(file, at, spans);
                    queued += spans;
                }
                Err(error) => {
                    let (file, reason) = (file.to_path_buf(), format!("no OTLP trace request: {error}"));
                    pushed.unread.push(Unread { file, line: Some(number), reason });
                }
            }
        }
        line.clear();
    }
    pushed.done_before += usize::from(queued == 0);
    Ok(())
}
