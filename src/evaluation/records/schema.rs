/// Version of the rows. It goes up when a field changes its meaning or disappears; a field that is added leaves it.
pub const SCHEMA: u32 = 1;

/// The JSON Schema (draft 2020-12) of a row of `conversations.jsonl`.
pub const CONVERSATION_SCHEMA: &str = include_str!("../../../docs/records/conversation.schema.json");

/// The JSON Schema of a row of `programs.jsonl`.
pub const PROGRAM_SCHEMA: &str = include_str!("../../../docs/records/program.schema.json");

/// The JSON Schema of `manifest.json`.
pub const MANIFEST_SCHEMA: &str = include_str!("../../../docs/records/manifest.schema.json");
