use std::{fmt, sync::Arc};

use minijinja::{Environment, value::Serde};
use serde::Serialize;

use super::{
    data::{PromptData, Trial},
    error::PromptError,
    names::check_names,
    parts::{Part, split},
    template,
};
use crate::llm::{ChatMessage, ChatRole, Purpose};

/// Lower-case hexadecimal BLAKE3 of a prompt file: which text a program was written with.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct PromptHash(pub String);

impl fmt::Display for PromptHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A checked prompt file.
///
/// A prompt file is text with one or two parts, each below a line of its own: `---system---` (may be left out), then
/// `---user---`. A part is a minijinja (Jinja2) template over [`PromptData`]; block tags on a line of their own leave no
/// line behind, and blank space around a part does not count. The filter `fenced` puts a text into a code fence that is
/// longer than any in it: `{{ program | fenced(task.language) }}`.
///
/// Values are put in as they are, byte for byte, once: nothing in them is looked at again, nothing is escaped, and no `$`
/// or `~` is expanded. A name that does not exist, and a value that is absent, is an error and never an empty text.
#[derive(Clone)]
pub struct Prompt {
    file: String,
    text: Arc<str>,
    hash: PromptHash,
    parts: Vec<Part>,
    templates: Arc<Environment<'static>>,
}

impl Prompt {
    /// Reads and checks the prompt file `text` for calls of `purpose`; `name_or_path` is how errors name it.
    ///
    /// All mistakes at once: the form of the file, the syntax of each part, names that prompts of this purpose do not
    /// have, and uses of values that may be absent without asking first (found by rendering it with examples).
    pub fn load(purpose: Purpose, name_or_path: &str, text: &str) -> Result<Self, Vec<PromptError>> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let parts = split(name_or_path, text)?;
        let mut templates = template::environment();
        let mut errors = Vec::new();
        for part in &parts {
            if let Err(error) = templates.add_template_owned(part.role.name(), text[part.range.clone()].to_owned()) {
                let place = template::place(name_or_path, text, part, &error);
                errors.push(PromptError::Syntax { place, message: template::message(&error) });
            }
        }
        for part in &parts {
            errors.extend(check_names(&templates, purpose, name_or_path, text, part));
        }
        let hash = PromptHash(blake3::hash(text.as_bytes()).to_hex().to_string());
        let prompt =
            Self { file: name_or_path.to_owned(), text: text.into(), hash, parts, templates: Arc::new(templates) };
        if errors.is_empty() {
            let trials = Trial::ALL.map(|trial| prompt.render(&PromptData::example(purpose, trial)).err());
            errors.extend(trials.into_iter().flatten().take(1));
        }
        if errors.is_empty() { Ok(prompt) } else { Err(errors) }
    }

    /// The hash of the whole file.
    pub fn hash(&self) -> &PromptHash {
        &self.hash
    }

    /// The name or path that it was loaded by.
    pub fn name(&self) -> &str {
        &self.file
    }

    /// Whether one of its parts names this variable of [`PromptData`].
    pub fn mentions(&self, variable: &str) -> bool {
        let templates = self.parts.iter().filter_map(|part| self.templates.get_template(part.role.name()).ok());
        templates.into_iter().any(|template| template.undeclared_variables(false).contains(variable))
    }

    /// The chat messages: the system part where there is one, then the user part.
    pub fn render(&self, data: &PromptData) -> Result<Vec<ChatMessage>, PromptError> {
        self.parts
            .iter()
            .map(|part| Ok(ChatMessage { role: part.role, content: self.render_part(part, data)? }))
            .collect()
    }

    /// The user part alone: for static templates, whose text is the diagnosis itself.
    pub fn render_text(&self, data: &PromptData) -> Result<String, PromptError> {
        let user = self.parts.iter().filter(|part| part.role == ChatRole::User);
        user.map(|part| self.render_part(part, data)).collect()
    }

    fn render_part(&self, part: &Part, data: &PromptData) -> Result<String, PromptError> {
        let rendered = self.templates.get_template(part.role.name()).and_then(|template| template.render(Serde(data)));
        rendered.map_err(|error| PromptError::Render {
            place: template::place(&self.file, &self.text, part, &error),
            message: template::message(&error),
        })
    }
}

impl fmt::Debug for Prompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prompt").field("file", &self.file).field("hash", &self.hash).finish_non_exhaustive()
    }
}
