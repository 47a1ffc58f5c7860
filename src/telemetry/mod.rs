//! Traces: a projection of what a conversation's turns wrote down. No span is open while code runs.

mod acknowledged;
mod assessing;
mod attributes;
mod content;
mod conversation_attributes;
mod delivery;
mod endpoint;
mod execution;
mod file;
mod grpc;
mod lineage;
mod lines;
mod model_call;
mod outbox;
mod post;
mod poster;
mod projection;
mod push;
mod reading;
mod show;
mod span;
mod traces;
mod turn_spans;
mod values;

pub use endpoint::{Endpoint, EndpointError, Protocol};
pub use outbox::TraceSummary;
pub use projection::{CONVERSATION_SERVICE, Projection, Projector, SPANS_PER_TRACE, project};
pub use push::push;
pub use reading::BadLine;
pub use show::{show, show_json};
pub use span::{Place, ServiceSpan, export_request};
pub use traces::{ConversationTrace, TraceOptions, Traces};
