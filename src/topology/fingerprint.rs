use serde_json::{Map, Value, json};

use super::{ExampleSettings, ExampleSource, Node, Plan};

/// BLAKE3 of all that makes an arrangement behave as it does, as JSON with sorted keys: actors in order with the texts
/// of their prompts, edges, budgets and the rest. Its name, its description and the paths of its files are no part of it.
pub(super) fn fingerprint(plan: &Plan) -> String {
    let shows = |node: &Node| plan.examples.count > 0 && node.examples;
    let arrangement = json!({
        "actors": plan.nodes.iter().map(|node| actor(node, shows(node))).collect::<Vec<_>>(),
        "edges": plan.edges,
        "parallel_turns": plan.parallel_turns,
        "search": plan.search,
        "stop": plan.stop,
        "budget": plan.budget,
        "shared_budgets": plan.shared,
        "feedback": plan.feedback,
        "examples": plan.nodes.iter().any(shows).then(|| examples(&plan.examples)),
    });
    blake3::hash(sorted(arrangement).to_string().as_bytes()).to_hex().to_string()
}

fn examples(settings: &ExampleSettings) -> Value {
    let data_set = match &settings.source {
        Some(ExampleSource::Benchmark { name, .. }) => Some(name),
        Some(ExampleSource::Tasks(_)) | None => None,
    };
    json!({ "count": settings.count, "split": settings.split, "data_set": data_set })
}

fn actor(node: &Node, shows_examples: bool) -> Value {
    let prompts: Map<String, Value> =
        node.prompts.iter().map(|(key, prompt)| (key.clone(), json!(prompt.text))).collect();
    json!({
        "name": node.name,
        "role": node.spec.name,
        "settings": node.settings,
        "model": node.model,
        "parameters": node.parameters,
        "budget": node.budget,
        "prompts": prompts,
        "examples": shows_examples,
        "gathers": node.gathers,
        "requires": node.requires,
    })
}

/// The same value with the keys of every object in order.
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut pairs: Vec<(String, Value)> = map.into_iter().map(|(key, value)| (key, sorted(value))).collect();
            pairs.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(pairs.into_iter().collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(sorted).collect()),
        other => other,
    }
}
