//! Traces: a projection of what a conversation's turns wrote down. No span is open while code runs.

mod attributes;
mod content;
mod conversation_attributes;
mod execution;
mod lineage;
mod model_call;
mod projection;
mod span;
mod turn_spans;
mod values;

pub use projection::{CONVERSATION_SERVICE, Projector, SPANS_PER_TRACE, project};
pub use span::{ServiceSpan, request};
