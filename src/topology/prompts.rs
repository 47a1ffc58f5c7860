//! Prompts of actors: shipped ones by name, the user's own by path or from a folder of theirs.

use std::sync::Arc;

use crate::{
    config::{ConfigPath, Mistake, Place, TextSource, did_you_mean, embedded_names, listed, quoted},
    llm::Purpose,
    prompts::{Prompt, PromptError},
};

use super::{PromptRef, draft::Draft, member::Member};

/// Prompt files come after all topology files in the list of mistakes.
const ORDER: usize = 1_000;

/// The key that names the folder.
const FOLDER: &str = "prompts_dir";

/// The user's folder of prompts, where the arrangement names one; relative to the file that names it.
pub(super) fn folder(draft: &Draft) -> Option<ConfigPath> {
    let written = draft.values.get(FOLDER)?;
    let folder = written.value.as_str()?;
    let from = written.place.source().path();
    Some(from.map_or_else(|| ConfigPath::Disk(folder.into()), |from| from.beside(folder)))
}

/// The file of a folder that a bare reference means.
fn own_file(folder: &ConfigPath, reference: &str) -> ConfigPath {
    folder.within(&format!("{reference}.md"))
}

/// A folder that is none, and one that no actor has a prompt from, are mistakes.
pub(super) fn check_folder(draft: &Draft, members: &[Member<'_>], mistakes: &mut Vec<Mistake>) {
    let (Some(folder), Some(written)) = (folder(draft), draft.values.get(FOLDER)) else { return };
    if let ConfigPath::Disk(path) = &folder
        && !path.is_dir()
    {
        let message = format!("there is no folder {}", quoted(&folder.shown()));
        return mistakes.push(Mistake::at(&written.place, message));
    }
    let parts = || members.iter().filter_map(|member| member.part.as_ref());
    let wanted: Vec<String> = parts().flat_map(|part| part.bare_prompts.iter().cloned()).collect();
    let used = wanted.iter().any(|reference| own_file(&folder, reference).exists());
    if !used && draft.whole && members.iter().all(|member| member.part.is_some()) {
        let message = format!("no actor has a prompt from {}", quoted(&folder.shown()));
        let files = wanted.iter().map(|reference| format!("{reference}.md"));
        mistakes
            .push(Mistake::at(&written.place, message).hint(format!("files that would be used: {}", listed(files))));
    }
}

/// Loads the prompt of `purpose` that `reference`, written at `place`, means: a path that ends in `.md`, relative to
/// the file that it is written in, or a name (`debugger/repair`), which is looked up in the user's `folder` first and then
/// among the shipped prompts.
///
/// # Errors
/// Where there is no such prompt; every mistake in it, at its place.
pub(super) fn load_prompt(
    purpose: Purpose,
    reference: &str,
    place: &Place,
    folder: Option<&ConfigPath>,
) -> Result<PromptRef, Vec<Mistake>> {
    let own = folder.map(|folder| own_file(folder, reference)).filter(ConfigPath::exists);
    let (path, name) = if reference.ends_with(".md") {
        let from = place.source().path();
        let path = from.map_or_else(|| ConfigPath::Disk(reference.into()), |from| from.beside(reference));
        (path, reference.to_owned())
    } else if let Some(own) = own {
        let name = own.shown();
        (own, name)
    } else {
        let path = ConfigPath::Embedded(format!("prompts/{reference}.md"));
        if !path.exists() {
            return Err(vec![nowhere(reference, place, folder)]);
        }
        (path, reference.to_owned())
    };
    let source = path.read(ORDER, Some(place)).map_err(|mistake| vec![mistake])?;
    if source.text().trim().is_empty() {
        return Err(vec![Mistake::at(&Place::start_of(&source), "not a prompt: it is empty")]);
    }
    Prompt::load(purpose, source.name(), source.text())
        .map_err(|errors| errors.iter().map(|error| located(&source, error)).collect::<Vec<_>>())?;
    Ok(PromptRef { reference: name, text: source.text().into() })
}

/// A mistake in a prompt, as a mistake of the configuration.
fn located(source: &Arc<TextSource>, error: &PromptError) -> Mistake {
    let start = Place::new(source, error.place().offset..error.place().offset);
    Mistake::at(&start, error.message())
}

fn nowhere(reference: &str, place: &Place, folder: Option<&ConfigPath>) -> Mistake {
    let known = embedded_names("prompts", ".md");
    let mut message = format!("no prompt {} is shipped", quoted(reference));
    if let Some(folder) = folder {
        message += &format!(", and {} has none", quoted(&folder.shown()));
    }
    message += &did_you_mean(reference, &known);
    let hint = format!("shipped: {}; the path of a file ends in .md", listed(known));
    Mistake::at(place, message).hint(hint)
}
