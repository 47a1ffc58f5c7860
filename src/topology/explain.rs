use std::fmt;

use serde::Serialize;
use serde_json::{Value, json};

use crate::config::{Located, Medium};

use super::{
    Node, Plan, Source, budgets,
    draft::{ActorDraft, Draft},
    schema::TOP_KEYS,
};

/// Where an effective setting comes from; an option is stronger than a variable, a variable than a file, a file than
/// the default.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SettingSource {
    /// An option of the command line.
    Flag(String),
    /// An environment variable.
    Environment(String),
    /// A line of a file.
    File {
        /// Its path.
        path: String,
        /// 1-based.
        line: u32,
    },
    /// It follows from another setting, whatever else says.
    Implied(String),
    /// Nothing says otherwise.
    Default,
}

impl fmt::Display for SettingSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(name) | Self::Environment(name) => f.write_str(name),
            Self::File { path, line } => write!(f, "{path}:{line}"),
            Self::Implied(by) => write!(f, "because of {by}"),
            Self::Default => f.write_str("default"),
        }
    }
}

/// One effective setting: what `--explain` prints.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExplainedSetting {
    /// Its path: `actors.ranker.settings.beam_width`.
    pub key: String,
    /// Its value.
    pub value: Value,
    /// Where it comes from.
    pub source: SettingSource,
}

/// Lists the effective settings: of the arrangement, of each actor, of each edge. Keys without value are left out.
pub(super) fn explain(draft: &Draft, plan: &Plan) -> Vec<ExplainedSetting> {
    let mut listing = Vec::new();
    let mut add =
        |key: String, value: Value, source: SettingSource| listing.push(ExplainedSetting { key, value, source });
    let in_order = budgets::in_order(draft);
    for key in TOP_KEYS.iter().filter(|key| key.path != "model" && !key.path.starts_with("parameters.")) {
        let written = draft.values.get(key.path);
        let (value, source) = match key.path {
            "name" => (Some(json!(plan.name)), source_of(written)),
            "run.parallel_turns" if in_order.is_some() => {
                (Some(json!(plan.parallel_turns)), SettingSource::Implied(in_order.clone().unwrap_or_default()))
            }
            "search.barrier" => {
                let waits = plan.search.barrier.then(|| json!("generation"));
                (written.map(|it| it.value.clone()).or(waits), source_of(written))
            }
            _ => (
                written.map(|it| it.value.clone()).or_else(|| key.default.map(|default| default())),
                source_of(written),
            ),
        };
        if let Some(value) = value {
            add(key.path.to_owned(), value, source);
        }
    }
    for (actor, node) in draft.actors.iter().zip(&plan.nodes) {
        explain_actor((draft, plan), actor, node, &mut add);
    }
    for (edge, written) in plan.edges.iter().zip(&draft.edges) {
        let key = format!("edges.{} -> {}", plan.source_name(edge.from), plan.source_name(Source::Actor(edge.to)));
        add(format!("{key}.when"), json!(edge.when.word()), edge_source(written.when.as_ref()));
        if let Some(intervene) = edge.intervene {
            add(format!("{key}.intervene"), json!(intervene.word()), edge_source(written.intervene.as_ref()));
        }
    }
    listing
}

fn explain_actor(
    (draft, plan): (&Draft, &Plan),
    actor: &ActorDraft,
    node: &Node,
    add: &mut impl FnMut(String, Value, SettingSource),
) {
    let key = |name: &str| format!("actors.{}.{name}", node.name);
    add(key("role"), json!(node.spec.name), source_of(actor.values.get("role")));
    if let Some(model) = &node.model {
        add(key("model"), json!(model), source_of(draft.model_of(actor)));
    }
    if node.gathers {
        let source = if node.spec.gathers {
            SettingSource::Implied("its role".to_owned())
        } else {
            source_of(actor.values.get("gather"))
        };
        add(key("gather"), json!("generation"), source);
        add(key("requires"), json!(node.requires), source_of(actor.values.get("requires")));
    }
    for (name, prompt) in &node.prompts {
        let written = actor.values.get(&format!("prompts.{name}")).or_else(|| actor.values.get("prompt"));
        let default = || node.spec.prompts.iter().find(|prompt| prompt.key == name).map(|prompt| prompt.default);
        // What the user's folder has goes before the shipped prompt of that name.
        let named = written.map_or_else(default, |written| written.value.as_str());
        let source = if named == Some(prompt.reference.as_str()) {
            source_of(written)
        } else {
            SettingSource::Implied("prompts_dir".to_owned())
        };
        add(key(&format!("prompts.{name}")), json!(prompt.reference), source);
    }
    if plan.examples.count > 0 && node.spec.accepts.iter().any(|kind| node.spec.writes(*kind)) {
        add(key("examples"), json!(node.examples), source_of(actor.values.get("examples")));
    }
    if !node.spec.asks.is_empty() {
        for path in TOP_KEYS.iter().map(|key| key.path).filter(|path| path.starts_with("parameters.")) {
            if let Some(written) = draft.parameter_of(actor, path) {
                add(key(path), written.value.clone(), source_of(Some(written)));
            }
        }
    }
    for (name, written) in actor.values.below("budget") {
        add(key(&format!("budget.{name}")), written.value.clone(), source_of(Some(written)));
    }
    for (name, value) in &node.settings {
        let path = format!("settings.{name}");
        let source = match actor.values.get(&path) {
            None if draft.arity_of(name).is_some_and(|arity| arity.value == *value) => {
                SettingSource::Implied("search.arity".to_owned())
            }
            written => source_of(written),
        };
        add(key(&path), value.clone(), source);
    }
}

fn edge_source<T>(written: Option<&Located<T>>) -> SettingSource {
    written.map_or(SettingSource::Default, source_of_located)
}

fn source_of(written: Option<&Located<Value>>) -> SettingSource {
    written.map_or(SettingSource::Default, source_of_located)
}

fn source_of_located<T>(written: &Located<T>) -> SettingSource {
    let source = written.place.source();
    let name = source.name().to_owned();
    match source.medium() {
        Medium::Flag => SettingSource::Flag(name),
        Medium::Environment => SettingSource::Environment(name),
        Medium::File(_) => SettingSource::File { path: name, line: written.place.line_column().0 },
    }
}
