//! What is kept survives: crashes at every point, kills, other processes, full disks, damage.

mod bundling;
mod crashes;
mod database;
mod exporting;
mod kills;
pub mod model_server;
mod records;
mod replaying;
mod resuming;
pub mod scene;
mod sharding;

use rolecall::{
    conversation::ConversationRecord,
    evaluation::records::{ConversationRow, ProgramRow},
};
use serde_json::Value;

/// What may differ between equal runs: times, and how answers were come by.
const PROVENANCE: &[&str] = &[
    "started_ns",
    "ended_ns",
    "started_ms",
    "duration_ms",
    "waited_ms",
    "in_doubt",
    "answered_from",
    "cpu_ms",
    "wall_ms",
];

/// A record without what may differ between equal runs.
pub fn result_part(record: &impl serde::Serialize) -> Value {
    let mut value = serde_json::to_value(record).unwrap();
    strip(&mut value);
    value
}

/// The `result` of its rows as they are published, byte for byte.
pub fn result_rows(record: &ConversationRecord) -> Vec<String> {
    let conversation = serde_json::to_string(&ConversationRow::from(record).result).unwrap();
    let programs = ProgramRow::of(record, true);
    let programs = programs.iter().map(|row| serde_json::to_string(&row.result).unwrap());
    [conversation].into_iter().chain(programs).collect()
}

fn strip(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(strip),
        Value::Object(fields) => {
            fields.retain(|name, _| !PROVENANCE.contains(&name.as_str()));
            fields.values_mut().for_each(strip);
        }
        _ => {}
    }
}
