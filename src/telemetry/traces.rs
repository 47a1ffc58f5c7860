//! What a run does with traces: opens them, gives each conversation its own, and says at the end what became of the spans.

use std::{
    path::PathBuf,
    sync::{Arc, OnceLock, mpsc},
    time::{Duration, Instant},
};

use futures_util::future::BoxFuture;
use tokio::sync::oneshot;

use super::{
    Endpoint, TraceSummary, delivery,
    file::TraceFile,
    outbox::Outbox,
    projection::{CONVERSATION_SERVICE, Projection, Projector},
    sampler::Sampler,
    settings::{Resource, unknown_exporters, without_effect},
    span::{self, Place, ServiceSpan},
    writing::{self, Note},
};
use crate::{
    conversation::{ConversationEnd, ConversationHead, Observer},
    ids::{ConversationId, RunId, trace_id},
    runtime::TurnRecord,
};

/// How a run is traced.
#[derive(Clone, Debug)]
pub struct TraceOptions {
    /// The folder that holds one folder a run.
    pub directory: PathBuf,
    /// What goes on the spans.
    pub projection: Projection,
    /// `service.namespace` of every span.
    pub namespace: String,
    /// Further attributes of every resource.
    pub resource: Vec<(String, String)>,
    /// Which conversations are sent.
    pub sampler: Sampler,
    /// What the environment says that has no effect, or cannot be followed and is passed over.
    pub warnings: Vec<String>,
    /// The collector that spans are sent to; `None` leaves them in the files.
    pub endpoint: Option<Endpoint>,
}

impl TraceOptions {
    /// Files only, in `directory`, without content.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self {
            directory: directory.into(),
            projection: Projection::default(),
            namespace: CONVERSATION_SERVICE.to_owned(),
            resource: Vec::new(),
            sampler: Sampler::default(),
            warnings: Vec::new(),
            endpoint: None,
        }
    }

    /// As the environment says: `OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT`, `OTEL_SERVICE_NAME` (the namespace,
    /// since each actor is a service of its own), `OTEL_RESOURCE_ATTRIBUTES`, `OTEL_TRACES_SAMPLER`, `TRACEPARENT` (linked by each
    /// root; one that is not whole is passed over) and the collector's variables; `variable` reads one of them.
    ///
    /// # Errors
    /// Where the collector's variables cannot be followed.
    pub fn from_env(
        directory: impl Into<PathBuf>,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, super::EndpointError> {
        let mut options = Self::new(directory);
        let content = variable("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT");
        options.projection.content = content.is_some_and(|value| value.trim().eq_ignore_ascii_case("true"));
        options.projection.context = variable("TRACEPARENT").as_deref().and_then(Place::of_traceparent);
        let Resource { namespace, attributes, warning } = Resource::from_env(&variable);
        options.namespace = namespace.unwrap_or(options.namespace);
        options.resource = attributes;
        options.warnings = warning.into_iter().chain(without_effect(&variable)).collect();
        options.warnings.extend(unknown_exporters(&variable));
        options.sampler = Sampler::from_env(&variable)?;
        options.endpoint = Endpoint::from_env(variable)?;
        Ok(options)
    }
}

/// What all traces of a run have in common.
pub(super) struct Desk {
    run: RunId,
    options: TraceOptions,
    outbox: Arc<Outbox>,
}

impl Desk {
    /// The trace of one conversation.
    pub(super) fn conversation(&self, head: Arc<ConversationHead>) -> ConversationTrace {
        let head_id = head.id;
        ConversationTrace {
            file: TraceFile::new(self.path(head.id)),
            projector: Projector::new(head, self.options.projection),
            pending: Vec::new(),
            resource: span::ResourceOf {
                namespace: self.options.namespace.clone(),
                instance: self.run.to_string(),
                more: self.options.resource.clone(),
            },
            is_sent: self.options.sampler.takes(trace_id(head_id)),
            outbox: self.outbox.clone(),
        }
    }

    /// Spans could not be written; said once.
    pub(super) fn lost(&self, spans: usize, error: &str) {
        if self.outbox.lost(spans, error.to_owned()) {
            tracing::warn!(error, "traces cannot be written");
        }
    }

    fn path(&self, conversation: ConversationId) -> PathBuf {
        let file = format!("{}.jsonl", conversation.trace_id());
        self.options.directory.join(self.run.to_string()).join(file)
    }
}

/// The traces of one run. Shared by the threads of its conversations, which it observes: what they have done is written by a
/// thread of its own, turn by turn, and the trace of a conversation is whole in its file before the conversation counts as over.
pub struct Traces {
    desk: Arc<Desk>,
    writer: OnceLock<mpsc::Sender<Note>>,
}

