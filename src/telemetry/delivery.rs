//! The one thread that sends spans, from the files and not from memory: what is acknowledged is noted beside each file, what
//! is not stays there to be sent later.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read, Seek, SeekFrom},
    mem,
    path::Path,
    sync::Arc,
    thread,
    time::Duration,
};

use opentelemetry_proto::tonic::{
    collector::trace::v1::ExportTraceServiceRequest,
    trace::v1::{ResourceSpans, ScopeSpans},
};
use prost::Message;

use super::{
    Endpoint, acknowledged,
    file::Extent,
    mending,
    outbox::Outbox,
    poster::{Answer, Poster},
};

/// The most that one request holds, in encoded bytes: receivers take 4 MiB or more.
const REQUEST_BYTES: usize = 2 << 20;

/// How long a first span waits for others to share its request.
const LINGER: Duration = Duration::from_millis(100);

const FIRST_BACKOFF: Duration = Duration::from_millis(100);
const LONGEST_BACKOFF: Duration = Duration::from_secs(5);

/// Starts the thread. It ends when the outbox is drained.
pub fn start(endpoint: Endpoint, outbox: Arc<Outbox>) {
    let thread_outbox = outbox.clone();
    let run = move || {
        let closing = CloseOnDrop(thread_outbox);
        match Poster::new(&endpoint) {
            Ok(poster) => deliver(&poster, &closing.0),
            Err(reason) => closing.0.count(|summary| summary.delivery_error = Some(reason)),
        }
    };
    if let Err(error) = thread::Builder::new().name("trace-delivery".to_owned()).spawn(run) {
        outbox.count(|summary| summary.delivery_error = Some(error.to_string()));
        outbox.close();
    }
}

/// Whoever waits for the thread learns that it is over, even by a panic.
struct CloseOnDrop(Arc<Outbox>);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// A request as it is sent, where it need not be mended: none of its spans can be longer than receivers take.
pub fn encoded(request: &ExportTraceServiceRequest) -> Option<Vec<u8>> {
    (request.encoded_len() <= mending::SPAN_BYTES).then(|| request.encode_to_vec())
}

fn deliver(poster: &Poster, outbox: &Outbox) {
    let mut last = None;
    while let Some(unsent) = outbox.wait(last.as_ref(), LINGER) {
        let batch = gather(&unsent, outbox);
        last = batch.pieces.last().map(|piece| piece.file.clone()).or(last);
        let mut all_taken = true;
        for (request, spans) in batch.requests() {
            match send(poster, &request, spans, outbox) {
                Some(taken) => all_taken &= taken,
                None => return,
            }
        }
        for piece in batch.pieces {
            if all_taken && let Err(error) = acknowledged::note(&piece.file, piece.extent) {
                let reason = format!("{}: {error}", acknowledged_name(&piece.file));
                outbox.count(|summary| summary.delivery_error = Some(reason));
            }
            outbox.settled(&piece.file, piece.extent.end);
        }
    }
}

fn acknowledged_name(file: &Path) -> String {
    super::file::acknowledged_path(file).display().to_string()
}

/// Sends one request, as it is encoded, until it is taken (`Some(true)`), refused (`Some(false)`) or no time is left (`None`).
fn send(poster: &Poster, request: &[u8], spans: usize, outbox: &Outbox) -> Option<bool> {
    let spans = spans as u64;
    let mut backoff = FIRST_BACKOFF;
    loop {
        match poster.post_encoded::<ExportTraceServiceRequest>(request) {
            Answer::Taken { rejected, message } => {
                let rejected = rejected.min(spans);
                outbox.count(|summary| {
                    summary.acknowledged += spans - rejected;
                    summary.refused += rejected;
                    if rejected > 0 || !message.is_empty() {
                        summary.delivery_error = Some(message);
                    }
                });
                return Some(true);
            }
            Answer::Refused(reason) => {
                outbox.count(|summary| {
                    summary.refused += spans;
                    summary.delivery_error = Some(reason);
                });
                return Some(false);
            }
            Answer::Later { reason, wait } => {
                outbox.count(|summary| summary.delivery_error = Some(reason));
                if !outbox.pause(backoff, wait) {
                    return None;
                }
                backoff = (backoff * 2).min(LONGEST_BACKOFF);
            }
        }
    }
}

/// How many spans a request holds.
pub fn span_count(request: &ExportTraceServiceRequest) -> usize {
    let scopes = request.resource_spans.iter().flat_map(|resource| &resource.scope_spans);
    scopes.map(|scope| scope.spans.len()).sum()
}

/// A whole number of lines of one file.
struct Piece {
    file: Arc<Path>,
    extent: Extent,
}

/// Lines that are sent together: export requests one behind the other, which are one request.
#[derive(Default)]
struct Batch {
    bytes: Vec<u8>,
    spans: usize,
    pieces: Vec<Piece>,
}

