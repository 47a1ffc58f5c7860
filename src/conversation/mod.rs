//! One conversation: the pure ledger, the post office that hosts it, how it ends and how it is graded.

mod actor;
mod company;
mod examples;
mod grading;
mod intake;
mod journal;
mod kept;
mod kept_record;
pub mod ledger;
mod outcome;
mod placebo;
mod record;
mod recording;

pub use company::{Assignment, Company, Observer};
pub use examples::{ExampleError, ExamplePool};
pub use intake::{HoldError, hold};
pub use journal::{Begun, CallsInDoubt, Ended, Journal, JournalError, MemoryJournal};
pub use kept::{CacheMode, StoreJournal};
pub use kept_record::kept_records;
pub use outcome::{Outcome, StopReason};
pub use placebo::Placebo;
pub use record::{ConversationEnd, ConversationHead, ConversationRecord};
pub use recording::recording;
