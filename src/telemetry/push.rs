//! Delivers trace files again: only what no collector has acknowledged yet.

use std::{
    fs::File,
    io::{self, BufRead, BufReader},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;

use super::{Endpoint, TraceSummary, acknowledged, delivery, file::Extent, outbox::Outbox};

/// Sends what of `files` was not acknowledged, at most for `limit`. In the summary, `written` counts these spans alone.
///
/// A line that is no export request is left out and named in `disk_error`, as is a file that cannot be read; a last line that
/// a kill cut off is passed over. Blocks: not for asynchronous code.
pub fn push(files: &[PathBuf], endpoint: Endpoint, limit: Duration) -> TraceSummary {
    let outbox = Arc::new(Outbox::new(Some(endpoint.to_string())));
    for file in files {
        if let Err(error) = queue(&file.as_path().into(), &outbox) {
            outbox.lost(0, format!("{}: {error}", file.display()));
        }
    }
    delivery::start(endpoint, outbox.clone());
    outbox.drain(limit);
    outbox.summary()
}

fn queue(file: &Arc<Path>, outbox: &Outbox) -> io::Result<()> {
    let unsent = acknowledged::unsent(file, std::fs::metadata(file)?.len())?;
    let mut lines = BufReader::new(File::open(file)?);
    let mut line = Vec::new();
    let mut at = Extent { start: 0, end: 0 };
    let mut number = 0;
    while lines.read_until(b'\n', &mut line)? > 0 && line.ends_with(b"\n") {
        number += 1;
        at = Extent { start: at.end, end: at.end + line.len() as u64 };
        if unsent.iter().any(|extent| extent.start < at.end && at.start < extent.end) {
            match serde_json::from_slice::<ExportTraceServiceRequest>(&line) {
                Ok(request) => outbox.appended(file, at, delivery::span_count(&request)),
                Err(error) => {
                    outbox.lost(0, format!("{}:{number}: {error}", file.display()));
                }
            }
        }
        line.clear();
    }
    Ok(())
}
