use std::path::Path;

use thiserror::Error;

use super::{embedded_file, embedded_names};
use crate::{
    llm::Purpose,
    prompts::{Prompt, PromptError},
};

/// Largest prompt file that is read, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// Why a reference leads to no usable prompt.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PromptFileError {
    /// No embedded prompt has this name.
    #[error("no prompt `{name}` is built in{}; there are {}; a file's name ends in .md", hint(nearest.as_deref()), known.join(", "))]
    UnknownName {
        /// The name.
        name: String,
        /// A name that may have been meant.
        nearest: Option<String>,
        /// All names that there are.
        known: Vec<String>,
    },
    /// The file cannot be read as text.
    #[error("{path}: {message}")]
    Unreadable {
        /// The file.
        path: String,
        /// Why.
        message: String,
    },
    /// The file is no prompt; every mistake in it.
    #[error("{}", each(.0))]
    Mistakes(Vec<PromptError>),
}

fn hint(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"))
}

fn each(errors: &[PromptError]) -> String {
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// The prompt that `reference` names, checked for calls of `purpose`.
///
/// A reference that ends in `.md` is a file: a path relative to `base_dir`, the folder of the file that names it (the
/// current folder where there is none). Any other is the name of an embedded prompt, `debugger/repair` for example.
/// Nothing in a reference is expanded. The prompt's errors name the path as it was followed.
pub fn load_prompt(purpose: Purpose, reference: &str, base_dir: Option<&Path>) -> Result<Prompt, PromptFileError> {
    if reference.ends_with(".md") {
        let path = base_dir.map_or_else(|| Path::new(reference).to_owned(), |dir| dir.join(reference));
        let shown = path.display().to_string();
        let text = read(&path).map_err(|message| PromptFileError::Unreadable { path: shown.clone(), message })?;
        return Prompt::load(purpose, &shown, &text).map_err(PromptFileError::Mistakes);
    }
    let Some(text) = embedded_file(&format!("prompts/{reference}.md")) else {
        let known = embedded_names("prompts", ".md");
        let near = known.iter().filter(|name| strsim::damerau_levenshtein(name, reference) <= 4);
        let nearest = near.min_by_key(|name| strsim::damerau_levenshtein(name, reference)).cloned();
        return Err(PromptFileError::UnknownName { name: reference.to_owned(), nearest, known });
    };
    Prompt::load(purpose, reference, text).map_err(PromptFileError::Mistakes)
}

fn read(path: &Path) -> Result<String, String> {
    let metadata = std::fs::metadata(path).map_err(|error| error.to_string())?;
    if !metadata.is_file() {
        return Err("not a file".to_owned());
    }
    if metadata.len() > MAX_BYTES {
        return Err(format!("{} bytes; a prompt has at most {MAX_BYTES}", metadata.len()));
    }
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|error| format!("not UTF-8 from byte {}", error.utf8_error().valid_up_to()))
}