impl Batch {
    fn has_room_for(&self, bytes: usize) -> bool {
        self.bytes.is_empty() || self.bytes.len() + bytes <= REQUEST_BYTES
    }

    /// The requests and how many spans each has; more than one only where a single line is longer than [`REQUEST_BYTES`].
    fn requests(&self) -> Vec<(Vec<u8>, usize)> {
        if self.bytes.is_empty() {
            return Vec::new();
        }
        if self.bytes.len() <= REQUEST_BYTES {
            return vec![(self.bytes.clone(), self.spans)];
        }
        let whole = ExportTraceServiceRequest::decode(self.bytes.as_slice()).unwrap_or_default();
        split(whole.resource_spans).iter().map(|request| (request.encode_to_vec(), span_count(request))).collect()
    }
}

/// Reads as many lines as fit one request, at least one.
fn gather(unsent: &[(Arc<Path>, Extent)], outbox: &Outbox) -> Batch {
    let mut batch = Batch::default();
    for (file, extent) in unsent {
        let mut piece = Piece { file: file.clone(), extent: Extent { start: extent.start, end: extent.start } };
        let complete = match read(*extent, &mut piece, &mut batch, outbox) {
            Ok(complete) => complete,
            Err(error) => {
                // Not to be tried again in this run; the spans stay counted as waiting.
                outbox.count(|summary| summary.delivery_error = Some(format!("{}: {error}", file.display())));
                outbox.settled(file, extent.end);
                true
            }
        };
        if piece.extent.start < piece.extent.end {
            batch.pieces.push(piece);
        }
        if !complete {
            break;
        }
    }
    batch
}

/// Adds lines of `extent` to the batch while they fit; whether all did. What is not kept is read from the file.
fn read(extent: Extent, piece: &mut Piece, batch: &mut Batch, outbox: &Outbox) -> io::Result<bool> {
    while piece.extent.end < extent.end {
        let most = if batch.bytes.is_empty() { usize::MAX } else { REQUEST_BYTES.saturating_sub(batch.bytes.len()) };
        if let Some((encoded, end)) = outbox.take(&piece.file, piece.extent.end, most) {
            batch.bytes.extend(encoded.bytes);
            batch.spans += encoded.spans;
            piece.extent.end = end;
        } else if outbox.has(&piece.file, piece.extent.end) || !read_file(extent, piece, batch, outbox)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Reads lines until one is kept or does not fit; whether the last fitted.
fn read_file(extent: Extent, piece: &mut Piece, batch: &mut Batch, outbox: &Outbox) -> io::Result<bool> {
    let mut file = File::open(&piece.file)?;
    file.seek(SeekFrom::Start(piece.extent.end))?;
    let mut lines = BufReader::new(file.take(extent.end - piece.extent.end));
    let mut line = Vec::new();
    loop {
        line.clear();
        if lines.read_until(b'\n', &mut line)? == 0 {
            // The file is shorter than it was: nothing more will come.
            piece.extent.end = extent.end;
            return Ok(true);
        }
        let request = mending::read(&line).map_err(io::Error::other)?.request;
        if !batch.has_room_for(request.encoded_len()) {
            return Ok(false);
        }
        batch.spans += span_count(&request);
        request.encode_raw(&mut batch.bytes);
        piece.extent.end += line.len() as u64;
        if piece.extent.end >= extent.end || outbox.has(&piece.file, piece.extent.end) {
            return Ok(true);
        }
    }
}

/// Requests of at most [`REQUEST_BYTES`] each; more than one only where a single line is longer.
fn split(spans: Vec<ResourceSpans>) -> Vec<ExportTraceServiceRequest> {
    let whole = ExportTraceServiceRequest { resource_spans: spans };
    if whole.resource_spans.is_empty() {
        return Vec::new();
    }
    if whole.encoded_len() <= REQUEST_BYTES {
        return vec![whole];
    }
    let mut requests = Vec::new();
    let mut current = ExportTraceServiceRequest::default();
    let mut bytes = 0;
    for resource in whole.resource_spans {
        for scope in resource.scope_spans {
            for span in scope.spans {
                let length = span.encoded_len();
                if bytes > 0 && bytes + length > REQUEST_BYTES {
                    requests.push(mem::take(&mut current));
                    bytes = 0;
                }
                bytes += length;
                current.resource_spans.push(ResourceSpans {
                    resource: resource.resource.clone(),
                    scope_spans: vec![ScopeSpans {
                        scope: scope.scope.clone(),
                        spans: vec![span],
                        schema_url: scope.schema_url.clone(),
                    }],
                    schema_url: resource.schema_url.clone(),
                });
            }
        }
    }
    requests.push(current);
    requests
}
