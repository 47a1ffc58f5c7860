//! What is kept on disk: runs, their conversations, finished turns, and what models answered. SQLite, embedded.
//!
//! The store knows nothing of what it keeps: rows are JSON of the layers above, packed. It knows what must not happen to
//! them. A row is there when its write has been answered: a killed process loses nothing that was answered.

mod alive;
mod answers;
mod database;
mod error;
mod location;
mod merging;
mod pack;
mod rows;
mod runs;
mod source;
mod writer;

pub use alive::RunLock;
pub use answers::{AnswerRow, AskedRow};
pub use database::Store;
pub use error::StoreError;
pub use location::store_folder;
pub use merging::{Merged, Part};
pub use pack::Packed;
pub use rows::{Content, ConversationRow, TurnRow};
pub use runs::{RunRow, RunState};
pub use source::Source;
