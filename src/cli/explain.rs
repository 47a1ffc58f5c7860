//! `--explain`: every effective setting and where it comes from (flag > environment > file > default).

use clap::ValueEnum;
use comfy_table::{Table, presets::NOTHING};
use serde_json::{Value, json};

use super::{args::RunArgs, machine, terminal};
use crate::topology::Checked;

/// Prints the settings of the arrangement and those of the command itself.
pub fn print(args: &RunArgs, checked: &Checked) {
    let mut rows: Vec<(String, Value, String)> = checked
        .explain
        .iter()
        .map(|setting| (setting.key.clone(), setting.value.clone(), setting.source.to_string()))
        .collect();
    rows.extend(own(args));
    if args.json {
        for (key, value, source) in rows {
            terminal::json(&json!({ "event": "setting", "key": key, "value": value, "source": source }));
        }
        return;
    }
    let mut table = Table::new();
    table.load_preset(NOTHING).set_header(["setting", "value", "source"]);
    for (key, value, source) in rows {
        let value = if let Value::String(text) = value { text } else { value.to_string() };
        table.add_row([key, value, source]);
    }
    terminal::data(&table.to_string());
}

fn own(args: &RunArgs) -> Vec<(String, Value, String)> {
    let given = |is_given: bool| if is_given { "flag" } else { "default" }.to_owned();
    let concurrency = args.concurrency.map_or_else(|| json!(machine::cores() * 4), |number| json!(number));
    let seed = args.seed.map_or_else(|| json!("drawn when the run starts"), |seed| json!(seed));
    let feedback = args.feedback().to_possible_value().map(|value| value.get_name().to_owned());
    let sandbox = args.sandbox().to_possible_value().map(|value| value.get_name().to_owned());
    vec![
        ("seed".to_owned(), seed, given(args.seed.is_some())),
        ("samples".to_owned(), json!(args.samples()), given(args.samples.is_some())),
        ("shard".to_owned(), json!(args.shard), given(args.shard.is_some())),
        ("concurrency".to_owned(), concurrency, given(args.concurrency.is_some())),
        ("feedback".to_owned(), json!(feedback), given(args.feedback.is_some())),
        ("sandbox".to_owned(), json!(sandbox), given(args.sandbox.is_some())),
        ("traces".to_owned(), json!(args.traces().to_string_lossy()), given(args.traces.is_some())),
    ]
}
