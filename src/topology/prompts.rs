//! Prompts of actors: shipped ones by name, the user's own by path.

use std::sync::Arc;

use crate::{
    config::{ConfigPath, Mistake, Place, TextSource, did_you_mean, embedded_names, listed, quoted},
    llm::Purpose,
    prompts::{Prompt, PromptError},
};

use super::PromptRef;

/// Prompt files come after all topology files in the list of mistakes.
const ORDER: usize = 1_000;

/// Loads the prompt of `purpose` that `reference`, written at `place`, means: a path that ends in `.md`, relative to the
/// file that it is written in, or the name of a shipped prompt (`debugger/repair`).
///
/// # Errors
/// Where there is no such prompt; every mistake in it, at its place.
pub(super) fn load_prompt(purpose: Purpose, reference: &str, place: &Place) -> Result<PromptRef, Vec<Mistake>> {
    let path = if reference.ends_with(".md") {
        let from = place.source().path();
        from.map_or_else(|| ConfigPath::Disk(reference.into()), |from| from.beside(reference))
    } else {
        let path = ConfigPath::Embedded(format!("prompts/{reference}.md"));
        if !path.exists() {
            return Err(vec![not_shipped(reference, place)]);
        }
        path
    };
    let source = path.read(ORDER, Some(place)).map_err(|mistake| vec![mistake])?;
    if source.text().trim().is_empty() {
        return Err(vec![Mistake::at(&Place::start_of(&source), "not a prompt: it is empty")]);
    }
    Prompt::load(purpose, source.name(), source.text())
        .map_err(|errors| errors.iter().map(|error| located(&source, error)).collect::<Vec<_>>())?;
    Ok(PromptRef { reference: reference.to_owned(), text: source.text().into() })
}

/// A mistake in a prompt, as a mistake of the configuration.
fn located(source: &Arc<TextSource>, error: &PromptError) -> Mistake {
    let start = Place::new(source, error.place().offset..error.place().offset);
    Mistake::at(&start, error.message())
}

fn not_shipped(reference: &str, place: &Place) -> Mistake {
    let known = embedded_names("prompts", ".md");
    let message = format!("no prompt {} is shipped{}", quoted(reference), did_you_mean(reference, &known));
    let hint = format!("shipped: {}; the path of a file ends in .md", listed(known));
    Mistake::at(place, message).hint(hint)
}
