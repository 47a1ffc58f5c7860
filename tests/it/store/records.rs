//! `export --format jsonl`: manifest and rows, their schemas, and that equal runs say the same.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use rolecall::{
    conversation::kept_records,
    store::{Packed, RunRow, RunState, Store},
};
use serde_json::{Value, json};

use super::{
    model_server::ModelServer,
    scene::{Scene, conversations, words},
};
use crate::{
    stage::{MadeUpSandbox, company, hold_all, on_stage, talkative},
    support::{chain, task},
};

const WHAT: [&str; 3] = ["conversation", "program", "manifest"];
const SECRET: &str = "key-that-nobody-may-see";

/// The rows of an exported folder, line by line, by what they are.
fn rows(folder: &Path) -> [Vec<String>; 3] {
    let lines = |name: &str| {
        let text = fs::read_to_string(folder.join(name)).unwrap();
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    // The manifest is written for people too, on many lines.
    let manifest: Value = serde_json::from_str(&lines("manifest.json").concat()).unwrap();
    [lines("conversations.jsonl"), lines("programs.jsonl"), vec![manifest.to_string()]]
}

/// The bytes of the `result` of a row.
fn result(row: &str) -> &str {
    let from = row.find("\"result\":").unwrap();
    let to = row.rfind(",\"provenance\":").unwrap();
    &row[from..to]
}

fn export(scene: &Scene, run: &str, folder: &Path, more: &[&str]) -> std::process::Output {
    let arguments = ["export", run, "--format", "jsonl", "--out", folder.to_str().unwrap()];
    scene.run(&[&arguments, more].concat())
}

/// Holds a run and exports it.
fn held(scene: &Scene, arguments: &[&str], name: &str) -> PathBuf {
    let run = scene.run(&[&["run", "--samples", "2", "--seed", "5", "--json"], arguments].concat());
    assert_eq!(run.status.code(), Some(0), "{}", words(&run));
    let id = scene.runs()[0]["run"].as_str().unwrap().to_owned();
    let folder = scene.folder.path().join(name);
    let output = export(scene, &id, &folder, &[]);
    assert_eq!((output.status.code(), words(&output).as_str()), (Some(0), ""));
    folder
}

fn schema(scene: &Scene, what: &str) -> Value {
    let printed = scene.run(&["export", "--schema", what]);
    assert_eq!(printed.status.code(), Some(0), "{}", words(&printed));
    let schema: Value = serde_json::from_slice(&printed.stdout).unwrap();
    let file = format!("{}/docs/records/{what}.schema.json", env!("CARGO_MANIFEST_DIR"));
    assert_eq!(schema, serde_json::from_str::<Value>(&fs::read_to_string(file).unwrap()).unwrap());
    schema
}

/// Every object of a schema that names fields.
fn objects<'s>(schema: &'s Value, found: &mut Vec<&'s Value>) {
    match schema {
        Value::Array(items) => items.iter().for_each(|item| objects(item, found)),
        Value::Object(fields) => {
            if fields.get("properties").is_some_and(Value::is_object) {
                found.push(schema);
            }
            fields.values().for_each(|field| objects(field, found));
        }
        _ => {}
    }
}

fn assert_valid(scene: &Scene, folder: &Path) {
    for (what, rows) in WHAT.into_iter().zip(rows(folder)) {
        let schema = schema(scene, what);
        let validator = jsonschema::draft202012::new(&schema).unwrap();
        assert!(!rows.is_empty());
        for row in rows {
            let row: Value = serde_json::from_str(&row).unwrap();
            let errors: Vec<String> =
                validator.iter_errors(&row).map(|error| format!("{}: {error}", error.instance_path())).collect();
            assert!(errors.is_empty(), "{what}: {errors:#?}");
        }
    }
}

