//! An arrangement as written, before its meaning is looked at: values of the right type, each with its place.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde_json::Value;

use crate::{
    config::{ConfigPath, Located, Place, TextSource},
    messages::Intervention,
};

use super::When;

/// The settings that `search.arity` is short for.
const ARITY_SETTINGS: &[&str] = &["drafts", "beam_width", "repairs"];

/// Values by the path of their key.
#[derive(Clone, Debug, Default)]
pub(super) struct Values {
    map: BTreeMap<String, Located<Value>>,
    keys: BTreeMap<String, Place>,
    broken: BTreeSet<String>,
}

impl Values {
    /// Sets a value that is of its key's form; `key` is the place of the key itself.
    pub(super) fn set(&mut self, path: impl Into<String>, key: &Place, value: Located<Value>) {
        let path = path.into();
        self.keys.insert(path.clone(), key.clone());
        self.map.insert(path, value);
    }

    /// Notes that the key is there with a value that cannot be used, so that nobody says that it is missing.
    pub(super) fn set_broken(&mut self, path: impl Into<String>) {
        self.broken.insert(path.into());
    }

    /// The value of a key.
    pub(super) fn get(&self, path: &str) -> Option<&Located<Value>> {
        self.map.get(path)
    }

    /// Where the key itself is written.
    pub(super) fn key_place(&self, path: &str) -> Option<&Place> {
        self.keys.get(path)
    }

    /// The value of a key whose form is a text.
    pub(super) fn text(&self, path: &str) -> Option<&str> {
        self.get(path).and_then(|located| located.value.as_str())
    }

    /// Whether the key is there, with whatever value.
    pub(super) fn mentions(&self, path: &str) -> bool {
        self.map.contains_key(path) || self.broken.contains(path)
    }

    /// The keys directly below a table, with their values.
    pub(super) fn below<'a>(&'a self, table: &str) -> impl Iterator<Item = (&'a str, &'a Located<Value>)> {
        let prefix = format!("{table}.");
        let pairs = self.map.iter();
        pairs.filter_map(move |(path, value)| path.strip_prefix(&prefix).map(|name| (name, value)))
    }

    /// Takes values out.
    pub(super) fn forget(&mut self, paths: &[&str]) {
        for path in paths {
            self.map.remove(*path);
            self.keys.remove(*path);
        }
    }

    /// Lays other values over these.
    pub(super) fn lay(&mut self, over: Self) {
        self.map.extend(over.map);
        self.keys.extend(over.keys);
        self.broken.extend(over.broken);
    }
}

/// `[actors.NAME]`.
#[derive(Clone, Debug)]
pub(super) struct ActorDraft {
    pub(super) name: Located<String>,
    pub(super) values: Values,
}

/// One edge from one actor to one actor.
#[derive(Clone, Debug)]
pub(super) struct EdgeDraft {
    pub(super) from: Located<String>,
    pub(super) to: Located<String>,
    pub(super) when: Option<Located<When>>,
    pub(super) intervene: Option<Located<Intervention>>,
}

impl EdgeDraft {
    /// Whether both lead from the same actor to the same actor.
    pub(super) fn joins_as(&self, other: &Self) -> bool {
        self.from.value == other.from.value && self.to.value == other.to.value
    }
}

/// One arrangement: a file with all that it extends, and what the command line says.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub(super) path: ConfigPath,
    pub(super) source: Arc<TextSource>,
    pub(super) values: Values,
    pub(super) actors: Vec<ActorDraft>,
    pub(super) edges: Vec<EdgeDraft>,
    /// Whether all was read, so that what is missing is really missing.
    pub(super) whole: bool,
}

impl Draft {
    /// The model that an actor asks: its own, else that of the whole arrangement.
    pub(super) fn model_of<'a>(&'a self, actor: &'a ActorDraft) -> Option<&'a Located<Value>> {
        actor.values.get("model").or_else(|| self.values.get("model"))
    }

    /// The tree arity, where it is the value of this setting of an actor that sets none itself.
    pub(super) fn arity_of(&self, setting: &str) -> Option<&Located<Value>> {
        self.values.get("search.arity").filter(|_| ARITY_SETTINGS.contains(&setting))
    }

    /// A sampling parameter of an actor: its own, else that of the whole arrangement.
    pub(super) fn parameter_of<'a>(&'a self, actor: &'a ActorDraft, path: &str) -> Option<&'a Located<Value>> {
        actor.values.get(path).or_else(|| self.values.get(path))
    }
}

/// One file, before it is laid over what it extends.
#[derive(Clone, Debug)]
pub(super) struct Sheet {
    pub(super) draft: Draft,
    pub(super) extends: Option<Located<String>>,
    pub(super) remove_actors: Vec<Located<String>>,
    pub(super) remove_edges: Vec<EdgeDraft>,
    pub(super) replace_edges: bool,
}
