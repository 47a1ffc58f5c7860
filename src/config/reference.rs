use std::path::Path;

use thiserror::Error;

use super::{embedded_file, embedded_names};
use crate::domain::read_regular_file;

/// Largest file that is read, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// A kind of file that others refer to by name or by path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileKind {
    /// What it is called in messages.
    pub noun: &'static str,
    /// The folder below `config/` that holds the embedded ones.
    pub folder: &'static str,
    /// How the name of a file of this kind ends, with the dot.
    pub extension: &'static str,
}

/// A file that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Followed {
    /// How messages name it: the path as it was followed, or the embedded name.
    pub name: String,
    /// Its text, without a byte-order mark.
    pub text: String,
}

/// Why a reference leads nowhere.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ReferenceError {
    /// No embedded file has this name.
    #[error(
        "no {noun} `{name}` is built in{}; there are {}; a file's name ends in {extension}",
        nearest.as_ref().map_or_else(String::new, |name| format!(" (did you mean `{name}`?)")),
        known.join(", ")
    )]
    UnknownName {
        /// What was looked for.
        noun: &'static str,
        /// The name.
        name: String,
        /// A name that may have been meant.
        nearest: Option<String>,
        /// All names that there are.
        known: Vec<String>,
        /// How the name of a file ends.
        extension: &'static str,
    },
    /// The file cannot be read as text.
    #[error("{path}: {message}")]
    Unreadable {
        /// The file.
        path: String,
        /// Why.
        message: String,
    },
}

/// The text that `reference` leads to.
///
/// A reference that ends in the kind's extension is a file: a path relative to `base_dir`, the folder of the file that
/// names it (the current folder where there is none). Any other is the name of an embedded file without its extension.
/// Nothing in a reference is expanded. Files of more than 1 MiB, and what is not UTF-8 or no file, are refused.
pub fn follow(kind: FileKind, reference: &str, base_dir: Option<&Path>) -> Result<Followed, ReferenceError> {
    let FileKind { noun, folder, extension } = kind;
    if reference.ends_with(extension) {
        let path = base_dir.map_or_else(|| Path::new(reference).to_owned(), |dir| dir.join(reference));
        let name = path.display().to_string();
        return match read(&path) {
            Ok(text) => Ok(Followed { name, text }),
            Err(message) => Err(ReferenceError::Unreadable { path: name, message }),
        };
    }
    let Some(text) = embedded_file(&format!("{folder}/{reference}{extension}")) else {
        let known = embedded_names(folder, extension);
        let distance = |name: &String| strsim::damerau_levenshtein(name, reference);
        let nearest = known.iter().filter(|name| distance(name) <= 4).min_by_key(|name| distance(name)).cloned();
        return Err(ReferenceError::UnknownName { noun, name: reference.to_owned(), nearest, known, extension });
    };
    Ok(Followed { name: reference.to_owned(), text: text.to_owned() })
}

fn read(path: &Path) -> Result<String, String> {
    let bytes = read_regular_file(path, MAX_BYTES).map_err(|error| error.to_string())?;
    let text = String::from_utf8(bytes)
        .map_err(|error| format!("not UTF-8 from byte {} on", error.utf8_error().valid_up_to()))?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}
