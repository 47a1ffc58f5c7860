//! Identities. Everything that names something else in a record or a trace is one of these.

mod names;
mod trace;

pub use names::{ActorName, ConversationId, Generation, MessageId, RunId, Seq, TaskId};
pub use trace::{span_id, trace_id, traceparent};
