//! Interventions on edges and the budget of patches, as a user meets them.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use crate::cli::{EASY, events, run, text};

const OTHER: &str = "examples/tasks/top-words.toml";

/// A folder with an overlay of INTERVENOR whose teacher's edge does this, and the overlay's path.
fn overlay(intervene: &str) -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("control.toml");
    let edge = format!("[[edges]]\nfrom = \"teacher\"\nto = \"learner\"\nintervene = \"{intervene}\"\n");
    fs::write(&path, format!("extends = \"intervenor\"\n{edge}[budget]\nprograms = 4\n")).unwrap();
    (folder, path.display().to_string())
}

fn arguments<'a>(topology: &'a str, traces: &'a str, tasks: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec!["run", "--topology", topology, "--seed", "1", "--traces", traces, "--json"];
    arguments.extend(tasks.iter().flat_map(|task| ["--task", task]));
    arguments
}

#[test]
fn a_placebo_is_run_recorded_and_shown_in_the_trace() {
    for intervene in ["blank", "shuffle", "oracle"] {
        let (folder, topology) = overlay(intervene);
        let traces = folder.path().join("traces").display().to_string();
        let output = run(&arguments(&topology, &traces, &[EASY, OTHER]));
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let events = events(&output);
        let conversations: Vec<&Value> = events.iter().filter(|it| it["event"] == "conversation_finished").collect();
        assert_eq!(conversations.len(), 2);
        for conversation in conversations {
            assert_eq!(conversation["interventions"], serde_json::json!([format!("teacher -> learner: {intervene}")]));
            let trace = fs::read_to_string(conversation["trace"].as_str().unwrap()).unwrap();
            assert!(
                trace.contains("rolecall.interventions") && trace.contains("\"rolecall.intervention\""),
                "{intervene}"
            );
        }
    }
}

#[test]
fn what_an_intervention_needs_is_asked_for_before_anything_starts() {
    let (folder, topology) = overlay("shuffle");
    let traces = folder.path().join("traces").display().to_string();
    let alone = run(&arguments(&topology, &traces, &[EASY]));
    assert_eq!(alone.status.code(), Some(2));
    assert!(
        text(&alone.stderr).contains("needs a diagnosis of another task for robot-walk"),
        "{}",
        text(&alone.stderr)
    );

    let file = folder.path().join("diagnoses.jsonl");
    fs::write(&file, "{\"task\": \"elsewhere\", \"text\": \"It forgets the last one.\"}\n\n").unwrap();
    let path = file.display().to_string();
    let with = |arguments: Vec<&str>| run(&[arguments, vec!["--diagnoses", &path]].concat());
    let given = with(arguments(&topology, &traces, &[EASY]));
    assert_eq!(given.status.code(), Some(0), "{}", text(&given.stderr));

    fs::write(&file, "{\"task\": \"elsewhere\", \"text\": \"x\"}\n{\"task\": 5}\n").unwrap();
    let broken = with(arguments(&topology, &traces, &[EASY]));
    assert_eq!(broken.status.code(), Some(2));
    assert!(text(&broken.stderr).contains("diagnoses.jsonl:2: "), "{}", text(&broken.stderr));

    let useless = with(arguments("seidr", &traces, &[EASY]));
    assert_eq!(useless.status.code(), Some(2));
    assert!(text(&useless.stderr).contains("--diagnoses has no use"), "{}", text(&useless.stderr));

    let (folder, topology) = overlay("oracle");
    let task = folder.path().join("task.toml");
    let whole = fs::read_to_string(EASY).unwrap();
    let start = whole.find("reference = '''").unwrap();
    let end = start + 15 + whole[start + 15..].find("'''").unwrap() + 3;
    fs::write(&task, format!("{}{}", &whole[..start], &whole[end..])).unwrap();
    let path = task.display().to_string();
    let without = run(&arguments(&topology, &traces, &[&path]));
    assert_eq!(without.status.code(), Some(2));
    assert!(text(&without.stderr).contains("needs the reference program of every task"), "{}", text(&without.stderr));
}

#[test]
fn a_schedule_of_patches_is_exact_and_the_four_outcomes_add_up() {
    let folder = tempfile::tempdir().unwrap();
    let traces = folder.path().join("traces").display().to_string();
    let output = run(&arguments("art_of_repair", &traces, &[EASY, OTHER]));
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    for event in events(&output).iter().filter(|event| event["event"] == "conversation_finished") {
        let patches = &event["patches"];
        let count = |word: &str| patches[word].as_u64().unwrap();
        assert_eq!(event["programs"], 10);
        assert_eq!(count("plausible") + count("wrong") + count("timeout") + count("uncompilable"), 10, "{patches}");
        assert_eq!(event["outcome"], "budget_generations");
        assert_eq!(event["programs_to_solve"].is_null(), count("plausible") == 0);
    }
}

#[test]
fn a_learner_that_gathers_reports_and_diagnoses_waits_for_its_teacher_of_the_same_round() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("both.toml");
    let text_of_it = "extends = \"intervenor\"\n[actors.learner]\ngather = \"generation\"\nrequires = \"all\"\n\
                      [[edges]]\nfrom = \"executor\"\nto = \"learner\"\n[budget]\ngenerations = 1\n";
    fs::write(&path, text_of_it).unwrap();
    let (topology, traces) = (path.display().to_string(), folder.path().join("traces").display().to_string());
    let output = run(&arguments(&topology, &traces, &[OTHER]));
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let events = events(&output);
    assert_ne!(events[0]["outcome"], "starved_join", "{}", events[0]);
    assert_eq!(events[0]["programs"], 2, "{}", events[0]);
}
