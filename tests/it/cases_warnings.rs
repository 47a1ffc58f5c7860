//! What servers do without a word, and what is said of it.

use std::{fs, time::Duration};

use serde_json::json;

use crate::store::{
    model_server::{MODELS_AND_VERSION, ModelServer, choice},
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

/// Only a larger limit helps a model whose tokens ran out while it was thinking: it is not asked again, its tokens are paid, its
/// thoughts reach no sandbox and no prompt, and the trace has them.
#[test]
fn t15_a_model_that_ran_out_of_tokens_while_thinking_is_not_asked_again() {
    let thinking = |member: &'static str| {
        ModelServer::saying(Duration::ZERO, move |_| {
            let message = json!({ "role": "assistant", "content": null, member: "hmm def f(x): return 5" });
            let choice = json!({ "index": 0, "message": message, "finish_reason": "length" });
            json!({ "model": "m", "choices": [choice], "usage": { "prompt_tokens": 50, "completion_tokens": 100 } })
        })
    };
    for member in ["reasoning_content", "reasoning"] {
        let server = thinking(member);
        let (said, trace) = run(&server, 100, "temperature = 0.8");
        assert_eq!(said.matches("ran out of tokens while it was thinking").count(), 1, "{said}");
        assert!(trace.contains(r#""rolecall.choices.ran_out_thinking","value":{"intValue":"1"}"#), "{trace}");
        assert!(trace.contains(r#""rolecall.output_tokens","value":{"intValue":"200"}"#), "two drafts are paid for");
        // Two samples of two drafts each, and not one call more.
        assert_eq!(server.answered().values().sum::<usize>(), 4);
    }
}

/// A reply in JSON of a schema: the role reads its answer, the trace has all of it.
#[test]
fn a_reply_in_json_is_asked_for_and_its_answer_is_read() {
    let server = ModelServer::saying(Duration::ZERO, |body| {
        let is_asked_for = body["response_format"]["json_schema"]["schema"]["required"] == json!(["why", "answer"]);
        let program = if is_asked_for { "def f(x):\n    return x + 1\n" } else { "def f(x):\n    return x\n" };
        let text = json!({ "why": "one more", "answer": program }).to_string();
        let choices: Vec<_> = (0..body["n"].as_u64().unwrap_or(1)).map(|index| choice(index, &text, "stop")).collect();
        json!({ "model": "m", "choices": choices, "usage": { "prompt_tokens": 50, "completion_tokens": 30 } })
    });
    let schema = json!({ "type": "object", "required": ["why", "answer"], "additionalProperties": false,
        "properties": { "why": { "type": "string" }, "answer": { "type": "string" } } });
    let (_, trace) = run(&server, 100, &format!("response_schema = '{schema}'"));
    assert!(trace.contains(r#""rolecall.outcome","value":{"stringValue":"tests_passed"}"#), "{trace}");
}

/// What a server says of itself is kept with the run, word for word, and is no reason against going on.
#[test]
fn what_a_server_says_of_itself_is_kept_word_for_word() {
    let server = server(true, 100);
    let scene = Scene::new(&server);
    let arguments =
        ["run", "--topology", "best_of_n", "--model", "m.toml", "--tasks", "tasks", "--budget", "programs=1"];
    assert_eq!(scene.run(&arguments).status.code(), Some(0));
    let run = &scene.runs()[0];
    let facts = &run["models"]["synthesizer"]["servers"][0];
    assert_eq!((&facts["url"], &facts["models"]), (&json!(server.base_url), &json!(MODELS_AND_VERSION.0)));
    assert_eq!(facts["version"], json!(MODELS_AND_VERSION.1));
    let shown = scene.run(&["runs", "show", run["run"].as_str().unwrap()]);
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("synthesizer: m.toml ({\"version\": \"1.2.3\"})"), "{shown}");
}
