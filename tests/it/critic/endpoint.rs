//! Reward endpoints, against a server that answers as badly as servers do.

use std::{fs, process::Stdio, time::Duration};

use rolecall::{
    conversation::{ConversationRecord, Outcome},
    llm::{
        ModelError,
        http::{ApiKey, JsonServer, JsonServerSettings, Posted},
    },
    messages::RewardSource,
    telemetry::{Projection, project},
};
use serde_json::{Value, json};

use super::{assessments, drafts_assessed, judging, rewards};
use crate::{
    openai::server::{Answer, Server, answer},
    stage::{MadeUpSandbox, company, hold_all, on_stage},
    support::task,
};

const TOKEN: &str = "tok-SENTINEL-0123";

const PROGRAMS: [&str; 2] = ["def f(x): return 1", "nothing here"];

/// A conversation whose two drafts, of which one is no program, are sent to a server with these answers.
fn conversation(answers: Vec<Answer>) -> (ConversationRecord, Vec<crate::openai::server::Seen>) {
    on_stage(async move {
        let server = Server::start(answers).await;
        // A variable that is always there while tests run stands for a token.
        let settings = json!({
            "reward": "endpoint",
            "endpoint": format!("{}/score", server.base_url),
            "endpoint_env": "CARGO_PKG_VERSION",
        });
        let model = judging(&PROGRAMS, |_, _| unreachable!());
        let company = company(drafts_assessed(2, settings), model, MadeUpSandbox::by_text(), None);
        let record = hold_all(&company, &task(3, None), 1, 1).await.remove(0);
        (record, server.seen())
    })
}

