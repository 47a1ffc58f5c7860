//! `rolecall models`: what servers of several kinds are found to do.

use std::process::Output;

use serde_json::{Value, json};

use super::server::{Answer, Server, answer, events};
use crate::cli::{rolecall, text};

fn reply(choices: usize, logprobs: bool) -> Answer {
    let choice = |index: usize| {
        json!({ "index": index, "message": { "content": "{\"ok\": true}" }, "finish_reason": "stop",
            "logprobs": if logprobs { json!({ "content": [] }) } else { Value::Null } })
    };
    let usage = json!({ "prompt_tokens": 20, "completion_tokens": 8 });
    let choices: Vec<Value> = (0..choices).map(choice).collect();
    answer(
        200,
        "content-type: application/json\r\n",
        json!({ "model": "served", "choices": choices, "usage": usage }).to_string(),
    )
}

fn streamed() -> Answer {
    let piece = |index: usize, text: &str| {
        let choice = json!({ "index": index, "delta": { "content": text }, "logprobs": { "content": [] } });
        format!("data: {}", json!({ "model": "served", "choices": [choice] }))
    };
    let usage = json!({ "choices": [], "usage": { "prompt_tokens": 20, "completion_tokens": 16 } });
    let all = [
        piece(0, "{\"ok\":"),
        piece(1, "{\"ok\": true}"),
        piece(0, " true}"),
        format!("data: {usage}"),
        "data: [DONE]".to_owned(),
    ];
    events(&all.iter().map(String::as_str).collect::<Vec<_>>())
}

async fn checked(server: &Server, arguments: &[&str]) -> Output {
    let mut command = tokio::process::Command::from(rolecall(&[&["models", "check", "openai:m"], arguments].concat()));
    command.env("OPENAI_BASE_URL", &server.base_url).env("OPENAI_API_KEY", "sk-s3cret").output().await.unwrap()
}

fn object(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output.stderr)))
}

fn does(checked: &Value) -> Vec<(String, bool)> {
    let found = checked["does"].as_array().unwrap();
    found.iter().map(|one| (one["what"].as_str().unwrap().to_owned(), one["does"].as_bool().unwrap())).collect()
}

fn listed() -> Answer {
    answer(200, "content-type: application/json\r\n", r#"{"data":[{"id":"m"},{"id":"other"}]}"#)
}

fn no_route() -> Answer {
    answer(404, "", "404 page not found")
}

#[tokio::test]
async fn a_server_that_does_everything_is_asked_once() {
    let server = Server::start(vec![listed(), answer(200, "", r#"{"version":"0.9"}"#), streamed()]).await;
    let output = checked(&server, &["--json"]).await;
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let found = object(&output);
    assert!(does(&found).iter().all(|(_, does)| *does) && does(&found).len() == 6, "{found}");
    assert_eq!(found["url"], format!("{}/chat/completions", server.base_url));
    assert_eq!((&found["models"], &found["version"]), (&json!(["m", "other"]), &json!(r#"{"version":"0.9"}"#)));
    assert_eq!((&found["calls"], &found["served_model"]), (&json!(1), &json!("served")));
    assert_eq!((&found["input_tokens"], &found["output_tokens"]), (&json!(20), &json!(16)));
    assert_eq!(server.seen().len(), 3);
    let page = checked(&server, &[]).await;
    for word in ["calls go to", "streaming", "made"] {
        assert!(text(&page.stdout).contains(word), "{}", text(&page.stdout));
    }
}

#[tokio::test]
async fn what_a_server_ignores_is_told() {
    let server = Server::start(vec![no_route(), no_route(), reply(1, false)]).await;
    let found = object(&checked(&server, &["--json"]).await);
    let words: Vec<(String, bool)> = does(&found);
    let of = |what: &str| words.iter().find(|(one, _)| one == what).unwrap().1;
    assert!(
        !of("n") && !of("logprobs") && !of("streaming") && of("json_schema") && of("seed") && of("usage"),
        "{found}"
    );
    assert!(found["models_error"].as_str().unwrap().contains("404"), "{found}");
    assert_eq!((&found["version"], &found["calls"]), (&Value::Null, &json!(1)));
}

#[tokio::test]
async fn a_server_that_refuses_everything_together_is_asked_for_each_thing() {
    let server = Server::answering(|number| match number {
        0 => listed(),
        1 => no_route(),
        // All at once, and then the schema alone.
        2 | 7 => answer(400, "", r#"{"error":{"message":"response_format is not supported"}}"#),
        4 => reply(2, false),
        6 => reply(1, true),
        8 => streamed(),
        _ => reply(1, false),
    })
    .await;
    let output = checked(&server, &["--json"]).await;
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let found = object(&output);
    let refused: Vec<_> = does(&found).into_iter().filter(|(_, does)| !does).map(|(what, _)| what).collect();
    assert_eq!(refused, ["json_schema"], "{found}");
    assert_eq!(found["calls"], 7);
    let why = found["does"].as_array().unwrap().iter().find(|one| one["what"] == "json_schema").unwrap()["why"].clone();
    assert_eq!(why, "400: response_format is not supported");
}

#[tokio::test]
async fn a_server_that_does_not_answer_has_an_exit_code_and_never_shows_the_key() {
    for (status, code) in [(401, 4), (404, 4), (500, 1), (400, 1)] {
        let said = r#"{"error":{"message":"the key sk-s3cret does not work"}}"#;
        let server = Server::start(vec![answer(status, "", said)]).await;
        let output = checked(&server, &["--json"]).await;
        assert_eq!(output.status.code(), Some(code), "{status}: {}", text(&output.stdout));
        let found = object(&output);
        assert_eq!((&found["answers"], &found["calls"]), (&json!(false), &json!(2)));
        assert!(status == 500 || found["error"].as_str().unwrap().contains(&status.to_string()), "{found}");
        assert!(!text(&output.stdout).contains("s3cret") && !text(&output.stderr).contains("s3cret"));
    }
    let output = checked(&Server::start(vec![Answer::Close]).await, &[]).await;
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stdout));
}

#[tokio::test]
async fn models_are_listed_and_the_built_in_one_has_no_server() {
    let list = text(&rolecall(&["models", "list"]).output().unwrap().stdout);
    let names: Vec<&str> = list.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names, ["templates", "openai", "openai:ID", "replay:RUN", "local", "FILE.toml"], "{list}");
    assert_eq!(rolecall(&["models", "check", "templates"]).output().unwrap().status.code(), Some(2));
    assert_eq!(rolecall(&["models", "check", "no-such-model"]).output().unwrap().status.code(), Some(2));
}