#[test]
fn schemas_name_every_field_and_no_other() {
    let server = ModelServer::start(Duration::ZERO);
    let scene = Scene::new(&server);
    let documented = fs::read_to_string(format!("{}/docs/records.md", env!("CARGO_MANIFEST_DIR"))).unwrap();
    for what in WHAT {
        let schema = schema(&scene, what);
        assert!(jsonschema::draft202012::meta::validate(&schema).is_ok(), "{what}");
        let mut all = Vec::new();
        objects(&schema, &mut all);
        assert!(all.len() > 3, "{what}");
        for object in all {
            let required: BTreeSet<&str> =
                object["required"].as_array().unwrap().iter().map(|field| field.as_str().unwrap()).collect();
            let fields: BTreeSet<&str> = object["properties"].as_object().unwrap().keys().map(String::as_str).collect();
            // A row has all of them, null where there is nothing to say: one too many and one too few are both refused.
            assert_eq!(required, fields, "{what}");
            assert_eq!(object["additionalProperties"], false, "{what}: {fields:?}");
        }
        for part in ["result", "provenance"] {
            let fields = schema["properties"][part]["properties"].as_object().unwrap();
            for (field, about) in fields {
                let row = format!("| `{field}` | ");
                let described = documented.lines().any(|line| line.starts_with(&row));
                assert!(described && about["description"].is_string(), "{what}: {field}");
            }
        }
    }
}

