//! Limits that all calls of one model share. How fast requests pass is tested with a virtual clock, beside the code.

use std::{sync::Arc, time::Duration};

use rolecall::llm::{
    ChatModel, ModelError,
    http::PaceLimits,
    openai::{OpenAi, OpenAiSettings},
};

use super::{
    GOOD, request,
    server::{Answer, Server, answer},
    settings,
};

fn slow() -> Answer {
    let Answer::Raw(bytes) = answer(200, "", GOOD) else { unreachable!() };
    let (head, body) = bytes.split_at(20);
    Answer::Pieces { pieces: vec![head.to_vec(), body.to_vec()], wait: Duration::from_millis(30), hold: false }
}

#[tokio::test]
async fn waiting_for_others_is_listed_apart_and_no_part_of_the_limits_of_a_call() {
    let server = Server::start(vec![slow()]).await;
    let pace = PaceLimits { concurrency: 1, requests_per_minute: None, tokens_per_minute: None };
    // Twenty calls of 30 ms one after the other take longer than one call may.
    let settings = OpenAiSettings { pace, total_secs: 0.5, ..settings(&server) };
    let model = Arc::new(OpenAi::connect(settings).await.unwrap().0);
    let calls = (0..20).map(|_| {
        let model = model.clone();
        tokio::spawn(async move { model.chat(&request()).await })
    });
    let mut waited = Vec::new();
    for reply in futures_util::future::join_all(calls).await {
        let reply = reply.unwrap().unwrap();
        assert_eq!(reply.attempts.len(), 1);
        assert!(reply.attempts[0].started_ms >= reply.attempts[0].waited_ms);
        waited.push(reply.attempts[0].waited_ms);
    }
    assert!(*waited.iter().max().unwrap() >= 19 * 30, "{waited:?}");
    assert_eq!(*waited.iter().min().unwrap(), 0, "{waited:?}");
}

#[tokio::test]
async fn a_call_that_waits_for_the_next_minute_can_be_given_up() {
    let server = Server::start(vec![answer(200, "", GOOD)]).await;
    let pace = PaceLimits { concurrency: 8, requests_per_minute: Some(1), tokens_per_minute: None };
    let (model, _) = OpenAi::connect(OpenAiSettings { pace, ..settings(&server) }).await.unwrap();
    let first: Result<_, ModelError> = model.chat(&request()).await;
    assert!(first.is_ok());
    let (waiting, other) = (request(), request());
    assert!(tokio::time::timeout(Duration::from_millis(50), model.chat(&waiting)).await.is_err());
    assert!(tokio::time::timeout(Duration::from_millis(50), model.chat(&other)).await.is_err());
    assert_eq!(server.seen().len(), 1, "one request a minute");
}
