//! Finding out which model to ask, and settings that cannot work.

use rolecall::llm::{
    ChatModel, ModelError,
    openai::{ApiKey, OpenAi, OpenAiSettings},
};

use super::{
    GOOD, KEY, request,
    server::{Answer, Server, answer},
    settings,
};

fn without_model(server: &Server) -> OpenAiSettings {
    OpenAiSettings { model: None, ..settings(server) }
}

#[tokio::test]
async fn the_only_model_that_is_listed_is_asked() {
    for list in
        [r#"{"object":"list","data":[{"id":"only"}],"models":[]}"#, r#"{"models":[{"name":"only"}]}"#, r#"["only"]"#]
    {
        let server = Server::start(vec![answer(200, "", list), answer(200, "", GOOD)]).await;
        let (model, warnings) = OpenAi::connect(without_model(&server)).await.unwrap();
        assert_eq!((model.info().model.as_str(), warnings.len()), ("only", 0), "{list}");
        model.chat(&request()).await.unwrap();
        assert!(server.seen()[0].head.starts_with("GET /v1/models "));
        assert_eq!(server.seen()[1].body["model"], "only");
    }
}

#[tokio::test]
async fn without_a_single_model_default_is_asked_with_a_warning() {
    for (list, why) in [
        (answer(200, "", r#"{"data":[{"id":"a"},{"id":"b"}]}"#), "it lists 2: a, b"),
        (answer(200, "", r#"{"data":[]}"#), "it lists none"),
        (answer(404, "", "404 page not found"), "404 page not found"),
        (answer(500, "", ""), "no message"),
        (Answer::Close, "it lists none ("),
    ] {
        let server = Server::start(vec![list]).await;
        let (model, warnings) = OpenAi::connect(without_model(&server)).await.unwrap();
        assert_eq!(model.info().model, "default");
        assert!(warnings.len() == 1 && warnings[0].contains(why), "{warnings:?}");
    }
    let server = Server::start(vec![answer(401, "", "no")]).await;
    let refused = OpenAi::connect(without_model(&server)).await;
    assert!(matches!(refused, Err(ModelError::Refused { status: Some(401), .. })), "{refused:?}");
}

#[tokio::test]
async fn settings_that_cannot_work_are_refused_before_any_request() {
    let server = Server::start(vec![answer(200, "", GOOD)]).await;
    let good = settings(&server);
    let with_key = |key: &str| OpenAiSettings { api_key: ApiKey::new(key), ..good.clone() };
    for (settings, why) in [
        (OpenAiSettings { base_url: "http://127.0.0.1:1".to_owned(), ..good.clone() }, "http://127.0.0.1:1/v1"),
        (with_key("sk-SENTINEL\n"), "header"),
        (OpenAiSettings { timeout_secs: -1.0, ..good.clone() }, "timeout_secs"),
        (OpenAiSettings { total_secs: f64::NAN, ..good.clone() }, "total_secs"),
        (OpenAiSettings { backoff_secs: f64::INFINITY, ..good.clone() }, "backoff_secs"),
    ] {
        let error = OpenAi::connect(settings).await.unwrap_err();
        assert!(matches!(error, ModelError::BadRequest { .. }));
        let text = error.to_string();
        assert!(text.contains(why) && !text.contains("SENTINEL"), "{text}");
    }
    assert!(server.seen().is_empty());
}

#[tokio::test]
async fn without_a_key_no_authorization_is_sent_and_debug_shows_none() {
    let server = Server::start(vec![answer(200, "", GOOD)]).await;
    let (model, _) = OpenAi::connect(OpenAiSettings { api_key: ApiKey::default(), ..settings(&server) }).await.unwrap();
    model.chat(&request()).await.unwrap();
    assert!(!server.seen()[0].head.to_lowercase().contains("authorization"), "{}", server.seen()[0].head);
    let (model, _) = OpenAi::connect(settings(&server)).await.unwrap();
    assert!(!format!("{model:?} {:?}", settings(&server)).contains(KEY));
    let info = model.info();
    assert_eq!((info.provider.as_str(), info.server_address.as_deref()), ("openai", Some("127.0.0.1")));
    assert!(server.base_url.contains(&format!(":{}/", info.server_port.unwrap())));
}

#[tokio::test]
async fn nobody_listens() {
    // Nothing answers on this port, which only the system's own services may use.
    for base_url in ["http://127.0.0.1:1/v1", "https://127.0.0.1:1/v1"] {
        let server = Server::start(vec![answer(200, "", GOOD)]).await;
        let settings = OpenAiSettings { base_url: base_url.to_owned(), ..settings(&server) };
        let error = super::call(settings).await.unwrap_err();
        assert_eq!((error.kind().as_str(), error.attempts().len()), ("connect", 3));
        assert!(error.to_string().contains("refused"), "{error}");
    }
}
