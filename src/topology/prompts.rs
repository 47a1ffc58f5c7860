//! Prompts of actors: shipped ones by name, the user's own by path.

use crate::config::{ConfigPath, Mistake, Place, did_you_mean, embedded_names, listed, quoted};

use super::PromptRef;

/// Prompt files come after all topology files in the list of mistakes.
const ORDER: usize = 1_000;

/// Loads the prompt that `reference`, written at `place`, means: a path that ends in `.md`, relative to the file that it
/// is written in, or the name of a shipped prompt (`debugger/repair`).
///
/// # Errors
/// Where there is no such prompt, or it cannot be one.
pub(super) fn load_prompt(reference: &str, place: &Place) -> Result<PromptRef, Mistake> {
    let path = if reference.ends_with(".md") {
        let from = place.source().path();
        from.map_or_else(|| ConfigPath::Disk(reference.into()), |from| from.beside(reference))
    } else {
        let path = ConfigPath::Embedded(format!("prompts/{reference}.md"));
        if !path.exists() {
            return Err(not_shipped(reference, place));
        }
        path
    };
    let source = path.read(ORDER, Some(place))?;
    check_prompt(reference, source.text())
        .map_err(|reason| Mistake::at(&Place::start_of(&source), format!("not a prompt: {reason}")))?;
    Ok(PromptRef { reference: reference.to_owned(), text: source.text().into() })
}

/// Whether a text can be a prompt.
///
/// # Errors
/// What is wrong with it.
fn check_prompt(_reference: &str, text: &str) -> Result<(), String> {
    if text.trim().is_empty() { Err("it is empty".to_owned()) } else { Ok(()) }
}

fn not_shipped(reference: &str, place: &Place) -> Mistake {
    let known = embedded_names("prompts", ".md");
    let message = format!("no prompt {} is shipped{}", quoted(reference), did_you_mean(reference, &known));
    let hint = format!("shipped: {}; the path of a file ends in .md", listed(known));
    Mistake::at(place, message).hint(hint)
}
