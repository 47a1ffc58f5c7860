//! What servers do without a word, and what is said of it.

use std::{fs, time::Duration};

use serde_json::json;

use crate::store::{
    model_server::{ModelServer, choice},
    scene::{Scene, conversations, words},
};

/// A run of two choices on a task with a statement of so many bytes; what it said, and its trace.
fn run(server: &ModelServer, statement: usize, parameters: &str) -> (String, String) {
    let scene = Scene::new(server);
    scene.model_file("m.toml", &server.base_url, &format!("[parameters]\n{parameters}\n"));
    let task = format!(
        "id = 'one'\nlanguage = 'python'\nentry_point = 'f'\nstatement = '''\nAdd one.{}\n'''\n[visible]\ncode = '''\nassert f(1) == 2\n'''\n",
        " Really.".repeat(statement / 8)
    );
    fs::write(scene.folder.path().join("one.toml"), task).unwrap();
    let output = scene.run(&[
        "run",
        "--topology",
        "best_of_n",
        "--model",
        "m.toml",
        "--task",
        "one.toml",
        "--budget",
        "programs=2",
        "--seed",
        "1",
        "--samples",
        "2",
        "--json",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", words(&output));
    let trace = conversations(&output).into_values().next().unwrap()["trace"].as_str().unwrap().to_owned();
    (words(&output), fs::read_to_string(scene.folder.path().join(trace)).unwrap())
}

fn server(different: bool, prompt_tokens: u64) -> ModelServer {
    ModelServer::saying(Duration::ZERO, move |body| {
        let text =
            |index: u64| format!("```python\ndef f(x):\n    return x + {}\n```", if different { index } else { 7 });
        let choices: Vec<_> =
            (0..body["n"].as_u64().unwrap_or(1)).map(|index| choice(index, &text(index), "stop")).collect();
        let usage = json!({ "prompt_tokens": prompt_tokens, "completion_tokens": 30 });
        json!({ "model": "m", "choices": choices, "usage": usage })
    })
}

#[test]
fn t14_a_prompt_that_was_cut_in_silence_is_suspected_and_said_once() {
    let (said, trace) = run(&server(true, 400), 8_000, "temperature = 0.5");
    assert_eq!(said.matches("saw far fewer tokens than were sent, 400 of a prompt of").count(), 1, "{said}");
    assert!(trace.contains("rolecall.prompt.cut_bytes"));
    for (tokens, statement) in [(2_000, 8_000), (40, 400)] {
        let (said, trace) = run(&server(true, tokens), statement, "temperature = 0.5");
        assert!(!said.contains("far fewer tokens") && !trace.contains("rolecall.prompt.cut_bytes"), "{said}");
    }
}

#[test]
fn t18_choices_that_are_all_the_same_are_said_once_unless_they_were_asked_for_so() {
    let (said, trace) = run(&server(false, 100), 100, "temperature = 0.8");
    assert_eq!(said.matches("gave 2 choices that are all the same").count(), 1, "{said}");
    assert!(trace.contains(r#""rolecall.choices.distinct","value":{"intValue":"1"}"#), "{trace}");
    let (said, trace) = run(&server(true, 100), 100, "temperature = 0.8");
    assert!(!said.contains("all the same"), "{said}");
    assert!(trace.contains(r#""rolecall.choices.distinct","value":{"intValue":"2"}"#));
    let (said, trace) = run(&server(false, 100), 100, "temperature = 0.0");
    assert!(!said.contains("all the same") && !trace.contains("rolecall.choices.distinct"), "{said}");
}
