use std::ops::Range;

use super::error::PromptError;
use crate::{domain::Place, llm::ChatRole};

/// A part of a prompt file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Whose message it becomes.
    pub role: ChatRole,
    /// Its template in the file's text, without the blank space around it.
    pub range: Range<usize>,
}

/// The parts of a prompt file, in the order system, user.
pub fn split(file: &str, text: &str) -> Result<Vec<Part>, Vec<PromptError>> {
    let mut errors = Vec::new();
    let mut complain = |offset: usize, message: &str| {
        errors.push(PromptError::Syntax { place: Place::of(file, text, offset), message: message.to_owned() });
    };
    let mut parts: Vec<Part> = Vec::new();
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        let next = offset + line.len();
        match separator(line) {
            Some("system") if parts.is_empty() => parts.push(Part { role: ChatRole::System, range: next..next }),
            Some("user") if parts.iter().all(|part| part.role == ChatRole::System) => {
                parts.push(Part { role: ChatRole::User, range: next..next });
            }
            Some("system" | "user") => complain(offset, "parts are `---system---`, then `---user---`, each once"),
            Some(_) => complain(offset, "this is no part of a prompt; there are `---system---` and `---user---`"),
            None => match parts.last_mut() {
                Some(part) => part.range.end = next,
                None if line.trim().is_empty() => {}
                None => {
                    complain(offset, "text above the first part; a prompt begins with `---system---` or `---user---`");
                    break;
                }
            },
        }
        offset = next;
    }
    if errors.is_empty() && !parts.iter().any(|part| part.role == ChatRole::User) {
        errors.push(PromptError::Syntax {
            place: Place::of(file, text, text.len()),
            message: "the part `---user---` is missing".to_owned(),
        });
    }
    for part in &mut parts {
        let whole = &text[part.range.clone()];
        let start = part.range.start + (whole.len() - whole.trim_start().len());
        let end = part.range.start + whole.trim_end().len();
        if end <= start {
            let place = Place::of(file, text, part.range.start);
            errors.push(PromptError::Syntax { place, message: format!("the part `{}` is empty", part.role.name()) });
        }
        part.range = start..end.max(start);
    }
    if errors.is_empty() { Ok(parts) } else { Err(errors) }
}

/// The word of a separator line: three hyphens, a word of letters, three hyphens, nothing else.
fn separator(line: &str) -> Option<&str> {
    let word = line.trim_end().strip_prefix("---")?.strip_suffix("---")?;
    (!word.is_empty() && word.chars().all(|c| c.is_ascii_alphabetic())).then_some(word)
}