#[test]
fn equal_runs_have_equal_results_byte_for_byte_whatever_their_concurrency() {
    let server = ModelServer::start(Duration::ZERO);
    let scene = Scene::new(&server);
    let arguments = ["--topology", "seidr", "--tasks", "tasks", "--budget", "programs=12", "--model", "templates"];
    let one = held(&scene, &[&arguments[..], &["--concurrency", "1"]].concat(), "one");
    let many = held(&scene, &[&arguments[..], &["--concurrency", "16"]].concat(), "many");
    assert_valid(&scene, &one);
    let (ones, manys) = (rows(&one), rows(&many));
    assert_eq!((ones[0].len(), ones[2].len()), (4, 1));
    assert!(ones[1].len() > 4);
    for (one, many) in ones.iter().flatten().zip(manys.iter().flatten()) {
        assert_eq!(result(one), result(many));
        assert_ne!(one, many, "the runs differ in their provenance");
    }
    let manifest: Value = serde_json::from_str(&ones[2][0]).unwrap();
    let counted = &manifest["result"];
    assert_eq!((counted["planned"].as_u64(), counted["conversations"].as_u64()), (Some(4), Some(4)));
    assert_eq!(counted["programs"], ones[1].len());
    assert_eq!(counted["datasets"].as_object().unwrap().values().map(|tasks| tasks.as_u64().unwrap()).sum::<u64>(), 2);
    assert_eq!(counted["tasks"].as_array().unwrap().len(), 2);
    // Arms, tasks and samples are in order, and programs within them.
    let places = |rows: &[String]| -> Vec<(String, u64, u64)> {
        let rows = rows.iter().map(|row| serde_json::from_str::<Value>(row).unwrap());
        let place = |row: Value| {
            let result = &row["result"];
            let order = result["order"].as_u64().unwrap_or_default();
            (result["task"].as_str().unwrap().to_owned(), result["sample"].as_u64().unwrap(), order)
        };
        rows.map(place).collect()
    };
    for rows in &ones[..2] {
        let places = places(rows);
        assert!(places.windows(2).all(|pair| pair[0] < pair[1]), "{places:?}");
    }

    // Written once more without texts into the same folder; never among other files.
    let id = manifest["provenance"]["run"].as_str().unwrap().to_owned();
    let output = export(&scene, &id, &one, &["--without-texts"]);
    assert_eq!(output.status.code(), Some(0), "{}", words(&output));
    assert_valid(&scene, &one);
    let without = &rows(&one)[1];
    assert_eq!(without.len(), ones[1].len());
    for (row, with) in without.iter().zip(&ones[1]) {
        let [row, with]: [Value; 2] = [row, with].map(|row| serde_json::from_str(row).unwrap());
        assert!(row["result"]["text"].is_null() && with["result"]["text"].is_string(), "{row}");
        assert_eq!(row["result"]["text_hash"], with["result"]["text_hash"]);
    }
    let others = scene.folder.path().join("others");
    fs::create_dir(&others).unwrap();
    fs::write(others.join("thesis.tex"), "years of work").unwrap();
    let refused = export(&scene, &id, &others, &[]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(words(&refused).contains("holds another file already, thesis.tex"), "{}", words(&refused));
    assert_eq!(fs::read_dir(&others).unwrap().count(), 1);
}

#[test]
fn what_a_server_said_is_in_rows_and_neither_key_nor_path_in_results() {
    let server = ModelServer::start(Duration::ZERO);
    let scene = Scene::new(&server);
    let place = scene.folder.path().to_str().unwrap().to_owned();
    let (tasks, model) = (format!("{place}/tasks"), format!("{place}/m.toml"));
    let mut run = scene.command(&["run", "--topology", "seidr", "--tasks", &tasks, "--model", &model, "--seed", "5"]);
    run.args(["--budget", "programs=12", "--json"]).env("OPENAI_API_KEY", SECRET);
    let run = run.output().unwrap();
    assert_eq!(run.status.code(), Some(0), "{}", words(&run));
    // What is printed as it ends is the row, without its two parts, and where the trace is.
    let parts = schema(&scene, "conversation")["properties"].clone();
    let fields = ["result", "provenance"].map(|part| parts[part]["properties"].as_object().unwrap().clone());
    let mut fields: BTreeSet<String> = fields.into_iter().flatten().map(|(field, _)| field).collect();
    fields.extend(["event", "seconds", "trace", "test_cpu_ms", "limits_calibrated"].map(str::to_owned));
    let printed = conversations(&run);
    let printed = printed.values().next().unwrap().as_object().unwrap();
    assert_eq!(printed.keys().cloned().collect::<BTreeSet<_>>(), fields);

    let folder = scene.folder.path().join("rows");
    let output = export(&scene, scene.runs()[0]["run"].as_str().unwrap(), &folder, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", words(&output));
    assert_valid(&scene, &folder);
    let all = rows(&folder);
    for row in all.iter().flatten() {
        let result = result(row);
        assert!(!row.contains(SECRET), "{row}");
        assert!(!result.contains(&place) && !result.contains("127.0.0.1"), "{result}");
        assert!(!result.contains("\"/"), "a path: {result}");
    }
    let manifest: Value = serde_json::from_str(&all[2][0]).unwrap();
    let [result, provenance] = ["result", "provenance"].map(|part| &manifest[part]["models"]["debugger"]);
    assert_eq!((result["model"].as_str(), provenance["name"].as_str()), (Some("m"), Some(model.as_str())));
    assert_eq!(provenance["server_address"], "127.0.0.1");
    let machine = &manifest["provenance"]["machine"];
    assert!(machine["cpus"].as_u64().unwrap() > 0);
    assert!(machine["tools"]["python3"].as_str().unwrap().starts_with("Python 3."), "{machine}");
    let conversation: Value = serde_json::from_str(&all[0][0]).unwrap();
    assert!(conversation["result"]["model_calls"].as_u64().unwrap() > 0);
    let program: Value = serde_json::from_str(all[1].last().unwrap()).unwrap();
    assert!(!program["result"]["prompt_hashes"].as_array().unwrap().is_empty());
    assert!(!program["result"]["verdicts"].as_array().unwrap().is_empty());
}

#[test]
fn a_conversation_that_an_earlier_version_kept_is_refused_with_the_way_out() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let held = on_stage(async {
        let company = company(chain(1, 1, 2), talkative(), MadeUpSandbox::by_text(), None);
        hold_all(&company, &task(3, None), 1, 1).await.remove(0)
    });
    let (run, conversation) = (held.head.run.to_string(), held.head.id);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let row =
            RunRow { run: run.clone(), plan: String::new(), begun_ns: 0, state: RunState::Ended, facts: json!({}) };
        store.put_run(&row).await.unwrap();
        store.begin_conversation(run.clone(), conversation, Packed::of(&held.head).unwrap()).await.unwrap();
        store.finish_conversation(conversation, Packed::of(&json!({ "end": held.end })).unwrap()).await.unwrap();
    });
    let read: Vec<_> = kept_records(&store, &run).unwrap().collect();
    let [Err(error)] = &read[..] else { panic!("{read:?}") };
    assert!(error.to_string().contains(&format!("--model replay:{run}")), "{error}");
}
