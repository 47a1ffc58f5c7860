//! One actor: its role, settings, prompts, model and parameters.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::{
    agents::{ROLES, role},
    config::{Key, Located, Mistake, did_you_mean, listed, parameters::ALL, quoted},
    domain::Slots,
    ids::ActorName,
    llm::{Capabilities, Parameters, Terms},
    messages::Kind,
    runtime::{PromptKey, RoleEntry},
};

use super::{
    Node, PromptRef, Requires, budgets,
    draft::{ActorDraft, Draft},
    examples,
    models::{Model, find_model},
    prompts::{folder, load_prompt},
    unknown::unknown_key,
};

/// An actor whose meaning was looked at. `part` is `None` where its role is not known.
pub(super) struct Member<'d> {
    pub(super) draft: &'d ActorDraft,
    pub(super) part: Option<Part>,
}

/// What an actor of a known role is.
pub(super) struct Part {
    pub(super) entry: &'static RoleEntry,
    pub(super) node: Node,
    /// Its model, where it has one that is known.
    pub(super) model: Option<Model>,
    /// Whether it asks a model under its settings.
    pub(super) asks: bool,
    /// The references of its prompts that are no paths.
    pub(super) bare_prompts: Vec<String>,
}

impl Part {
    /// What its model's calls cost, as far as it is known.
    pub(super) fn terms(&self) -> Terms {
        self.model.as_ref().map(|model| model.capabilities.terms).unwrap_or_default()
    }
}

/// Looks at one actor. Mistakes are added; where a value is wrong its default stands in, so that the rest is looked at.
pub(super) fn member<'d>(
    draft: &'d Draft,
    actor: &'d ActorDraft,
    capabilities: &dyn Fn(&str) -> Option<Capabilities>,
    mistakes: &mut Vec<Mistake>,
) -> Member<'d> {
    let mut looking = Looking { draft, actor, mistakes };
    let part = looking.role().map(|entry| looking.part(entry, capabilities));
    Member { draft: actor, part }
}

struct Looking<'d, 'm> {
    draft: &'d Draft,
    actor: &'d ActorDraft,
    mistakes: &'m mut Vec<Mistake>,
}

impl Looking<'_, '_> {
    fn path(&self, key: &str) -> String {
        format!("actors.{}.{key}", self.actor.name.value)
    }

