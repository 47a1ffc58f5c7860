use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

/// Tokens of model calls. `None` means that the server did not say: unknown is never counted as 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the prompt.
    pub input_tokens: Option<u64>,
    /// Tokens of the reply.
    pub output_tokens: Option<u64>,
}

/// Sums of what a turn, a conversation or a run spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spend {
    /// Programs given to an executor.
    pub programs: u32,
    /// Calls of a model that roles made.
    pub model_calls: u32,
    /// Requests sent for them, retries included.
    pub model_attempts: u32,
    /// Known prompt tokens.
    pub input_tokens: u64,
    /// Known reply tokens.
    pub output_tokens: u64,
    /// Calls whose tokens the server did not say: the sums are then lower bounds.
    pub calls_without_usage: u32,
}

impl AddAssign for Spend {
    fn add_assign(&mut self, other: Self) {
        self.programs += other.programs;
        self.model_calls += other.model_calls;
        self.model_attempts += other.model_attempts;
        self.input_tokens += other.input_tokens;
        self.output_tokens += other.output_tokens;
        self.calls_without_usage += other.calls_without_usage;
    }
}
