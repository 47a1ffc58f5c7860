use thiserror::Error;

use crate::{domain::Place, llm::Purpose};

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
