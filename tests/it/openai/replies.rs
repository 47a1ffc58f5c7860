//! Replies of every shape, and what requests look like.

use rolecall::{
    domain::Usage,
    llm::{
        ChatMessage, ChatModel, ChatRequest, ChatRole, ModelError, Parameters, SeedRule,
        openai::{OpenAi, OpenAiSettings, SystemRole, set_by},
    },
};
use serde_json::json;

use super::{
    GOOD, KEY, call, request,
    server::{Server, answer},
    settings,
};

#[tokio::test]
async fn t01_no_harmless_field_sinks_a_good_reply() {
    for (what, from, to) in [
        ("nothing", "", ""),
        ("no object", r#""object":"chat.completion","#, ""),
        ("no id", r#""id":"a","#, ""),
        ("id null", r#""id":"a""#, r#""id":null"#),
        ("no created", r#""created":1,"#, ""),
        ("created in ms", r#""created":1"#, r#""created":1781492230123"#),
        ("created 1.5", r#""created":1"#, r#""created":1.5"#),
        ("no index", r#""index":0,"#, ""),
        ("no role", r#""role":"assistant","#, ""),
        ("unknown role", r#""role":"assistant""#, r#""role":"model""#),
        ("a tier", r#""created":1"#, r#""created":1,"service_tier":"on_demand""#),
        (
            "content in parts",
            r#""content":"hi""#,
            r#""content":[{"type":"text","text":"h"},{"type":"text","text":"i"}]"#,
        ),
        ("text for message", r#""message":{"role":"assistant","content":"hi"}"#, r#""text":"hi""#),
        (
            "tool calls without id",
            r#""content":"hi""#,
            r#""content":"hi","tool_calls":[{"function":{"arguments":{}}}]"#,
        ),
        ("odd annotations", r#""content":"hi""#, r#""content":"hi","annotations":["x"]"#),
        ("not a number", r#""created":1"#, r#""created":NaN"#),
        ("the same key twice", r#""created":1"#, r#""created":1,"created":2"#),
        ("byte-order mark", r#"{"id":"a""#, "\u{feff}{\"id\":\"a\""),
        ("blank lines", r#"{"id":"a""#, "\n\n{\"id\":\"a\""),
        ("error null", r#""created":1"#, r#""error":null"#),
    ] {
        let body = GOOD.replacen(from, to, 1);
        assert!(from.is_empty() || body != GOOD, "{what}");
        let server = Server::start(vec![answer(200, "", &body)]).await;
        let reply = call(settings(&server)).await.unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(reply.choices.len(), 1, "{what}");
        assert_eq!((reply.choices[0].text.as_str(), reply.choices[0].finish_reason.as_str()), ("hi", "stop"), "{what}");
        assert_eq!(reply.usage, Usage { input_tokens: Some(3), output_tokens: Some(5), ..Usage::default() }, "{what}");
        assert_eq!((reply.model.as_str(), server.seen().len()), ("m-2026", 1), "{what}");
        assert_eq!((reply.attempts.len(), reply.attempts[0].status), (1, Some(200)), "{what}");
    }
}

#[tokio::test]
async fn t01_what_a_reply_does_not_say_is_unknown() {
    for (from, to, usage, finish, model) in [
        (
            r#""usage":{"prompt_tokens":3,"completion_tokens":5,"total_tokens":8}"#,
            r#""usage":null"#,
            (None, None),
            "stop",
            "m-2026",
        ),
        (r#","usage":{"prompt_tokens":3,"completion_tokens":5,"total_tokens":8}"#, "", (None, None), "stop", "m-2026"),
        (r#""completion_tokens":5,"#, "", (Some(3), None), "stop", "m-2026"),
        (r#""completion_tokens":5"#, r#""completion_tokens":-1"#, (Some(3), None), "stop", "m-2026"),
        (r#""completion_tokens":5"#, r#""completion_tokens":5.0"#, (Some(3), Some(5)), "stop", "m-2026"),
        (r#""stop""#, r#""eos_token""#, (Some(3), Some(5)), "eos_token", "m-2026"),
        (r#""stop""#, "null", (Some(3), Some(5)), "unknown", "m-2026"),
        (r#""stop""#, r#""""#, (Some(3), Some(5)), "unknown", "m-2026"),
        (r#""model":"m-2026","#, "", (Some(3), Some(5)), "stop", "m"),
        (r#""m-2026""#, r#""""#, (Some(3), Some(5)), "stop", "m"),
    ] {
        let server = Server::start(vec![answer(200, "", GOOD.replacen(from, to, 1))]).await;
        let reply = call(settings(&server)).await.unwrap();
        assert_eq!((reply.usage.input_tokens, reply.usage.output_tokens), usage, "{to}");
        assert_eq!((reply.choices[0].finish_reason.as_str(), reply.model.as_str()), (finish, model), "{to}");
    }
}

#[tokio::test]
async fn t15_reasoning_is_kept_apart() {
    for (message, text, reasoning) in [
        (r#"{"content":null,"reasoning_content":"hmm"}"#, "", Some("hmm")),
        (r#"{"content":"x","reasoning":"hmm"}"#, "x", Some("hmm")),
        (r#"{"content":"<think>hmm</think>x"}"#, "x", Some("hmm")),
        (r#"{"content":"hmm</think>"}"#, "", Some("hmm")),
        (r#"{"content":"x","reasoning":{"a":1}}"#, "x", None),
        (r#"{"content":null,"refusal":"no"}"#, "no", None),
    ] {
        let body = GOOD.replacen(r#"{"role":"assistant","content":"hi"}"#, message, 1);
        let server = Server::start(vec![answer(200, "", body)]).await;
        let reply = call(settings(&server)).await.unwrap();
        assert_eq!(
            (reply.choices[0].text.as_str(), reply.choices[0].reasoning.as_deref()),
            (text, reasoning),
            "{message}"
        );
    }
}

#[tokio::test]
async fn a38_half_surrogates_and_broken_utf8_do_not_sink_a_reply() {
    for (content, text) in
        [(&br#"h\ud83d"#[..], "h\u{fffd}"), (b"h\xff", "h\u{fffd}"), ("数\\u0000".as_bytes(), "数\u{0}")]
    {
        let (before, after) = GOOD.split_once("hi").unwrap();
        let body = [before.as_bytes(), content, after.as_bytes()].concat();
        let server = Server::start(vec![answer(200, "", body)]).await;
        assert_eq!(call(settings(&server)).await.unwrap().choices[0].text, text);
    }
}

#[tokio::test]
async fn a_request_says_what_it_must_and_no_more() {
    let server = Server::start(vec![answer(200, "", GOOD)]).await;
    let mut settings = settings(&server);
    settings.parameters = Parameters { temperature: Some(0.5.into()), top_p: Some(0.9), ..Parameters::default() };
    settings.extra = serde_json::from_str(r#"{"guided": 40, "model": "not this"}"#).unwrap();
    let (model, warnings) = OpenAi::connect(settings).await.unwrap();
    let mut request = request();
    request.traceparent = Some("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".to_owned());
    request.parameters.temperature = Some(0.25.into());
    request.parameters.max_output_tokens = Some(100);
    model.chat(&request).await.unwrap();
    assert!(warnings.is_empty());
    let seen = &server.seen()[0];
    assert_eq!(
        seen.body,
        json!({
            "guided": 40, "model": "m", "stream": false, "seed": i64::MAX, "temperature": 0.25, "top_p": 0.9, "max_tokens": 100,
            "messages": [{"role": "system", "content": "You repair."}, {"role": "user", "content": "This."}],
        })
    );
    let head = seen.head.to_lowercase();
    assert!(head.starts_with("post /v1/chat/completions http/1.1"), "{head}");
    assert!(head.contains("traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"), "{head}");
    assert!(head.contains(&format!("authorization: bearer {}", KEY.to_lowercase())), "{head}");
    assert!(!head.contains("openai-organization") && !head.contains("openai-project"), "{head}");
}

#[tokio::test]
async fn several_choices_are_asked_for_and_fewer_are_taken() {
    let three = r#"{"choices":[{"index":2,"message":{"content":"c"}},{"index":0,"message":{"content":"a"}},{"index":1,"message":{"content":"b"}}]}"#;
    let server = Server::start(vec![answer(200, "", three), answer(200, "", GOOD)]).await;
    let (model, _) = OpenAi::connect(settings(&server)).await.unwrap();
    let mut request = request();
    request.choices = 3;
    let texts: Vec<String> =
        model.chat(&request).await.unwrap().choices.into_iter().map(|choice| choice.text).collect();
    assert_eq!(texts, ["a", "b", "c"]);
    assert_eq!(model.chat(&request).await.unwrap().choices.len(), 1, "a server that ignores `n`");
    assert_eq!(server.seen()[0].body["n"], 3);
}

#[tokio::test]
async fn t16_a_server_that_refuses_several_choices_is_asked_for_one() {
    let refusal = answer(400, "", r#"{"error":{"message":"n must be at most 1","code":400}}"#);
    let server = Server::start(vec![refusal, answer(200, "", GOOD)]).await;
    let (model, _) = OpenAi::connect(settings(&server)).await.unwrap();
    let mut request = request();
    request.choices = 3;
    let reply = model.chat(&request).await.unwrap();
    assert_eq!((reply.choices.len(), reply.attempts.len()), (1, 2));
    model.chat(&request).await.unwrap();
    let asked: Vec<bool> = server.seen().iter().map(|seen| seen.body.get("n").is_some()).collect();
    assert_eq!(asked, [true, false, false], "it is remembered");
}

const SCHEMA: &str = r#"{"type":"object","properties":{"answer":{"type":"string"}}}"#;

#[tokio::test]
async fn every_parameter_has_its_field_and_a_seed_may_be_left_out() {
    let server = Server::start(vec![answer(200, "", GOOD)]).await;
    let (model, _) = OpenAi::connect(settings(&server)).await.unwrap();
    let mut request = request();
    request.parameters = Parameters {
        temperature: Some(0.5.into()),
        top_p: Some(0.9),
        top_k: Some(40),
        min_p: Some(0.05),
        repetition_penalty: Some(1.25),
        presence_penalty: Some(-0.5),
        frequency_penalty: Some(0.5),
        min_output_tokens: Some(1),
        max_output_tokens: Some(100),
        stop: vec!["<END>".to_owned()],
        context_tokens: Some(4_096),
        response_schema: Some(SCHEMA.to_owned()),
        logprobs: Some(true),
        seed: Some(SeedRule::None),
    };
    model.chat(&request).await.unwrap();
    let mut seen = server.seen()[0].body.clone();
    seen.as_object_mut().unwrap().shift_remove("messages");
    assert_eq!(
        seen,
        json!({
            "model": "m", "stream": false, "temperature": 0.5, "top_p": 0.9, "top_k": 40, "min_p": 0.05,
            "repetition_penalty": 1.25, "presence_penalty": -0.5, "frequency_penalty": 0.5, "min_tokens": 1,
            "max_tokens": 100, "stop": ["<END>"], "logprobs": true,
            "response_format": { "type": "json_schema", "json_schema": { "name": "answer", "strict": true,
                "schema": { "type": "object", "properties": { "answer": { "type": "string" } } } } },
        })
    );
    let settings = OpenAiSettings { max_tokens_field: "max_new".to_owned(), ..settings(&server) };
    for field in seen.as_object().unwrap().keys().map(String::as_str).chain(["messages", "n", "seed", "max_new"]) {
        assert!(set_by(field, &settings).is_some(), "`{field}` could be written over by [extra]");
    }
    assert_eq!(set_by("guided", &settings), None);
}

#[tokio::test]
async fn probabilities_of_tokens_are_summed_up() {
    for (logprobs, expected) in [
        (r#"{"content":[{"token":"h","logprob":-0.5},{"token":"i","logprob":-1.5,"bytes":null}]}"#, Some((2, -2.0))),
        (r#"{"token_logprobs":[null,-0.25],"tokens":["h","i"]}"#, Some((1, -0.25))),
        (r#"{"content":[{"token":"h","logprob":NaN}]}"#, None),
        (r#"{"content":null}"#, None),
        (r#"[1]"#, None),
        ("null", None),
    ] {
        let body = GOOD.replacen(r#""finish_reason""#, &format!(r#""logprobs":{logprobs},"finish_reason""#), 1);
        let server = Server::start(vec![answer(200, "", body)]).await;
        let reply = call(settings(&server)).await.unwrap();
        let logprobs_read = reply.choices[0].logprobs.map(|logprobs| (logprobs.tokens, logprobs.sum));
        assert_eq!(logprobs_read, expected, "{logprobs}");
    }
}

#[tokio::test]
async fn t16_no_temperature_is_learned_too_and_the_record_says_so() {
    let refusal = |field: &str| {
        answer(400, "", format!(r#"{{"error":{{"message":"Unsupported value: '{field}' does not support this."}}}}"#))
    };
    let server = Server::start(vec![refusal("max_tokens"), refusal("temperature"), answer(200, "", GOOD)]).await;
    let (model, _) = OpenAi::connect(settings(&server)).await.unwrap();
    let mut request = request();
    request.parameters.max_output_tokens = Some(7);
    request.parameters.temperature = Some(0.5.into());
    let reply = model.chat(&request).await.unwrap();
    let adapted: Vec<usize> = reply.attempts.iter().map(|attempt| attempt.adapted.len()).collect();
    assert_eq!(adapted, [0, 1, 2], "{:?}", reply.attempts);
    assert_eq!(reply.attempts[2].adapted, ["max_completion_tokens", "no temperature"]);
    assert!(server.seen()[2].body.get("temperature").is_none());
    request.parameters.temperature = None;
    assert_eq!(model.chat(&request).await.unwrap().attempts[0].adapted, ["max_completion_tokens"]);
}

#[tokio::test]
async fn t22_standing_instructions_may_begin_the_users_message() {
    let server = Server::start(vec![answer(200, "", GOOD)]).await;
    let merging = OpenAiSettings { system: SystemRole::Merge, ..settings(&server) };
    let (model, _) = OpenAi::connect(merging).await.unwrap();
    let mut request = request();
    let message = |role, content: &str| ChatMessage { role, content: content.to_owned() };
    request.messages.extend([
        message(ChatRole::User, "And this."),
        message(ChatRole::Assistant, "So."),
        message(ChatRole::System, "Be brief."),
    ]);
    model.chat(&request).await.unwrap();
    assert_eq!(
        server.seen()[0].body["messages"],
        json!([
            {"role": "user", "content": "You repair.\n\nThis.\n\nAnd this."},
            {"role": "assistant", "content": "So."},
            {"role": "user", "content": "Be brief."},
        ])
    );
}

/// A server whose template refuses the roles is not asked again, not even in other words, and the user is told what helps.
#[tokio::test]
async fn t22_a_refusal_of_the_roles_is_the_end_and_comes_with_a_hint() {
    let refusal = |status, message: &str| answer(status, "", format!(r#"{{"error":{{"message":"{message}"}}}}"#));
    for first in [
        refusal(400, "Conversation roles must alternate user/assistant/user/assistant/..."),
        refusal(400, "System role not supported"),
        refusal(422, "Only user and assistant roles are supported!"),
        refusal(500, "jinja: After the optional system message, conversation roles must alternate"),
        answer(500, "", ""),
    ] {
        let server = Server::start(vec![first.clone(), answer(200, "", GOOD)]).await;
        let (model, _) = OpenAi::connect(settings(&server)).await.unwrap();
        // Two choices: no other form of the request is tried either.
        let request = ChatRequest { choices: 2, ..request() };
        let error = model.chat(&request).await.unwrap_err();
        assert!(matches!(error, ModelError::BadRequest { .. }), "{first:?}: {error}");
        assert!(error.to_string().contains("system = \"merge\""), "{first:?}: {error}");
        assert_eq!((server.seen().len(), error.attempts().len()), (1, 1), "{first:?}");

        let server = Server::start(vec![first.clone(), answer(200, "", GOOD)]).await;
        let merging = OpenAiSettings { system: SystemRole::Merge, ..settings(&server) };
        let (model, _) = OpenAi::connect(merging).await.unwrap();
        let result = model.chat(&request).await;
        let hints = result.as_ref().is_err_and(|error| error.to_string().contains("merge"));
        assert!(!hints, "{first:?}: there is nothing more to merge: {result:?}");
    }
}

/// Once such a request was answered, an empty 500 is a fault like others and is sent again.
#[tokio::test]
async fn t22_a_server_that_has_taken_the_system_role_is_not_suspected() {
    let server = Server::start(vec![answer(200, "", GOOD), answer(500, "", ""), answer(200, "", GOOD)]).await;
    let (model, _) = OpenAi::connect(settings(&server)).await.unwrap();
    model.chat(&request()).await.unwrap();
    assert_eq!(model.chat(&request()).await.unwrap().attempts.len(), 2);
    let server = Server::start(vec![answer(503, "", ""), answer(200, "", GOOD)]).await;
    let (model, _) = OpenAi::connect(settings(&server)).await.unwrap();
    assert_eq!(model.chat(&request()).await.unwrap().attempts.len(), 2, "other statuses never were");
}

#[tokio::test]
async fn t16_the_newer_name_of_a_limit_is_learned_once() {
    let refusal = r#"{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model.","type":"invalid_request_error"}}"#;
    let server = Server::start(vec![answer(400, "", refusal), answer(200, "", GOOD)]).await;
    let (model, _) = OpenAi::connect(settings(&server)).await.unwrap();
    let mut request = request();
    request.parameters.max_output_tokens = Some(7);
    assert_eq!(model.chat(&request).await.unwrap().attempts.len(), 2);
    model.chat(&request).await.unwrap();
    let limit = |field: &str| server.seen().iter().map(|seen| seen.body[field].as_u64()).collect::<Vec<_>>();
    assert_eq!(limit("max_tokens"), [Some(7), None, None]);
    assert_eq!(limit("max_completion_tokens"), [None, Some(7), Some(7)]);

    let server = Server::start(vec![answer(400, "", refusal)]).await;
    let (model, _) = OpenAi::connect(settings(&server)).await.unwrap();
    assert!(matches!(model.chat(&request).await, Err(ModelError::BadRequest { status: Some(400), .. })));
    assert_eq!(server.seen().len(), 2, "one adapted request, no more");
    request.parameters.max_output_tokens = None;
    assert!(model.chat(&request).await.is_err());
    assert_eq!(server.seen().len(), 3, "there was nothing to rename");
}
