//! Several servers of one model, and servers that are still loading.

use std::collections::BTreeSet;

use rolecall::llm::{
    ChatModel, ChatRequest,
    openai::{OpenAi, OpenAiSettings},
};

use super::{
    GOOD, request,
    server::{Answer, Server, answer},
    settings,
};

/// A call of conversation number `number`.
fn of(number: u64) -> ChatRequest {
    ChatRequest { traceparent: Some(format!("00-0af7651916cd43dd{number:016x}-b7ad6b7169203331-01")), ..request() }
}

async fn servers(answers: [Answer; 3]) -> (Vec<Server>, OpenAiSettings) {
    let mut servers = Vec::new();
    for answer in answers {
        servers.push(Server::start(vec![answer]).await);
    }
    let replicas = servers[1..].iter().map(|server| server.base_url.clone()).collect();
    let settings = OpenAiSettings { replicas, ..settings(&servers[0]) };
    (servers, settings)
}

fn good() -> Answer {
    answer(200, "", GOOD)
}

#[tokio::test]
async fn a_conversation_stays_with_one_server_and_the_record_names_it() {
    let (servers, settings) = servers([good(), good(), good()]).await;
    let (model, _) = OpenAi::connect(settings).await.unwrap();
    let mut homes = BTreeSet::new();
    for conversation in 0..6 {
        let mut seen = BTreeSet::new();
        for _ in 0..3 {
            let reply = model.chat(&of(conversation)).await.unwrap();
            seen.insert(reply.attempts[0].server.clone().unwrap());
        }
        assert_eq!(seen.len(), 1, "{seen:?}");
        homes.extend(seen);
    }
    assert_eq!(homes.len(), 3, "{homes:?}");
    assert!(servers.iter().all(|server| server.seen().len() == 6));
}

#[tokio::test]
async fn a_dead_server_is_left_alone_and_its_conversations_go_on_elsewhere() {
    let (servers, mut settings) = servers([good(), Answer::Close, good()]).await;
    settings.replicas[0] = "http://127.0.0.1:1/v1".to_owned();
    let (model, _) = OpenAi::connect(settings.clone()).await.unwrap();
    let reply = model.chat(&of(1)).await.unwrap();
    let tried: Vec<_> = reply.attempts.iter().map(|it| (it.server.as_deref(), it.error.as_deref())).collect();
    assert_eq!(tried.len(), 2, "{tried:?}");
    assert_eq!(tried[0], (Some("127.0.0.1:1"), Some("connect")));
    assert_eq!(model.chat(&of(1)).await.unwrap().attempts.len(), 1, "it is skipped now");
    assert_eq!((servers[0].seen().len(), servers[2].seen().len()), (0, 2));

    // One that resets every connection is skipped after three in a row.
    settings.replicas[0] = servers[1].base_url.clone();
    let (model, _) = OpenAi::connect(settings).await.unwrap();
    assert!(model.chat(&of(1)).await.is_err(), "three requests, all to its own server");
    assert_eq!(model.chat(&of(1)).await.unwrap().attempts.len(), 1);
    assert_eq!(servers[1].seen().len(), 3);
}

#[tokio::test]
async fn servers_that_load_are_waited_for_and_no_longer_than_said() {
    let loading = || answer(503, "", r#"{"error":{"message":"Loading model","code":503}}"#);
    let server = Server::start(vec![loading(), answer(200, "", r#"{"data":[{"id":"only"}]}"#)]).await;
    let waiting = OpenAiSettings { model: None, wait_secs: 600.0, ..settings(&server) };
    let (model, warnings) = OpenAi::connect(waiting).await.unwrap();
    assert_eq!((model.info().model.as_str(), warnings.len(), server.seen().len()), ("only", 0, 3));

    let server = Server::start(vec![loading()]).await;
    let waiting = OpenAiSettings { wait_secs: 0.1, ..settings(&server) };
    OpenAi::connect(waiting).await.unwrap();
    assert_eq!(server.seen().len(), 1);
    for other in [answer(404, "", "not found"), answer(401, "", "no")] {
        let server = Server::start(vec![other]).await;
        OpenAi::connect(OpenAiSettings { wait_secs: 600.0, ..settings(&server) }).await.unwrap();
        assert_eq!(server.seen().len(), 1, "that will not change");
    }
}