impl Traces {
    /// Opens the traces of `run` and, where there is a collector, starts the thread that sends. No file is touched before the
    /// first conversation, and no fault of the disk or the collector ever reaches the run: they are counted.
    pub fn open(run: RunId, options: TraceOptions) -> Self {
        let name = options.endpoint.as_ref().map(ToString::to_string);
        let outbox = Arc::new(Outbox::new(name));
        if let Some(endpoint) = &options.endpoint {
            delivery::start(endpoint.clone(), outbox.clone());
        }
        Self { desk: Arc::new(Desk { run, options, outbox }), writer: OnceLock::new() }
    }

    /// The file of a conversation: `<directory>/<run>/<conversation>.jsonl`, the conversation written as its trace id.
    pub fn path(&self, conversation: ConversationId) -> PathBuf {
        self.desk.path(conversation)
    }

    /// The trace of one conversation, for whoever writes it turn by turn by himself.
    pub fn conversation(&self, head: Arc<ConversationHead>) -> ConversationTrace {
        self.desk.conversation(head)
    }

    /// What has become of the spans so far.
    pub fn summary(&self) -> TraceSummary {
        self.desk.outbox.summary()
    }

    /// Waits until what was told is written and delivered, at most for `limit`, and says what became of the spans. What is still
    /// waiting then stays in the files. Blocks: not for asynchronous code.
    pub fn finish(&self, limit: Duration) -> TraceSummary {
        let begun = Instant::now();
        if self.writer.get().is_some() {
            let (done, written) = mpsc::channel();
            self.tell(Note::Flush(done));
            // Where it takes too long, the summary says what is there.
            let _ = written.recv_timeout(limit);
        }
        self.desk.outbox.drain(limit.saturating_sub(begun.elapsed()));
        self.desk.outbox.summary()
    }

    fn tell(&self, note: Note) {
        if self.writer.get_or_init(|| writing::start(self.desk.clone())).send(note).is_err() {
            self.desk.lost(1, "the thread that writes traces is gone");
        }
    }
}

impl Observer for Traces {
    fn started(&self, head: &Arc<ConversationHead>) {
        self.tell(Note::Started(head.clone()));
    }

    fn retired(&self, head: &ConversationHead, turn: &Arc<TurnRecord>) {
        self.tell(Note::Retired(head.id, turn.clone()));
    }

    fn ended<'a>(&'a self, head: &'a ConversationHead, end: &'a ConversationEnd) -> BoxFuture<'a, ()> {
        let (whole, written) = oneshot::channel();
        self.tell(Note::Ended(head.id, Box::new(end.clone()), whole));
        // A thread that is gone has been told of.
        Box::pin(async { drop(written.await) })
    }
}

/// The trace of one conversation, written while it goes on: each line is whole, so that a kill at any point leaves a file
/// that reads.
pub struct ConversationTrace {
    projector: Projector,
    file: TraceFile,
    /// Spans that are not in the file yet.
    pending: Vec<ServiceSpan>,
    resource: span::ResourceOf,
    is_sent: bool,
    outbox: Arc<Outbox>,
}

impl ConversationTrace {
    /// Where it is written.
    pub fn path(&self) -> &std::path::Path {
        self.file.path()
    }

    /// The conversation begins.
    pub fn started(&mut self) {
        self.take_start();
        self.write();
    }

    /// A turn has retired. Turns come in the order of `seq`, once each.
    pub fn turn(&mut self, turn: &TurnRecord) {
        self.take_turn(turn);
        self.write();
    }

    /// The conversation is over.
    pub fn end(&mut self, end: &ConversationEnd) {
        let spans = self.projector.end(end);
        self.pending.extend(spans);
        self.write();
    }

    /// As [`ConversationTrace::started`], without writing it yet.
    pub(super) fn take_start(&mut self) {
        let spans = self.projector.started();
        self.pending.extend(spans);
    }

    /// As [`ConversationTrace::turn`], without writing it yet.
    pub(super) fn take_turn(&mut self, turn: &TurnRecord) {
        let spans = self.projector.turn(turn);
        self.pending.extend(spans);
    }

    /// Writes what is not in the file yet, as one line.
    pub(super) fn write(&mut self) {
        let spans = std::mem::take(&mut self.pending);
        if spans.is_empty() {
            return;
        }
        let count = spans.len();
        let request = span::export_request(spans, &self.resource);
        match self.file.append(&request) {
            Ok(line) if self.is_sent => {
                self.outbox.appended(self.file.path(), line, count, || delivery::encoded(&request))
            }
            Ok(_) => self.outbox.left_out(count),
            Err(error) => {
                if self.outbox.lost(count, format!("{}: {error}", self.file.path().display())) {
                    tracing::warn!(file = %self.file.path().display(), %error, "a trace cannot be written");
                }
            }
        }
    }
}
