//! The published form of what a run found: a row for each conversation and each program, of records alone. Each row has a
//! `result`, equal byte for byte in equal runs, and a `provenance` with all that differs between them.

mod conversation_row;
mod program_row;

pub use conversation_row::{CallDoubted, ConversationProvenance, ConversationResult, ConversationRow};
pub use program_row::{ProgramProvenance, ProgramResult, ProgramRow};

/// Version of the rows.
pub const SCHEMA: u32 = 1;
