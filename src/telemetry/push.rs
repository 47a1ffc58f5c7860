//! Delivers trace files again: only what no collector has acknowledged yet.

use std::{
    fmt,
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use super::{
    Endpoint, TraceSummary, acknowledged, delivery,
    file::Extent,
    mending,
    outbox::Outbox,
    view::{Hand, MAX_LINE_BYTES, hand},
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
/// A line that is no export request is left out and named in `unread`, as are spans without whole ids and a file that cannot
/// be read; a last line that a kill cut off is passed over; a file that a process still writes is left alone. What is sent is
/// mended first: numbers that are not finite are left out, a span that is too long is shortened. Blocks: not for
/// asynchronous code.
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
    while lines.by_ref().take(MAX_LINE_BYTES as u64 + 1).read_until(b'\n', &mut line)? > 0 {
        number += 1;
        let unread = |reason: String| Unread { file: file.to_path_buf(), line: Some(number), reason };
        if line.len() > MAX_LINE_BYTES {
            pushed.unread.push(unread(format!("longer than {MAX_LINE_BYTES} bytes; nothing after it is sent either")));
            break;
        }
        at = Extent { start: at.end, end: at.end + line.len() as u64 };
        while rest.next_if(|extent| extent.end <= at.start).is_some() {}
        // A line that was sent when it had no end yet is not sent again for its end.
        let text_end = at.start + line.trim_ascii_end().len() as u64;
        if rest.peek().is_some_and(|extent| extent.start < text_end) && !line.trim_ascii().is_empty() {
            match mending::read(&line) {
                Ok(mended) => {
                    let spans = delivery::span_count(&mended.request);
                    if spans > 0 {
                        outbox.appended(file, at, spans, || None);
                        queued += spans;
                    }
                    if mended.without_ids > 0 {
                        let left_out = mended.without_ids;
                        pushed.unread.push(unread(format!("{left_out} spans whose ids are not of 16 and 8 bytes")));
                    }
                }
                // A last line may lack its end and be whole.
                Err(_) if !line.ends_with(b"\n") => pushed.cut.push(file.to_path_buf()),
                Err(reason) => pushed.unread.push(unread(reason)),
            }
        }
        line.clear();
    }
    pushed.done_before += usize::from(queued == 0);
    Ok(())
}
