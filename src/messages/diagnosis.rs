use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::ExecutionReport;
use crate::ids::MessageId;

/// The form of a diagnosis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DiagnosisForm {
    /// What is wrong, in a sentence or a few (SEIDR's bug summary).
    BugSummary,
    /// Why it fails and a plan to fix it, in words, no code (INTERVENOR's chain of repair).
    ChainOfRepair,
}

/// What a diagnosis was written by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DiagnosisSource {
    /// A model.
    Model,
    /// The static template that restates the failing test; no model was asked.
    StaticTemplate,
}

/// From an instructor or a teacher, to whoever repairs. The receiver rewrites the failing program with its help.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Diagnosis {
    /// Its own name in the conversation.
    pub id: MessageId,
    /// The failing candidate and what its tests said.
    pub report: Arc<ExecutionReport>,
    /// The diagnosis.
    pub text: String,
    /// Its form.
    pub form: DiagnosisForm,
    /// Who wrote it.
    pub source: DiagnosisSource,
}
