use std::fmt;

use thiserror::Error;

use crate::llm::Purpose;

/// A place in a prompt file; lines and columns (in characters) count from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file, or the name of the embedded prompt.
    pub file: String,
    /// Line.
    pub line: usize,
    /// Column.
    pub column: usize,
    /// Bytes before it.
    pub offset: usize,
}

impl Place {
    /// The place of byte `offset` of `text`, the whole file's text; the end where `offset` is past it.
    pub(super) fn of(file: &str, text: &str, offset: usize) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = before.matches('\n').count() + 1;
        Self { file: file.to_owned(), line, column: before[line_start..].chars().count() + 1, offset: before.len() }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// What is wrong with a prompt file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PromptError {
    /// Its parts are not as they must be, or a part is not a template.
    #[error("{place}: {message}")]
    Syntax {
        /// Where.
        place: Place,
        /// What.
        message: String,
    },
    /// It names something that prompts of this purpose do not have.
    #[error("{place}: a {purpose} prompt has no `{name}`{}; it has {}", hint(nearest.as_deref()), known.join(", "))]
    UnknownName {
        /// Where.
        place: Place,
        /// The name.
        name: String,
        /// What the prompt is for.
        purpose: Purpose,
        /// A name that may have been meant.
        nearest: Option<String>,
        /// All names that there are.
        known: Vec<String>,
    },
    /// It cannot be rendered with the data that it is given.
    #[error("{place}: {message}")]
    Render {
        /// Where.
        place: Place,
        /// Why.
        message: String,
    },
}

impl PromptError {
    /// Where it is.
    pub fn place(&self) -> &Place {
        match self {
            Self::Syntax { place, .. } | Self::UnknownName { place, .. } | Self::Render { place, .. } => place,
        }
    }

    /// What it is, without the place.
    pub fn message(&self) -> String {
        let whole = self.to_string();
        let place = format!("{}: ", self.place());
        whole.strip_prefix(&place).map_or(whole.clone(), str::to_owned)
    }
}

fn hint(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"))
}
