//! Models of actors, by name.

use crate::{
    config::{ConfigPath, Located, Mistake, did_you_mean, embedded_names, listed, quoted},
    llm::{Capabilities, names_file},
};

/// Folder of the shipped model files, below `config/`.
const FOLDER: &str = "models";
/// Every model file describes a model behind an OpenAI-compatible server.
const FILE_KIND: &str = "openai";

/// A model that can be asked.
#[derive(Clone, Debug)]
pub(super) struct Model {
    /// As it is opened: a built-in name, the bare name of a shipped model file, or a path.
    pub(super) name: String,
    pub(super) capabilities: Capabilities,
}

/// Finds the model that a name means. The path of a model file is relative to the file that it is written in.
///
/// # Errors
/// Where there is no such model.
pub(super) fn find_model(
    name: &Located<String>,
    capabilities: &dyn Fn(&str) -> Option<Capabilities>,
) -> Result<Model, Mistake> {
    let written = name.value.as_str();
    if names_file(written) {
        let from = name.place.source().path();
        let path = from.map_or_else(|| ConfigPath::Disk(written.into()), |from| from.beside(written));
        let shown = path.shown();
        return match capabilities(&shown).filter(|_| path.exists()) {
            Some(capabilities) => Ok(Model { name: shown, capabilities }),
            None => Err(Mistake::at(&name.place, format!("there is no model file {}", quoted(&shown)))),
        };
    }
    let shipped = embedded_names(FOLDER, ".toml");
    let by_kind = || shipped.iter().any(|name| name == written).then(|| capabilities(FILE_KIND)).flatten();
    let known = capabilities(written).or_else(by_kind);
    known.map(|capabilities| Model { name: written.to_owned(), capabilities }).ok_or_else(|| {
        let names = ["templates", FILE_KIND].into_iter().chain(shipped.iter().map(String::as_str));
        let message = format!("no model {} is known{}", quoted(written), did_you_mean(written, names.clone()));
        let hint = format!("models: {}, openai:ID, or the path of a model file", listed(names));
        Mistake::at(&name.place, message).hint(hint)
    })
}
