use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        mpsc::{self, Receiver, RecvTimeoutError, Sender},
    },
    thread,
    time::{Duration, Instant},
};

use opentelemetry_proto::tonic::{
    collector::metrics::v1::ExportMetricsServiceRequest,
    common::v1::InstrumentationScope,
    metrics::v1::{ResourceMetrics, ScopeMetrics},
    resource::v1::Resource,
};

use super::{projection, registry::Registry};
use crate::{
    conversation::{ConversationEnd, ConversationHead},
    ids::RunId,
    runtime::{TurnRecord, now_unix_nanos},
    telemetry::{
        Endpoint, EndpointError, ResourceOf, TraceSummary, attributes as name,
        poster::{Answer, Poster},
        projection::CONVERSATION_SERVICE,
        span::resource_attributes,
    },
};

const INTERVAL: &str = "OTEL_METRIC_EXPORT_INTERVAL";

/// How often metrics are sent where the environment says nothing (SDK specification).
const DEFAULT_INTERVAL: Duration = Duration::from_secs(60);

/// Between two tries to send the last of a run.
const PAUSE: Duration = Duration::from_millis(200);

/// Where metrics go and how often.
#[derive(Clone, Debug)]
pub struct MetricsOptions {
    endpoint: Endpoint,
    interval: Duration,
}

impl MetricsOptions {
    /// What the environment says; `None` unless `OTEL_METRICS_EXPORTER=otlp` and a collector is named.
    ///
    /// # Errors
    /// Where a variable is set and cannot be followed.
    pub fn from_env(variable: impl Fn(&str) -> Option<String>) -> Result<Option<Self>, EndpointError> {
        let Some(endpoint) = Endpoint::of_metrics(&variable)? else { return Ok(None) };
        let interval = match variable(INTERVAL).filter(|value| !value.trim().is_empty()) {
            Some(value) => match value.trim().parse() {
                Ok(milliseconds @ 1..) => Duration::from_millis(milliseconds),
                _ => return Err(EndpointError::Timeout { variable: INTERVAL, value }),
            },
            None => DEFAULT_INTERVAL,
        };
        Ok(Some(Self { endpoint, interval }))
    }
}

/// The metrics of a run. No fault of the collector ever reaches the run.
pub struct Metrics {
    shared: Arc<Shared>,
    // Dropped when the run is over, which the thread hears.
    going_on: Mutex<Option<Sender<()>>>,
    outcome: Mutex<Receiver<Option<String>>>,
    endpoint: String,
}

struct Shared {
    registry: Mutex<Registry>,
    resource: ResourceOf,
    started_ns: u64,
}

impl Metrics {
    /// Begins to count for `run`, and starts the thread that sends.
    pub fn open(run: RunId, options: MetricsOptions, namespace: &str, more: &[(String, String)]) -> Self {
        let resource = ResourceOf { namespace: namespace.to_owned(), instance: run.to_string(), more: more.to_vec() };
        let shared = Arc::new(Shared { registry: Mutex::default(), resource, started_ns: now_unix_nanos() });
        let (going_on, over) = mpsc::channel();
        let (tell, outcome) = mpsc::channel();
        let endpoint = options.endpoint.to_string();
        let thread = {
            let (shared, tell) = (shared.clone(), tell.clone());
            let run = move || drop(tell.send(report(&shared, &options, &over)));
            thread::Builder::new().name("metrics".to_owned()).spawn(run)
        };
        if let Err(error) = thread {
            let _ = tell.send(Some(error.to_string()));
        }
        Self { shared, going_on: Mutex::new(Some(going_on)), outcome: Mutex::new(outcome), endpoint }
    }

    /// A turn has retired.
    pub fn turn(&self, head: &ConversationHead, turn: &TurnRecord) {
        projection::turn(&mut self.shared.registry(), head, turn);
    }

    /// A conversation is over.
    pub fn ended(&self, head: &ConversationHead, end: &ConversationEnd) {
        projection::ended(&mut self.shared.registry(), head, end);
    }

    /// The run is over, and this has become of its spans: sends what stands, within `limit`. Says what was not delivered.
    /// Blocks: not for asynchronous code.
    pub fn finish(&self, spans: &TraceSummary, limit: Duration) -> Option<String> {
        projection::spans(&mut self.shared.registry(), spans);
        drop(lock(&self.going_on).take());
        let why = match lock(&self.outcome).recv_timeout(limit) {
            Ok(why) => why?,
            Err(_) => "no time was left".to_owned(),
        };
        Some(format!("metrics: not delivered to {}: {why}", self.endpoint))
    }
}

impl Shared {
    fn registry(&self) -> MutexGuard<'_, Registry> {
        lock(&self.registry)
    }

    fn request(&self) -> ExportMetricsServiceRequest {
        let metrics = self.registry().metrics(self.started_ns, now_unix_nanos());
        let scope = InstrumentationScope {
            name: env!("CARGO_PKG_NAME").to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            ..InstrumentationScope::default()
        };
        let attributes = resource_attributes(CONVERSATION_SERVICE, &self.resource);
        ExportMetricsServiceRequest {
            resource_metrics: vec![ResourceMetrics {
                resource: Some(Resource { attributes, ..Resource::default() }),
                scope_metrics: vec![ScopeMetrics {
                    scope: Some(scope),
                    metrics,
                    schema_url: name::SCHEMA_URL.to_owned(),
                }],
                schema_url: name::SCHEMA_URL.to_owned(),
            }],
        }
    }
}

/// A panic while a lock is held leaves sums as they were.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sends at every interval and once at the end; says why the last was not taken.
fn report(shared: &Shared, options: &MetricsOptions, over: &Receiver<()>) -> Option<String> {
    let poster = match Poster::new(&options.endpoint) {
        Ok(poster) => poster,
        Err(reason) => return Some(reason),
    };
    while matches!(over.recv_timeout(options.interval), Err(RecvTimeoutError::Timeout)) {
        // What is not taken now is part of what is sent next: sums are from the beginning on.
        poster.post(&shared.request());
    }
    // Whoever waits has a limit of its own.
    let until = Instant::now() + options.endpoint.timeout;
    loop {
        match poster.post(&shared.request()) {
            Answer::Taken { rejected: 0, .. } => return None,
            Answer::Taken { rejected, message } => return Some(format!("{rejected} data points refused: {message}")),
            Answer::Refused(reason) => return Some(reason),
            Answer::Later { reason, .. } if Instant::now() >= until => return Some(reason),
            Answer::Later { .. } => thread::sleep(PAUSE),
        }
    }
}
