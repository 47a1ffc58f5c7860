//! OpenTelemetry metrics of a run, sent over OTLP where the environment asks for them. Like spans they are a projection: what a
//! retired turn and an ended conversation say, added up. docs/metrics.md has each of them.

mod instruments;
mod projection;
mod registry;
mod reporter;

pub use reporter::{Metrics, MetricsOptions};
