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

/// What an edge does to the messages that it carries, to find out what they are worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Intervention {
    /// Nothing is delivered.
    Drop,
    /// The diagnosis is delivered without its words.
    Blank,
    /// The words of a diagnosis of another task are in place of its own: a placebo.
    Shuffle,
    /// What the task's reference program does otherwise is in place of its words.
    Oracle,
}

impl Intervention {
    /// Every intervention, in the order in which help texts list them.
    pub const ALL: [Self; 4] = [Self::Drop, Self::Blank, Self::Shuffle, Self::Oracle];

    /// The word used in files and records.
    pub fn word(self) -> &'static str {
        match self {
            Self::Drop => "drop",
            Self::Blank => "blank",
            Self::Shuffle => "shuffle",
            Self::Oracle => "oracle",
        }
    }

    /// What the word means.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.word() == word)
    }
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
    /// What the edge that carried it did to its words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intervention: Option<Intervention>,
}
