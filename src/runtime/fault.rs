use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::llm::ModelError;

/// Why a turn gave no messages. A failed program is no fault; a fault means that our machine or a server failed.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
pub enum Fault {
    /// The role panicked.
    #[error("panicked: {message}")]
    Panic {
        /// What the panic said.
        message: String,
    },
    /// The delivery was lost: its task ended without an answer.
    #[error("the turn ended without an answer")]
    Lost,
    /// A model gave no reply.
    #[error("model: {0}")]
    Model(ModelError),
    /// A server that is no model gave no answer: a reward endpoint.
    #[error("endpoint: {0}")]
    Endpoint(ModelError),
    /// The sandbox failed.
    #[error("infrastructure: {0}")]
    Infrastructure(String),
    /// The role said something that its specification does not allow.
    #[error("{0}")]
    Rule(String),
    /// The role could not be built from its settings, or a prompt could not be rendered.
    #[error("{0}")]
    Setup(String),
    /// What a model answers cannot be kept, so that no call may be made any more.
    #[error("{0}")]
    NotKept(String),
    /// The conversation is ending.
    #[error("cancelled")]
    Cancelled,
}

impl Fault {
    /// Whether a second attempt may help. A refusal for good and a cancellation are final.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Panic { .. } | Self::Lost | Self::Infrastructure(_) => true,
            Self::Model(_)
            | Self::Endpoint(_)
            | Self::Rule(_)
            | Self::Setup(_)
            | Self::NotKept(_)
            | Self::Cancelled => false,
        }
    }

    /// Whether a server refuses for good: the run ends with its own exit code.
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Model(ModelError::Refused { .. }) | Self::Endpoint(ModelError::Refused { .. }))
    }

    /// `error.type` of the turn's span.
    pub fn kind(&self) -> String {
        match self {
            Self::Panic { .. } => "panic".to_owned(),
            Self::Lost => "lost".to_owned(),
            Self::Model(error) | Self::Endpoint(error) => error.kind(),
            Self::Infrastructure(_) => "infrastructure".to_owned(),
            Self::Rule(_) => "rule".to_owned(),
            Self::Setup(_) => "setup".to_owned(),
            Self::NotKept(_) => "not_kept".to_owned(),
            Self::Cancelled => "cancelled".to_owned(),
        }
    }
}
