//! One conversation: the pure ledger, the post office that hosts it, how it ends and how it is graded.

mod outcome;
mod record;

pub use outcome::{Outcome, StopReason};
pub use record::{ConversationEnd, ConversationHead, ConversationRecord};
