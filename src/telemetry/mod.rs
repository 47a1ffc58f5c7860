//! Traces: a projection of what a conversation's turns wrote down. No span is open while code runs.

mod acknowledged;
mod assessing;
mod attributes;
mod closing;
mod content;
mod conversation_attributes;
mod delivery;
mod endpoint;
mod execution;
mod file;
mod grpc;
mod lineage;
mod mending;
mod metrics;
mod model_call;
mod outbox;
mod post;
mod poster;
mod projection;
mod push;
mod sampler;
mod settings;
mod signal;
mod span;
mod traces;
mod turn_spans;
mod values;
mod view;
mod vocabulary;
mod writing;

pub use closing::{Closing, close_open};
pub use endpoint::{Endpoint, EndpointError, Protocol};
pub use metrics::{Metrics, MetricsOptions};
pub use outbox::TraceSummary;
pub use projection::{CONVERSATION_SERVICE, Projection, Projector, SPANS_PER_TRACE, project};
pub use push::{Pushed, Unread, push};
pub use sampler::Sampler;
pub use span::{Place, ResourceOf, ServiceSpan, export_request};
pub use traces::{ConversationTrace, TraceOptions, Traces};
pub use view::{
    BadLine, Difference, Follower, Hand, Lineage, Listed, Look, LookupError, ReadSpan, ReadTrace, SpanDocument,
    SpanKey, SpanLines, State, Steps, TraceDocument, clean, difference, difference_json, duration, hand, lineage_dot,
    lineage_json, lineage_mermaid, lineage_text, list, look_up, show, trace_files, utc,
};
