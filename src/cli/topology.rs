//! `rolecall topology check | show | diff`.

use serde_json::{Value, json};

use super::printed::Printed;
use crate::{
    config::{Mistake, Mistakes, model_capabilities},
    topology::{Checked, Overrides, TopologyRef, diff as difference, draw, load_plan},
};

/// Exit code of a configuration that is wrong.
const WRONG: u8 = 2;

fn load(file: &str) -> Result<Checked, Mistakes> {
    load_with(file, &Overrides::default())
}

fn load_with(file: &str, overrides: &Overrides) -> Result<Checked, Mistakes> {
    load_plan(&TopologyRef::from(file), overrides, &model_capabilities)
}

/// Reports every mistake of an arrangement, on stdout since they are what was asked for; exit code 2 where there are any.
pub fn check(file: &str, json: bool) -> Printed {
    check_with(file, &Overrides::default(), json)
}

/// [`check`], with what the command line says over the file.
pub fn check_with(file: &str, overrides: &Overrides, json: bool) -> Printed {
    let result = load_with(file, overrides);
    let code = if result.is_ok() { 0 } else { WRONG };
    let stdout = match &result {
        _ if json => {
            let mistakes: Vec<Value> = result.as_ref().err().map(mistakes_json).unwrap_or_default();
            let hash = result.as_ref().ok().map(|checked| checked.plan.hash.clone());
            let right = result.is_ok();
            format!(
                "{}\n",
                json!({ "event": "checked", "file": file, "right": right, "hash": hash, "mistakes": mistakes })
            )
        }
        Ok(checked) => {
            let plan = &checked.plan;
            format!("{file}: right ({} actors, {} edges)\n", plan.nodes.len(), plan.edges.len())
        }
        Err(mistakes) => {
            let word = if mistakes.count() == 1 { "mistake" } else { "mistakes" };
            format!("{mistakes}\n{} {word}\n", mistakes.count())
        }
    };
    Printed { stdout, stderr: String::new(), code }
}

/// Draws an arrangement: as text, as a Mermaid flowchart, or as JSON with every effective setting.
pub fn show(file: &str, mermaid: bool, json: bool) -> Printed {
    match load(file) {
        Err(mistakes) => refused(&mistakes),
        Ok(checked) if json => Printed::json(&shown_json(&checked)),
        Ok(checked) if mermaid => Printed::data(draw::mermaid(&checked.plan)),
        Ok(checked) => Printed::data(draw::text(&checked)),
    }
}

/// Says what changed from one arrangement to another. A difference is no fault: the exit code is 0.
pub fn diff(a: &str, b: &str, json: bool) -> Printed {
    match (load(a), load(b)) {
        (Ok(before), Ok(after)) => {
            let difference = difference(&before, &after);
            if json {
                let same = difference.is_empty();
                Printed::json(&json!({ "event": "difference", "a": a, "b": b, "same": same, "changes": difference }))
            } else {
                Printed::data(difference.to_string())
            }
        }
        (before, after) => {
            let mistakes: Vec<Mistakes> = [before.err(), after.err()].into_iter().flatten().collect();
            let stderr = mistakes.iter().map(|mistakes| format!("{mistakes}\n")).collect();
            Printed { stdout: String::new(), stderr, code: WRONG }
        }
    }
}

fn refused(mistakes: &Mistakes) -> Printed {
    Printed { stdout: String::new(), stderr: format!("{mistakes}\n"), code: WRONG }
}

fn mistakes_json(mistakes: &Mistakes) -> Vec<Value> {
    let one = |it: &Mistake| json!({ "file": it.file, "line": it.line, "column": it.column, "message": it.message, "hint": it.hint });
    mistakes.iter().map(one).collect()
}

fn shown_json(checked: &Checked) -> Value {
    let plan = &checked.plan;
    let actors: Vec<Value> = plan
        .nodes
        .iter()
        .map(|node| json!({ "name": node.name, "role": node.spec.name, "model": node.model, "gathers": node.gathers }))
        .collect();
    let edges: Vec<Value> = plan
        .edges
        .iter()
        .map(|edge| {
            let to = plan.nodes.get(edge.to).map(|node| &node.name);
            json!({ "from": plan.source_name(edge.from), "to": to, "when": edge.when, "kinds": plan.kinds(edge) })
        })
        .collect();
    json!({
        "event": "topology",
        "name": plan.name,
        "description": checked.description,
        "hash": plan.hash,
        "actors": actors,
        "edges": edges,
        "settings": checked.explain,
    })
}
