//! The published form of what a run found: a row for each conversation and each program, of records alone, and a manifest.
//! Each has a `result`, equal byte for byte in equal runs, and a `provenance` with all that differs between them.

mod conversation_row;
mod manifest;
mod money_row;
mod program_row;
mod schema;

pub use conversation_row::{CallDoubted, ConversationProvenance, ConversationResult, ConversationRow};
pub use manifest::{
    Groundwork, Machine, Manifest, ManifestProvenance, ManifestResult, ModelProvenance, ModelResult, TaskRow,
};
pub use money_row::MoneyRow;
pub use program_row::{ProgramProvenance, ProgramResult, ProgramRow};
pub use schema::{CONVERSATION_SCHEMA, MANIFEST_SCHEMA, PROGRAM_SCHEMA, SCHEMA};
