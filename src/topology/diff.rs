use std::{collections::BTreeMap, fmt};

use serde::Serialize;
use serde_json::{Value, json};

use super::{Checked, Plan, Source};

/// An actor that only one of two arrangements has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OtherActor {
    /// Its name.
    pub name: String,
    /// Its role.
    pub role: String,
}

/// An edge that only one of two arrangements has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OtherEdge {
    /// Where it begins.
    pub from: String,
    /// Where it ends.
    pub to: String,
    /// What it carries.
    pub when: String,
    /// What it does to what it carries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intervene: Option<String>,
}

/// A value that differs. `None` where one side has none.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChangedValue {
    /// Path of the key, as `--explain` shows it.
    pub key: String,
    /// In the first arrangement.
    pub from: Option<Value>,
    /// In the second.
    pub to: Option<Value>,
}

/// What changed from one arrangement to another. Names and descriptions of the arrangements do not count.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TopologyDiff {
    /// Actors of the first alone.
    pub actors_removed: Vec<OtherActor>,
    /// Actors of the second alone.
    pub actors_added: Vec<OtherActor>,
    /// Values of actors that both have, and of the whole arrangement.
    pub changed: Vec<ChangedValue>,
    /// Edges of the first alone.
    pub edges_removed: Vec<OtherEdge>,
    /// Edges of the second alone.
    pub edges_added: Vec<OtherEdge>,
}

impl TopologyDiff {
    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl fmt::Display for TopologyDiff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return writeln!(f, "no difference");
        }
        for (sign, actors) in [('-', &self.actors_removed), ('+', &self.actors_added)] {
            for OtherActor { name, role } in actors {
                writeln!(f, "{sign} actor {name} (role {role})")?;
            }
        }
        for (sign, edges) in [('-', &self.edges_removed), ('+', &self.edges_added)] {
            for OtherEdge { from, to, when, intervene } in edges {
                let intervene = intervene.as_ref().map_or_else(String::new, |word| format!(", {word}"));
                writeln!(f, "{sign} edge {from} -> {to} ({when}{intervene})")?;
            }
        }
        let shown = |value: &Option<Value>| value.as_ref().map_or_else(|| "nothing".to_owned(), Value::to_string);
        for ChangedValue { key, from, to } in &self.changed {
            writeln!(f, "~ {key}: {} -> {}", shown(from), shown(to))?;
        }
        Ok(())
    }
}

/// What changed from `a` to `b`.
pub fn diff(a: &Checked, b: &Checked) -> TopologyDiff {
    let (before, after) = (values(a, &b.plan), values(b, &a.plan));
    let keys = a.explain.iter().chain(&b.explain).map(|setting| setting.key.as_str());
    let mut changed: Vec<ChangedValue> = Vec::new();
    for key in keys {
        let (from, to) = (before.get(key), after.get(key));
        if from != to && !changed.iter().any(|change| change.key == key) {
            changed.push(ChangedValue { key: key.to_owned(), from: from.cloned(), to: to.cloned() });
        }
    }
    changed.extend(changed_texts(&a.plan, &b.plan));
    TopologyDiff {
        actors_removed: actors_without(&a.plan, &b.plan),
        actors_added: actors_without(&b.plan, &a.plan),
        changed,
        edges_removed: edges_without(&a.plan, &b.plan),
        edges_added: edges_without(&b.plan, &a.plan),
    }
}

/// The values of an arrangement that can be compared with another: not those of actors that the other has not, nor of
/// edges, which are compared whole.
fn values(of: &Checked, other: &Plan) -> BTreeMap<String, Value> {
    let shared = |key: &str| match key.strip_prefix("actors.") {
        Some(rest) => rest.split('.').next().is_some_and(|name| other.index_of(name).is_some()),
        None => !key.starts_with("edges.") && key != "name" && key != "description",
    };
    let settings = of.explain.iter().filter(|setting| shared(&setting.key));
    settings.map(|setting| (setting.key.clone(), setting.value.clone())).collect()
}

/// Prompts of the same reference whose texts differ: the user's own files may.
fn changed_texts(a: &Plan, b: &Plan) -> Vec<ChangedValue> {
    let mut changed = Vec::new();
    for node in &a.nodes {
        let Some(other) = b.index_of(&node.name.0).and_then(|index| b.nodes.get(index)) else { continue };
        for (key, prompt) in &node.prompts {
            let Some(other) = other.prompts.get(key) else { continue };
            if prompt.reference == other.reference && prompt.text != other.text {
                let hash = |text: &str| Some(json!(blake3::hash(text.as_bytes()).to_hex().to_string()));
                let key = format!("actors.{}.prompts.{key} (hash of the text)", node.name);
                changed.push(ChangedValue { key, from: hash(&prompt.text), to: hash(&other.text) });
            }
        }
    }
    changed
}

fn actors_without(plan: &Plan, other: &Plan) -> Vec<OtherActor> {
    let missing = plan.nodes.iter().filter(|node| other.index_of(&node.name.0).is_none());
    missing.map(|node| OtherActor { name: node.name.0.clone(), role: node.spec.name.to_owned() }).collect()
}

fn edges_without(plan: &Plan, other: &Plan) -> Vec<OtherEdge> {
    let edges = |plan: &Plan| -> Vec<OtherEdge> {
        let named = plan.edges.iter().map(|edge| OtherEdge {
            from: plan.source_name(edge.from).to_owned(),
            to: plan.source_name(Source::Actor(edge.to)).to_owned(),
            when: edge.when.word().to_owned(),
            intervene: edge.intervene.map(|intervene| intervene.word().to_owned()),
        });
        named.collect()
    };
    let others = edges(other);
    edges(plan).into_iter().filter(|edge| !others.contains(edge)).collect()
}