#[test]
fn the_documented_json_is_posted_and_its_answer_is_the_reward() {
    let (record, seen) = conversation(vec![answer(200, "", r#"{"reward": -0.5, "comment": "close", "model": "r1"}"#)]);
    assert_eq!(rewards(&record), [Some(-0.5), None], "a reply without a program is not sent");
    let said = assessments(&record);
    assert_eq!((said[0].source, said[0].comment.as_deref()), (RewardSource::Endpoint, Some("close")));
    assert_eq!(said[1].comment.as_deref(), Some("the reply held no program"));
    assert_eq!(seen.len(), 1);
    let expected = json!({
        "version": 1,
        "task": { "id": "t", "statement": "f returns its argument", "language": "python" },
        "program": format!("{}\n", PROGRAMS[0]),
        "verdict": said[0].report.judgement.verdict.name(),
        "tests": said[0].report.judgement.tests.iter().map(|test| test.verdict.name()).collect::<Vec<_>>(),
    });
    assert_eq!(seen[0].body, expected);
    let head = seen[0].head.to_lowercase();
    assert!(head.starts_with("post /v1/score http/1.1"), "{head}");
    for line in
        [format!("authorization: bearer {}", env!("CARGO_PKG_VERSION")), "content-type: application/json".into()]
    {
        assert!(head.contains(&line), "{head}");
    }
    // It is no call of a model: one draft call, and one that asked again for the missing program.
    assert_eq!((record.end.spend.model_calls, record.end.spend.calls_without_usage), (2, 1));
}

#[test]
fn a_request_is_a_span_with_its_status_and_every_time_it_was_sent() {
    let (record, _) = conversation(vec![answer(503, "", "busy"), answer(200, "", r#"{"reward": 2}"#)]);
    assert_eq!(rewards(&record), [Some(2.0), None]);
    let spans = project(&record, Projection::default());
    let span = &spans.iter().find(|one| one.span.name == "execute_tool reward").unwrap().span;
    let shown = serde_json::to_value(span).unwrap().to_string();
    for part in [
        r#"{"key":"http.response.status_code","value":{"intValue":"200"}}"#,
        r#"{"key":"http.response.status_code","value":{"intValue":"503"}}"#,
        r#"{"key":"rolecall.attempts","value":{"intValue":"2"}}"#,
        r#"{"key":"server.address","value":{"stringValue":"127.0.0.1"}}"#,
    ] {
        assert!(shown.contains(part), "{part} in {shown}");
    }
    let critic = record.turns.iter().find(|turn| turn.role == "critic").unwrap();
    let [post] = critic.attempts[0].log.posts.as_slice() else { panic!("one request") };
    assert!(span.start_time_unix_nano == post.started_ns && span.end_time_unix_nano >= post.ended_ns);
}

#[test]
fn an_endpoint_that_refuses_ends_the_conversation_by_name_and_quotes_no_token() {
    let quoted = format!("no such token: {}", env!("CARGO_PKG_VERSION"));
    let (record, seen) = conversation(vec![answer(401, "", quoted)]);
    assert_eq!((record.end.outcome, seen.len()), (Outcome::Failed, 1));
    assert!(record.end.refused, "the run ends with the exit code of a refusal");
    let detail = record.end.outcome_detail.unwrap();
    assert_eq!(detail, "critic, turn 3: endpoint: the provider refused (401): no such token: [key]");
}

async fn post(answers: Vec<Answer>, token: &str, timeout: Duration) -> (Posted, usize) {
    let server = Server::start(answers).await;
    let settings = JsonServerSettings {
        url: format!("{}/score", server.base_url),
        token: ApiKey::new(token),
        timeout,
        backoff_secs: 0.01,
    };
    let check = |answer: &Value| match answer.get("reward") {
        Some(_) => Ok(()),
        None => Err("no reward".to_owned()),
    };
    let posted = JsonServer::new(&settings).unwrap().post(&json!({"version": 1}), 1, check).await;
    assert!(!format!("{settings:?} {posted:?}").contains(TOKEN), "{posted:?}");
    (posted, server.seen().len())
}

/// Longer than any answer takes.
const LONG: Duration = Duration::from_secs(60);

#[tokio::test]
async fn what_may_pass_is_sent_again() {
    for first in [
        answer(429, "", "slow down"),
        answer(500, "", TOKEN),
        answer(200, "", "<html>"),
        answer(200, "", r#"{"score": 1}"#),
        answer(200, "", r#"{"reward": 1"#),
        Answer::Close,
    ] {
        let (posted, count) = post(vec![first.clone(), answer(200, "", r#"{"reward": 1}"#)], TOKEN, LONG).await;
        assert_eq!((posted.answer, count), (Ok(json!({"reward": 1})), 2), "{first:?}");
        assert_eq!(posted.attempts.len(), 2);
    }
}

#[tokio::test]
async fn what_will_not_pass_is_sent_once_and_no_redirect_is_followed() {
    let huge = format!(r#"{{"reward": 1, "comment": "{}"}}"#, "x".repeat(2 << 20));
    for (first, word) in [
        (answer(302, "location: http://127.0.0.1:1/\r\n", ""), "redirects to another address; name that one"),
        (answer(400, "", r#"{"detail": "version 1 is too old"}"#), "version 1 is too old"),
        (answer(403, "", format!("{TOKEN} may not")), "[key] may not"),
        (answer(200, "", huge), "longer than 1048576 bytes"),
    ] {
        let (posted, count) = post(vec![first], TOKEN, LONG).await;
        let error = posted.answer.unwrap_err().to_string();
        assert!(error.contains(word) && count == 1, "{count}: {error}");
    }
}

#[tokio::test]
async fn retries_end() {
    let (posted, count) = post(vec![answer(200, "", r#"{"score": 1}"#)], "", LONG).await;
    assert_eq!(count, 5, "one request and four retries");
    assert!(matches!(posted.answer, Err(ModelError::Unavailable { message, .. }) if message == "no reward"));
    let (posted, _) = post(vec![Answer::Silence], "", Duration::from_millis(200)).await;
    assert_eq!(posted.answer.unwrap_err().kind(), "timeout");
}

/// A critic behind the arrangement `resample`, with a token that the environment holds or does not.
async fn run(token: Option<&str>) -> (Option<i32>, String, Vec<crate::openai::server::Seen>) {
    let server = Server::start(vec![answer(200, "", r#"{"reward": 1}"#)]).await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.toml");
    let text = format!(
        "extends = \"self_debug\"\n[actors.critic]\nrole = \"critic\"\n[actors.critic.settings]\nreward = \"endpoint\"\n\
         endpoint = \"{}\"\nendpoint_env = \"MY_REWARD_TOKEN\"\n[[edges]]\nfrom = \"executor\"\nto = \"critic\"\n\
         when = \"failed\"\n[budget]\nprograms = 2\n",
        server.base_url
    );
    fs::write(&file, text).unwrap();
    let traces = folder.path().join("traces");
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_rolecall"));
    command
        .env("ROLECALL_STORE", "memory")
        .args(["run", "--seed", "1", "--json", "--task"])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/tasks/bank-ledger.toml"))
        .args(["--topology".as_ref(), file.as_os_str(), "--traces".as_ref(), traces.as_os_str()])
        .env("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true")
        .env_remove("OTEL_EXPORTER_OTLP_ENDPOINT")
        .env_remove("MY_REWARD_TOKEN")
        .stdin(Stdio::null());
    if let Some(token) = token {
        command.env("MY_REWARD_TOKEN", token);
    }
    let output = command.output().await.unwrap();
    let mut said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    for line in said.clone().lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        if let Some(trace) = line["trace"].as_str() {
            said += &fs::read_to_string(trace).unwrap();
        }
    }
    (output.status.code(), said, server.seen())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_comes_from_the_environment_and_is_stored_and_shown_nowhere() {
    let (code, said, seen) = run(Some(TOKEN)).await;
    assert_eq!(code, Some(0), "{said}");
    assert!(!seen.is_empty() && seen[0].head.contains(&format!("Bearer {TOKEN}")), "{seen:?}");
    assert!(said.contains("execute_tool reward") && !said.contains(TOKEN), "{said}");

    let (code, said, seen) = run(None).await;
    assert_eq!((code, seen.len()), (Some(2), 0), "{said}");
    let expected =
        "`actors.critic.settings.endpoint_env` names the environment variable MY_REWARD_TOKEN, which is not set";
    assert!(said.contains(expected), "{said}");
}
