use serde::{Deserialize, Serialize};

/// Head and tail of a stream, with how long it really was. Invalid UTF-8 is shown as U+FFFD.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Excerpt {
    /// The kept text; a line of our own stands where something was left out.
    pub text: String,
    /// Length of the whole stream in bytes.
    pub total_bytes: u64,
    /// Whether something was left out.
    pub truncated: bool,
}
