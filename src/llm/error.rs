use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::Attempt;

/// Why a call gave no reply.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
pub enum ModelError {
    /// The provider refuses for good: key, quota, permission, no such model. The run ends with its own exit code.
    #[error("the provider refused ({}): {message}", status.map_or("no status".to_owned(), |status| status.to_string()))]
    Refused {
        /// HTTP status.
        status: Option<u16>,
        /// What the server said, secrets masked.
        message: String,
        /// What was sent.
        attempts: Vec<Attempt>,
    },
    /// Still failing after all retries.
    #[error("no reply after {} attempts: {message}", attempts.len())]
    Unavailable {
        /// HTTP status of the last attempt.
        status: Option<u16>,
        /// What went wrong last, secrets masked.
        message: String,
        /// What was sent.
        attempts: Vec<Attempt>,
    },
    /// The request itself is not accepted (too long a prompt, an unknown parameter).
    #[error("the request was not accepted ({}): {message}", status.map_or("no status".to_owned(), |status| status.to_string()))]
    BadRequest {
        /// HTTP status.
        status: Option<u16>,
        /// What the server said, secrets masked.
        message: String,
        /// What was sent.
        attempts: Vec<Attempt>,
    },
    /// The server says that the prompt does not fit into the model's context. No other form of the request mends it.
    #[error("the prompt is too long for the model: {message}")]
    PromptTooLong {
        /// HTTP status.
        status: Option<u16>,
        /// What the server said, secrets masked.
        message: String,
        /// What was sent.
        attempts: Vec<Attempt>,
    },
    /// The prompt does not fit into the model's context, with everything left out of it that may be; nothing was sent.
    #[error(
        "the prompt {prompt} needs about {tokens} tokens and may have {limit}, with everything left out that may be \
         (`context_tokens` less `max_output_tokens`, at 4 bytes a token)"
    )]
    ContextLength {
        /// Which prompt.
        prompt: String,
        /// What it needs, estimated.
        tokens: usize,
        /// What it may have.
        limit: usize,
    },
    /// A budget has too little left for the call; nothing was sent.
    #[error("a budget has too little left for the call")]
    Budget,
    /// The model does not answer this purpose, or has nothing (more) to say.
    #[error("{0}")]
    NothingToSay(String),
    /// The recorded run that is asked has no answer.
    #[error("{0}")]
    NotRecorded(String),
    /// A call failed in a recorded run, and no turn ended by it.
    #[error("{message}")]
    Recorded {
        /// `error.type`.
        kind: String,
        /// What was said.
        message: String,
        /// What was sent.
        attempts: Vec<Attempt>,
    },
    /// The conversation is ending.
    #[error("cancelled")]
    Cancelled,
}

impl ModelError {
    /// The requests that were sent before giving up.
    pub fn attempts(&self) -> &[Attempt] {
        match self {
            Self::Refused { attempts, .. }
            | Self::Unavailable { attempts, .. }
            | Self::BadRequest { attempts, .. }
            | Self::PromptTooLong { attempts, .. }
            | Self::Recorded { attempts, .. } => attempts,
            Self::ContextLength { .. }
            | Self::Budget
            | Self::NothingToSay(_)
            | Self::NotRecorded(_)
            | Self::Cancelled => &[],
        }
    }

    /// `error.type` of the span: the HTTP status or a word.
    pub fn kind(&self) -> String {
        match self {
            Self::Refused { status: Some(status), .. }
            | Self::Unavailable { status: Some(status), .. }
            | Self::BadRequest { status: Some(status), .. } => status.to_string(),
            Self::Refused { .. } => "refused".to_owned(),
            Self::Unavailable { attempts, .. } => {
                attempts.last().and_then(|attempt| attempt.error.clone()).unwrap_or_else(|| "unavailable".to_owned())
            }
            Self::BadRequest { .. } => "bad_request".to_owned(),
            Self::ContextLength { .. } | Self::PromptTooLong { .. } => "context_length".to_owned(),
            Self::Budget => "budget".to_owned(),
            Self::NothingToSay(_) => "nothing_to_say".to_owned(),
            Self::NotRecorded(_) => "not_recorded".to_owned(),
            Self::Recorded { kind, .. } => kind.clone(),
            Self::Cancelled => "cancelled".to_owned(),
        }
    }
}
