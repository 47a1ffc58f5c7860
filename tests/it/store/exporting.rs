//! The programs of a run that is kept, as other tools read them.

use std::{fs, time::Duration};

use serde_json::Value;

use super::{
    model_server::ModelServer,
    scene::{Scene, conversations, words},
};

/// The last run of the store, and what exporting every program of it gives.
fn every_program(scene: &Scene, run: &[&str]) -> (String, std::process::Output) {
    let run = scene.run(&[&["run", "--tasks", "tasks", "--samples", "2", "--seed", "5", "--json"], run].concat());
    assert_eq!(run.status.code(), Some(0), "{}", words(&run));
    let id = scene.runs()[0]["run"].as_str().unwrap().to_owned();
    let output = scene.run(&["export", &id, "--format", "human-eval", "--programs", "all"]);
    (id, output)
}

#[test]
fn every_draft_is_a_line_where_drafts_are_independent_and_no_line_is_written_elsewhere() {
    let server = ModelServer::start(Duration::ZERO);
    let scene = Scene::new(&server);
    let (run, output) = every_program(&scene, &["--topology", "best_of_n", "--model", "m.toml"]);
    assert_eq!((output.status.code(), words(&output).as_str()), (Some(0), ""));
    let lines = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let rows = scene.folder.path().join("rows");
    let written = scene.run(&["export", &run, "--format", "jsonl", "--out", rows.to_str().unwrap()]);
    assert_eq!(written.status.code(), Some(0), "{}", words(&written));
    let rows = fs::read_to_string(rows.join("programs.jsonl")).unwrap();
    let rows: Vec<Value> = rows.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(rows.len() > 30, "{}", rows.len());
    assert_eq!(lines.len(), rows.len());
    for (line, row) in lines.iter().zip(&rows) {
        assert_eq!(line["task_id"], row["result"]["task"]);
        let text = row["result"]["text"].as_str().unwrap();
        assert_eq!(line["completion"].as_str().unwrap(), format!("\n{text}\n"));
    }

    // The built-in model never says a thing twice; repairs are no samples of their task at all.
    let (_, output) = every_program(&scene, &["--topology", "best_of_n", "--model", "templates"]);
    assert_eq!(output.status.code(), Some(0), "{}", words(&output));
    assert!(words(&output).contains("templates proposes no program twice"), "{}", words(&output));
    let (_, output) =
        every_program(&scene, &["--topology", "self_debug", "--model", "m.toml", "--budget", "programs=4"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        words(&output).contains("is a repair: the programs of this run are no independent samples"),
        "{}",
        words(&output)
    );
    assert!(output.stdout.is_empty());

    // Options that say nothing about the form are mistakes.
    let refused = |arguments: &[&str], why: &str| {
        let output = scene.run(&[&["export", &run], arguments].concat());
        assert_eq!(output.status.code(), Some(2));
        assert!(words(&output).contains(why), "{}", words(&output));
    };
    refused(&["--format", "jsonl"], "name their folder with --out DIR");
    refused(&["--format", "jsonl", "--out", "d", "--programs", "all"], "a row for every program");
    refused(&["--format", "evalplus", "--without-texts"], "--without-texts is for --format jsonl");
}

const RUN: &[&str] = &[
    "run",
    "--topology",
    "seidr",
    "--tasks",
    "tasks",
    "--samples",
    "2",
    "--seed",
    "5",
    "--budget",
    "programs=12",
    "--model",
    "templates",
    "--json",
];

#[test]
fn both_forms_have_a_line_for_every_conversation_with_its_best_program() {
    let server = ModelServer::start(Duration::ZERO);
    let scene = Scene::new(&server);
    let run = scene.run(RUN);
    let held = conversations(&run);
    assert_eq!(held.len(), 4, "{}", words(&run));
    let id = scene.runs()[0]["run"].as_str().unwrap().to_owned();
    let lines = |format: &str| -> Vec<Value> {
        let output = scene.run(&["export", &id, "--format", format]);
        assert_eq!(output.status.code(), Some(0), "{}", words(&output));
        String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let (completions, solutions) = (lines("human-eval"), lines("evalplus"));
    let tasks: Vec<&str> = solutions.iter().map(|line| line["task_id"].as_str().unwrap()).collect();
    assert_eq!(tasks, ["bank-ledger", "bank-ledger", "robot-walk", "robot-walk"]);
    for (completion, solution) in completions.iter().zip(&solutions) {
        assert_eq!(completion["task_id"], solution["task_id"]);
        let program = solution["solution"].as_str().unwrap();
        assert!(program.contains("def "), "{program}");
        assert_eq!(completion["completion"].as_str().unwrap(), format!("\n{program}\n"));
    }
    let file = scene.folder.path().join("samples.jsonl");
    let written = scene.run(&["export", &id, "--format", "evalplus", "--out", file.to_str().unwrap()]);
    assert_eq!(written.status.code(), Some(0), "{}", words(&written));
    assert!(written.stdout.is_empty());
    assert_eq!(fs::read_to_string(file).unwrap().lines().count(), 4);
}
