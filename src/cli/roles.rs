//! `rolecall roles`.

use comfy_table::{ContentArrangement, Table, presets};
use serde_json::{Value, json};

use super::printed::Printed;
use crate::{agents::ROLES, messages::Kind, runtime::RoleEntry};

/// Lists every role: what it does, takes, says and asks for, its settings with their defaults, and its prompts.
pub fn list(json: bool) -> Printed {
    if json {
        let lines: String = ROLES.iter().map(|entry| format!("{}\n", as_json(entry))).collect();
        return Printed::data(lines);
    }
    let mut table = Table::new();
    table.load_preset(presets::UTF8_HORIZONTAL_ONLY).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_header(["role", "accepts", "emits", "settings (default)", "prompts"]);
    for entry in ROLES {
        let spec = entry.spec;
        let accepts = kinds(spec.accepts).join("\n");
        let gathers = if spec.gathers { "\n(gathers)" } else { "" };
        table.add_row([
            format!("{}\n{}", spec.name, spec.summary),
            format!("{accepts}{gathers}"),
            kinds(spec.emits).join("\n"),
            settings(entry)
                .iter()
                .map(|(name, default, _)| match default {
                    Value::Null => (*name).to_owned(),
                    default => format!("{name} ({default})"),
                })
                .collect::<Vec<_>>()
                .join("\n"),
            spec.prompts.iter().map(|one| format!("{}: {}", one.key, one.default)).collect::<Vec<_>>().join("\n"),
        ]);
    }
    Printed::data(format!("{table}\n"))
}

fn kinds(kinds: &[Kind]) -> Vec<&'static str> {
    kinds.iter().map(|kind| kind.name()).collect()
}

/// Name, default (null where there is none) and help of each setting.
fn settings(entry: &RoleEntry) -> Vec<(&'static str, Value, &'static str)> {
    let defaults = entry.default_settings();
    let keys = entry.spec.settings.iter();
    keys.map(|key| (key.name, defaults.get(key.name).cloned().unwrap_or_default(), key.help)).collect()
}

fn as_json(entry: &RoleEntry) -> Value {
    let spec = entry.spec;
    let settings: Vec<Value> = settings(entry)
        .into_iter()
        .map(|(name, default, help)| json!({ "name": name, "default": default, "help": help }))
        .collect();
    let asks: Vec<Value> =
        spec.asks.iter().map(|(kind, purpose)| json!({ "on": kind.name(), "purpose": purpose.name() })).collect();
    let prompts: Vec<Value> =
        spec.prompts.iter().map(|one| json!({ "key": one.key, "default": one.default })).collect();
    json!({
        "event": "role",
        "role": spec.name,
        "summary": spec.summary,
        "accepts": kinds(spec.accepts),
        "emits": kinds(spec.emits),
        "gathers": spec.gathers,
        "runs_programs": spec.evaluates,
        "asks": asks,
        "settings": settings,
        "prompts": prompts,
    })
}