    fn role(&mut self) -> Option<&'static RoleEntry> {
        let known = || ROLES.iter().map(|entry| entry.spec.name);
        let hint = || format!("roles: {}", listed(known()));
        let Some(written) = self.actor.values.get("role") else {
            if !self.actor.values.mentions("role") {
                let message = format!("{} has no `role`", quoted(&format!("actors.{}", self.actor.name.value)));
                self.mistakes.push(Mistake::at(&self.actor.name.place, message).hint(hint()));
            }
            return None;
        };
        let name = written.value.as_str().unwrap_or_default();
        let found = role(name);
        if found.is_none() {
            let message = format!("there is no role {}{}", quoted(name), did_you_mean(name, known()));
            self.mistakes.push(Mistake::at(&written.place, message).hint(hint()));
        }
        found
    }

    fn part(&mut self, entry: &'static RoleEntry, capabilities: &dyn Fn(&str) -> Option<Capabilities>) -> Part {
        let spec = entry.spec;
        let settings = self.settings(entry);
        let calls = |kind: Kind| entry.calls(&settings, kind, 1);
        let asks = spec.asks.iter().any(|(kind, _)| calls(*kind) > 0);
        let model = if spec.asks.is_empty() { self.refuse_model(entry) } else { self.model(asks, capabilities) };
        let values = &self.actor.values;
        let gathers = spec.gathers || values.get("gather").is_some();
        let requires = if values.text("requires") == Some("all") { Requires::All } else { Requires::Any };
        if let (Some(key), false) = (values.key_place("requires"), gathers || values.mentions("gather")) {
            let message = format!("{} has no use: the actor does not gather", quoted(&self.path("requires")));
            self.mistakes.push(Mistake::at(key, message).hint("add `gather = \"generation\"`"));
        }
        let writes = |kind: &Kind| spec.writes(*kind);
        let slots: BTreeMap<Kind, Slots> = spec
            .accepts
            .iter()
            .filter(|kind| writes(kind))
            .filter_map(|kind| entry.slots(&settings, *kind).map(|slots| (*kind, slots)))
            .collect();
        let examples = examples::shows(spec, values, &self.path("examples"), self.mistakes);
        let (prompts, bare_prompts) = self.prompts(entry);
        let node = Node {
            name: ActorName(self.actor.name.value.clone()),
            spec,
            model: model.as_ref().map(|model| model.name.clone()),
            parameters: self.parameters(),
            budget: budgets::calls(values, "budget"),
            prompts,
            examples,
            gathers,
            requires,
            exclusive: model.as_ref().is_some_and(|model| model.capabilities.avoids_repeats)
                && spec.accepts.iter().any(writes),
            shares: self.shares(&slots),
            slots,
            settings,
            rank: 0,
        };
        Part { entry, node, model, asks, bare_prompts }
    }

    fn settings(&mut self, entry: &'static RoleEntry) -> Map<String, Value> {
        let spec = entry.spec;
        let mut settings = entry.default_settings();
        for key in spec.settings {
            if let Some(arity) = self.draft.arity_of(key.name) {
                settings.insert(key.name.to_owned(), arity.value.clone());
            }
        }
        for (name, written) in self.actor.values.below("settings") {
            let path = format!("settings.{name}");
            let Some(key) = spec.settings.iter().find(|key| key.name == name) else {
                let known: Vec<&str> = spec.settings.iter().map(|key| key.name).collect();
                let place = self.actor.values.key_place(&path).unwrap_or(&written.place);
                self.mistakes.push(unknown_key(name, place, &self.path("settings"), &known));
                continue;
            };
            match entry.check_key(name, &written.value) {
                Ok(()) => drop(settings.insert(name.to_owned(), written.value.clone())),
                Err(reason) => {
                    let message = format!("{}: {reason}", quoted(&self.path(&path)));
                    self.mistakes.push(Mistake::at(&written.place, message).hint(key.help));
                }
            }
        }
        match entry.check(&settings) {
            Ok(errors) => {
                for error in errors {
                    let path = format!("settings.{}", error.key);
                    let place = self.actor.values.get(&path).map_or(&self.actor.name.place, |written| &written.place);
                    let message = format!("{} {}", quoted(&self.path(&path)), error.reason);
                    self.mistakes.push(Mistake::at(place, message));
                }
            }
            Err(reason) => {
                let message = format!("{}: {reason}", quoted(&self.path("settings")));
                self.mistakes.push(Mistake::at(&self.actor.name.place, message));
            }
        }
        settings
    }

    /// Under a schedule of widths, the kinds on which a writer has no number of its own.
    fn shares(&self, slots: &BTreeMap<Kind, Slots>) -> BTreeSet<Kind> {
        let scheduled = self.draft.values.get("search.widths").and_then(|it| it.value.as_array());
        let own = |setting: &str| {
            self.actor.values.mentions(&format!("settings.{setting}")) || self.draft.arity_of(setting).is_some()
        };
        let shares = |kind: &Kind| !own(if *kind == Kind::Task { "drafts" } else { "repairs" });
        match scheduled {
            Some(widths) if !widths.is_empty() => slots.keys().copied().filter(shares).collect(),
            _ => BTreeSet::new(),
        }
    }

    fn model(&mut self, asks: bool, capabilities: &dyn Fn(&str) -> Option<Capabilities>) -> Option<Model> {
        let Some(written) = self.draft.model_of(self.actor) else {
            let mentioned = self.actor.values.mentions("model") || self.draft.values.mentions("model");
            if asks && !mentioned && self.draft.whole {
                let message = format!("{} asks a model and none is named", quoted(&self.actor.name.value));
                let hint = "add `model = \"templates\"` above the first table, or to the actor";
                self.mistakes.push(Mistake::at(&self.actor.name.place, message).hint(hint));
            }
            return None;
        };
        let name = Located::new(written.value.as_str().unwrap_or_default().to_owned(), written.place.clone());
        find_model(&name, capabilities).map_err(|mistake| self.mistakes.push(mistake)).ok()
    }

    /// A role that asks no model has no use for keys that are about one.
    fn refuse_model(&mut self, entry: &RoleEntry) -> Option<Model> {
        let below = |table: &str| -> Vec<String> {
            self.actor.values.below(table).map(|(name, _)| format!("{table}.{name}")).collect()
        };
        let (parameters, budget) = (below("parameters"), below("budget"));
        for key in ["model".to_owned()].into_iter().chain(parameters).chain(budget) {
            let Some(place) = self.actor.values.key_place(&key) else { continue };
            let message =
                format!("{} has no use: the role {} asks no model", quoted(&self.path(&key)), quoted(entry.spec.name));
            self.mistakes.push(Mistake::at(place, message));
        }
        None
    }

    fn parameters(&mut self) -> Parameters {
        let name = |key: &Key| key.path;
        let written = |name: &'static str| self.draft.parameter_of(self.actor, &format!("parameters.{name}"));
        let values = ALL.iter().map(name).filter_map(|name| Some((name.to_owned(), written(name)?.value.clone())));
        // Every value is of the form of its key.
        let parameters: Parameters = serde_json::from_value(Value::Object(values.collect())).unwrap_or_default();
        if let Some((key, why)) = parameters.contradiction()
            && let Some(written) = written(key)
        {
            self.mistakes.push(Mistake::at(&written.place, format!("`{key}` {why}")));
        }
        parameters
    }

    /// Its prompts by key, and the references among them that are no paths.
    fn prompts(&mut self, entry: &RoleEntry) -> (BTreeMap<String, PromptRef>, Vec<String>) {
        let values = &self.actor.values;
        let keys: Vec<&str> = entry.spec.prompts.iter().map(|prompt| prompt.key).collect();
        for (name, written) in values.below("prompts").filter(|(name, _)| !keys.contains(name)) {
            let place = values.key_place(&format!("prompts.{name}")).unwrap_or(&written.place);
            self.mistakes.push(unknown_key(name, place, &self.path("prompts"), &keys));
        }
        if let (Some(place), false) = (values.key_place("prompt"), keys.len() == 1) {
            let (prompt, role) = (quoted(&self.path("prompt")), quoted(entry.spec.name));
            self.mistakes.push(if keys.is_empty() {
                Mistake::at(place, format!("{prompt} has no use: the role {role} has no prompt"))
            } else {
                let message = format!("{prompt} is not enough: the role {role} has the prompts {}", listed(&keys));
                Mistake::at(place, message).hint(format!("name them in `[{}]`", self.path("prompts")))
            });
        }
        let (mut prompts, mut bare) = (BTreeMap::new(), Vec::new());
        let folder = folder(self.draft);
        for PromptKey { key, default, purpose } in entry.spec.prompts {
            let path = format!("prompts.{key}");
            let alone = values.get("prompt").filter(|_| keys.len() == 1);
            let written = match (values.get(&path), alone) {
                (Some(written), Some(_)) => {
                    let message = format!("{} and `prompt` are the same", quoted(&self.path(&path)));
                    self.mistakes.push(Mistake::at(&written.place, message).hint("keep one of them"));
                    continue;
                }
                (written, alone) => written.or(alone),
            };
            let (reference, place) = match written {
                Some(Located { value: Value::String(reference), place }) => (reference.as_str(), place),
                Some(Located { place, .. }) => {
                    let message = format!("{} must be the name or path of a prompt", quoted(&self.path(&path)));
                    self.mistakes.push(Mistake::at(place, message));
                    continue;
                }
                None => (*default, &self.actor.name.place),
            };
            bare.extend((!reference.ends_with(".md")).then(|| reference.to_owned()));
            match load_prompt(*purpose, reference, place, folder.as_ref()) {
                Ok(prompt) => drop(prompts.insert((*key).to_owned(), prompt)),
                Err(mistakes) => self.mistakes.extend(mistakes),
            }
        }
        (prompts, bare)
    }
}
