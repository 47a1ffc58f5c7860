//! `trace list`.

use std::fs;

use serde_json::{Value, json};

use super::scene::{Scene, begun, line, span, stderr};
use crate::telemetry::story::{Story, refused, seidr};

fn told(rows: &[Value], key: &str) -> Vec<Value> {
    rows.iter().map(|row| row[key].clone()).collect()
}

#[test]
fn conversations_stand_one_a_line_by_their_begin() {
    let scene = Scene::new();
    let mut later = seidr(1);
    later.head.started_ns += 1_000_000_000;
    let sooner = refused();
    scene.write(&later);
    scene.write(&sooner);
    insta::assert_snapshot!(scene.stdout(&["list"]));
    let rows = scene.json(&["list"]);
    assert_eq!(told(&rows, "sample"), [json!(7), json!(1)]);
    let row = &rows[1];
    assert_eq!(row["event"], "listed");
    assert_eq!(row["conversation"], later.head.id.trace_id());
    assert_eq!(row["run"], later.head.run.to_string());
    assert_eq!(row["arrangement"], "seidr");
    assert_eq!((&row["outcome"], &row["solved"]), (&json!("tests_passed"), &json!(true)));
    assert_eq!(row["programs"], later.end.spend.programs);
    assert_eq!(row["model_calls"], later.end.spend.model_calls);
    assert_eq!(row["input_tokens"], later.end.spend.input_tokens);
    assert_eq!(row["state"], "finished");
    assert_eq!(scene.stdout(&["list", "traces"]), scene.stdout(&["list"]));
}

#[test]
fn filters_are_all_to_hold() {
    let scene = Scene::new();
    let other = refused();
    for record in [&seidr(0), &seidr(1), &other] {
        scene.write(record);
    }
    let samples = |more: &[&str]| {
        let all: Vec<&str> = ["list"].iter().chain(more).copied().collect();
        told(&scene.json(&all), "sample")
    };
    assert_eq!(samples(&[]).len(), 3);
    assert_eq!(samples(&["--unsolved"]), [json!(7)]);
    assert_eq!(samples(&["--outcome", "tests_passed"]).len(), 2);
    assert_eq!(samples(&["--outcome", "tests_passed", "--outcome", "budget_model_calls"]).len(), 3);
    assert_eq!(samples(&["--outcome", "running"]).len(), 0);
    assert_eq!(samples(&["--task", "interval-merge", "--unsolved"]), [json!(7)]);
    assert_eq!(samples(&["--task", "another"]).len(), 0);
    assert_eq!(samples(&["--run", "01900000"]).len(), 3);
    assert_eq!(samples(&["--run", "1900000"]).len(), 0);
    let mistake = scene.run(&["list", "--outcome", "pased"]);
    assert_eq!(mistake.status.code(), Some(2));
    assert!(stderr(&mistake).contains("unknown outcome `pased`\n  hint: tests_passed, "), "{}", stderr(&mistake));
    let nothing = scene.run(&["list", "--task", "another"]);
    assert_eq!((nothing.status.code(), nothing.stdout.len()), (Some(0), 0));
}

#[test]
fn one_that_goes_on_is_told_from_one_that_was_killed() {
    let scene = Scene::new();
    let record = seidr(0);
    let mut trace = begun(&scene, &record);
    record.turns.iter().take(5).for_each(|turn| trace.turn(turn));
    let row = |scene: &Scene| scene.json(&["list"]).remove(0);
    let running = row(&scene);
    assert_eq!((&running["state"], &running["outcome"]), (&json!("running"), &Value::Null));
    assert_eq!(running["programs"], 2);
    assert_eq!((&running["model_calls"], &running["input_tokens"]), (&json!(1), &json!(120)));
    assert_eq!(running["task"], "interval-merge");
    assert!(scene.stdout(&["list"]).contains("(running)"));
    drop(trace);
    // A process that another test starts at this moment may hold what this one had open, until it is another program.
    let mut state = row(&scene)["state"].clone();
    for _ in 0..100 {
        if state == "running" {
            std::thread::sleep(std::time::Duration::from_millis(20));
            state = row(&scene)["state"].clone();
        }
    }
    assert_eq!(state, "interrupted");
    assert_eq!(scene.json(&["list", "--outcome", "interrupted", "--unsolved"]).len(), 1);
}

#[test]
fn damage_is_told_and_never_fatal() {
    let scene = Scene::new();
    let file = scene.write(&seidr(0));
    Scene::cut(&file, 6, 40);
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replacen('\n', "\nnot JSON at all \u{1b}[31m\n", 1)).unwrap();
    let traces = scene.folder.path().join("traces");
    fs::write(traces.join("empty.jsonl"), "").unwrap();
    fs::write(traces.join("rubbish.jsonl"), b"\xff\xfe\n").unwrap();
    fs::write(traces.join("notes.txt"), "no trace").unwrap();
    fs::create_dir(traces.join("folder.jsonl")).unwrap();
    let output = scene.run(&["list"]);
    assert_eq!(output.status.code(), Some(0));
    let said = stderr(&output);
    for words in [
        ".jsonl:2: no OTLP trace request",
        ".jsonl: the last line is cut off",
        "empty.jsonl: the file holds no span",
        "rubbish.jsonl:1: not UTF-8",
    ] {
        assert!(said.contains(words), "{words} in {said}");
    }
    assert!(!said.contains('\u{1b}') && !said.contains("notes.txt"), "{said}");
    assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), 2);
    let rows = scene.json(&["list"]);
    assert_eq!(told(&rows, "event"), [json!("unreadable"), json!("unreadable"), json!("listed")]);
    assert_eq!((&rows[2]["cut"], &rows[2]["damage"][0]["line"]), (&json!(true), &json!(2)));
    let missing = scene.run(&["list", "nowhere"]);
    assert_eq!(missing.status.code(), Some(2));
}

#[test]
fn names_of_any_script_keep_the_columns() {
    let scene = Scene::new();
    let mut record = Story::new(0);
    record.head.task = rolecall::ids::TaskId("区間の併合".to_owned());
    scene.write(&record.finish(rolecall::conversation::Outcome::Failed));
    scene.write(&seidr(1));
    let foreign = line("other", &[span(1, 0, "GET /", &[])]);
    fs::write(scene.folder.path().join("traces/foreign.jsonl"), foreign).unwrap();
    insta::assert_snapshot!(scene.stdout(&["list"]));
}
