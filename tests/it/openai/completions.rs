//! Models that are asked for a completion of one text.

use rolecall::llm::{
    ChatModel, ModelError,
    openai::{Api, OpenAi, OpenAiSettings, PromptTemplate},
};
use serde_json::json;

use super::{
    call, request,
    server::{Server, answer, events},
    settings,
};

const REPLY: &str = r#"{"id":"c","model":"base","choices":[{"index":0,"text":"<think>hm</think>x = 1","finish_reason":"stop","logprobs":{"token_logprobs":[-0.5]}}],"usage":{"prompt_tokens":3,"completion_tokens":5}}"#;

fn completing(server: &Server, template: &str) -> OpenAiSettings {
    OpenAiSettings { api: Api::Completions(PromptTemplate::parse(template).unwrap()), ..settings(server) }
}

#[tokio::test]
async fn the_prompt_is_one_text_and_the_reply_stands_alone() {
    let server = Server::start(vec![answer(200, "", REPLY)]).await;
    let (model, _) = OpenAi::connect(completing(&server, PromptTemplate::DEFAULT)).await.unwrap();
    let mut request = request();
    (request.choices, request.parameters.logprobs) = (2, Some(true));
    let reply = model.chat(&request).await.unwrap();
    let choice = &reply.choices[0];
    assert_eq!((choice.text.as_str(), choice.reasoning.as_deref()), ("x = 1", Some("hm")));
    assert_eq!((choice.logprobs.unwrap().tokens, reply.model.as_str()), (1, "base"));
    let seen = &server.seen()[0];
    assert!(seen.head.starts_with("POST /v1/completions "), "{}", seen.head);
    assert_eq!(
        seen.body,
        json!({
            "model": "m", "prompt": "You repair.\n\nThis.", "echo": false, "stream": false, "n": 2, "seed": i64::MAX,
            "logprobs": 1,
        })
    );
}

#[tokio::test]
async fn a_template_of_the_users_own_makes_the_text() {
    let server = Server::start(vec![answer(200, "", REPLY)]).await;
    call(completing(&server, "{{ messages[1].content }}\n# <fixed>\n")).await.unwrap();
    assert_eq!(server.seen()[0].body["prompt"], "This.\n# <fixed>\n");
    let for_two = PromptTemplate::parse("{{ messages[1].content }}").unwrap();
    let mut alone = request();
    alone.messages.truncate(1);
    let (model, _) =
        OpenAi::connect(OpenAiSettings { api: Api::Completions(for_two), ..settings(&server) }).await.unwrap();
    let error = model.chat(&alone).await.unwrap_err();
    assert!(matches!(error, ModelError::BadRequest { status: None, .. }), "{error:?}");
    assert_eq!(server.seen().len(), 1, "nothing is sent");
}

#[tokio::test]
async fn completions_stream_too() {
    let chunk =
        |text: &str, reason: &str| format!(r#"data: {{"choices":[{{"text":"{text}","finish_reason":{reason}}}]}}"#);
    let stream = [chunk("x = ", "null"), chunk("1", "\"length\"")];
    let server = Server::start(vec![events(&[&stream[0], &stream[1], "data: [DONE]"])]).await;
    let reply = call(OpenAiSettings { stream: true, ..completing(&server, PromptTemplate::DEFAULT) }).await.unwrap();
    assert_eq!((reply.choices[0].text.as_str(), reply.choices[0].finish_reason.as_str()), ("x = 1", "length"));
}
