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
    /// The sandbox failed.
    #[error("infrastructure: {0}")]
    Infrastructure(String),
    /// The role said something that its specification does not allow.
    #[error("{0}")]
    Rule(String),
    /// The role could not be built from its settings, or a prompt could not be rendered.
    #[error("{0}")]
    Setup(String),
    /// The conversation is ending.
    #[error("cancelled")]
    Cancelled,
}

impl Fault {
    /// Whether a second attempt may help. A refusal for good and a cancellation are final.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Panic { .. } | Self::Lost | Self::Infrastructure(_) => true,
            Self::Model(_) | Self::Rule(_) | Self::Setup(_) | Self::Cancelled => false,
        }
    }

    /// `error.type` of the turn's span.
    pub fn kind(&self) -> String {
        match self {
            Self::Panic { .. } => "panic".to_owned(),
            Self::Lost => "lost".to_owned(),
            Self::Model(error) => error.kind(),
            Self::Infrastructure(_) => "infrastructure".to_owned(),
            Self::Rule(_) => "rule".to_owned(),
            Self::Setup(_) => "setup".to_owned(),
            Self::Cancelled => "cancelled".to_owned(),
        }
    }
}
