//! Identities. Everything that names something else in a record or a trace is one of these.

mod chance;
mod names;
mod trace;

pub use chance::{keyed, number};
pub use names::{ActorName, CallPlace, ConversationId, Generation, MessageId, RunId, Seq, TaskId};
pub use trace::{span_id, trace_id, traceparent};
