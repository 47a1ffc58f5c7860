use std::path::Path;

use thiserror::Error;

use super::reference::{FileKind, ReferenceError, follow};
use crate::{
    llm::Purpose,
    prompts::{Prompt, PromptError},
};

const PROMPT: FileKind = FileKind { noun: "prompt", folder: "prompts", extension: ".md" };

/// Why a reference leads to no usable prompt.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PromptFileError {
    /// It leads nowhere.
    #[error(transparent)]
    Reference(#[from] ReferenceError),
    /// The file is no prompt; every mistake in it.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Mistakes(Vec<PromptError>),
}

/// The prompt that `reference` names, checked for calls of `purpose`: a file that ends in `.md`, or an embedded prompt
/// (`debugger/repair`); see [`follow`].
pub fn load_prompt(purpose: Purpose, reference: &str, base_dir: Option<&Path>) -> Result<Prompt, PromptFileError> {
    let found = follow(PROMPT, reference, base_dir)?;
    Prompt::load(purpose, &found.name, &found.text).map_err(PromptFileError::Mistakes)
}
