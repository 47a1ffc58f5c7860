//! Servers that fail, and what becomes of the call.

use std::time::{Duration, Instant};

use rolecall::llm::{ChatReply, ModelError};

use super::{
    GOOD, KEY, call,
    server::{Answer, Server, answer},
    settings,
};

/// What each attempt ended with: the status, or the word of its error.
fn attempts(result: &Result<ChatReply, ModelError>) -> Vec<String> {
    let attempts = match result {
        Ok(reply) => &reply.attempts,
        Err(error) => error.attempts(),
    };
    let word = |status: Option<u16>, error: &Option<String>| match (status, error.as_deref()) {
        (Some(status), None | Some("status" | "context")) => status.to_string(),
        (_, error) => error.unwrap_or("none").to_owned(),
    };
    attempts.iter().map(|attempt| word(attempt.status, &attempt.error)).collect()
}

async fn run(answers: Vec<Answer>) -> (Result<ChatReply, ModelError>, usize) {
    let server = Server::start(answers).await;
    let result = call(settings(&server)).await;
    if let Err(error) = &result {
        let shown = format!("{error} {error:?} {}", serde_json::to_string(error).unwrap());
        assert!(!shown.contains(KEY), "{shown}");
    }
    (result, server.seen().len())
}

fn good() -> Answer {
    answer(200, "", GOOD)
}

#[tokio::test]
async fn t03_what_may_pass_is_sent_again_and_every_request_is_listed() {
    let cut = {
        let Answer::Raw(mut bytes) = good() else { unreachable!() };
        bytes.truncate(bytes.len() - 20);
        Answer::Raw(bytes)
    };
    for (what, first, listed) in [
        (
            "429 in OpenAI's shape",
            answer(429, "", r#"{"error":{"message":"slow","type":"requests","code":null}}"#),
            "429",
        ),
        ("429 as text", answer(429, "", "slow down"), "429"),
        ("429 with a number", answer(429, "", r#"{"error":{"message":"slow","code":429}}"#), "429"),
        ("408", answer(408, "", ""), "408"),
        ("409", answer(409, "", ""), "409"),
        ("500", answer(500, "", "oops"), "500"),
        ("503, loading", answer(503, "", r#"{"error":{"code":503,"message":"Loading model"}}"#), "503"),
        ("529", answer(529, "", "<html>busy</html>"), "529"),
        ("a page for a reply", answer(200, "", "<html>login</html>"), "body"),
        ("half a reply", answer(200, "", &GOOD[..60]), "body"),
        ("a body shorter than its length", cut, "body"),
        ("an error in a success", answer(200, "", r#"{"error":{"message":"boom","code":502}}"#), "200"),
        ("no choices", answer(200, "", r#"{"choices":[]}"#), "body"),
        ("choices null", answer(200, "", r#"{"choices":null}"#), "body"),
        ("nothing", answer(200, "", ""), "body"),
        ("a reset", Answer::Close, "send"),
        ("not HTTP", Answer::Raw(b"what?\r\n\r\n".to_vec()), "send"),
    ] {
        let (result, count) = run(vec![first, good()]).await;
        assert_eq!((attempts(&result), count), (vec![listed.to_owned(), "200".to_owned()], 2), "{what}: {result:?}");
        assert_eq!(result.unwrap().choices[0].text, "hi", "{what}");
    }
}

#[tokio::test]
async fn t03_retries_end_and_there_are_no_others() {
    let (result, count) = run(vec![answer(503, "", "busy")]).await;
    assert_eq!((attempts(&result).len(), count), (3, 3), "one request and two retries");
    assert_eq!(result.as_ref().unwrap_err().kind(), "503");
    assert!(matches!(result, Err(ModelError::Unavailable { status: Some(503), message, .. }) if message == "busy"));
    let (result, count) = run(vec![Answer::Close]).await;
    assert_eq!((result.unwrap_err().kind(), count), ("send".to_owned(), 3));
}

#[tokio::test]
async fn t05_what_is_refused_for_good_is_sent_once() {
    for (status, body) in [
        (429, r#"{"error":{"message":"You ran out","type":"requests","code":"insufficient_quota"}}"#),
        (402, r#"{"error":{"message":"You ran out"}}"#),
        (401, r#"{"error":{"message":"You ran out"}}"#),
        (403, r#"{"detail":"You ran out"}"#),
        (404, r#"{"error":"You ran out"}"#),
    ] {
        let (result, count) = run(vec![answer(status, "", body)]).await;
        assert_eq!(count, 1, "{status}");
        match result {
            Err(ModelError::Refused { status: seen, message, attempts }) => {
                assert_eq!((seen, message.as_str(), attempts.len()), (Some(status), "You ran out", 1));
            }
            other => panic!("{status}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn a_request_at_fault_is_sent_once() {
    for (status, body) in [(422, r#"{"detail":[{"msg":"bad"}]}"#), (413, "too large"), (307, "")] {
        let (result, count) = run(vec![answer(status, "location: http://127.0.0.1:1/\r\n", body)]).await;
        assert!(matches!(result, Err(ModelError::BadRequest { .. })), "{status} {body}: {result:?}");
        assert_eq!(count, 1, "{status} {body}");
    }
}

#[tokio::test]
async fn t14_a_prompt_that_is_too_long_is_one_kind_of_error_in_every_dialect() {
    for (status, body) in [
        (400, r#"{"error":{"code":400,"type":"exceed_context_size_error","n_prompt_tokens":9,"n_ctx":4}}"#),
        (400, r#"{"error":{"code":"context_length_exceeded","message":"too long"}}"#),
        (400, r#"{"object":"error","message":"This model's maximum context length is 4 tokens.","code":400}"#),
        (200, r#"{"error":{"code":"context_length_exceeded","message":"too long"}}"#),
        (
            200,
            r#"{"choices":[{"message":{"content":""},"finish_reason":"length"}],"usage":{"prompt_tokens":9,"completion_tokens":0}}"#,
        ),
    ] {
        let (result, count) = run(vec![answer(status, "", body)]).await;
        let error = result.unwrap_err();
        assert!(
            matches!(&error, ModelError::PromptTooLong { attempts, .. } if attempts.len() == 1),
            "{body}: {error:?}"
        );
        assert_eq!((error.kind().as_str(), count), ("context_length", 1), "{body}");
    }
}

#[tokio::test]
async fn t04_a_wait_that_the_server_names_is_kept_or_is_the_end() {
    let busy = |header: &str| answer(429, header, "busy");
    let begin = Instant::now();
    let (result, _) = run(vec![busy("retry-after: 0.3\r\n"), good()]).await;
    assert!(result.is_ok() && begin.elapsed() >= Duration::from_millis(300), "{result:?}");
    let (result, count) = run(vec![busy("retry-after: 86400\r\n"), good()]).await;
    assert_eq!(count, 1, "nobody waits a day");
    assert!(result.as_ref().unwrap_err().to_string().contains("86400.0 s"), "{result:?}");
    assert!(matches!(result, Err(ModelError::Unavailable { status: Some(429), .. })));
    let (result, _) = run(vec![busy("retry-after: soon\r\n"), good()]).await;
    assert!(result.is_ok(), "what cannot be understood is left to our own wait");
}

#[tokio::test]
async fn t12_time_limits_hold_for_a_request_and_for_the_call() {
    let server = Server::start(vec![Answer::Silence, good()]).await;
    let mut quick = settings(&server);
    quick.timeout_secs = 0.3;
    let result = call(quick).await;
    assert_eq!(attempts(&result), ["timeout", "200"]);
    assert!(result.unwrap().attempts[1].started_ms >= 300);

    let head_only = Answer::Raw(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{".to_vec());
    for silent in [Answer::Silence, head_only] {
        let server = Server::start(vec![silent]).await;
        let mut quick = settings(&server);
        (quick.timeout_secs, quick.total_secs, quick.max_retries) = (0.3, 0.5, 100);
        let begin = Instant::now();
        let result = call(quick).await;
        assert!(matches!(result, Err(ModelError::Unavailable { .. })), "{result:?}");
        assert!(begin.elapsed() < Duration::from_secs(5), "the whole call has an end");
    }
}

#[tokio::test]
async fn a_reply_without_end_is_not_read_to_its_end() {
    let huge = answer(200, "", vec![b' '; 11 << 20]);
    let (result, count) = run(vec![huge]).await;
    assert!(
        matches!(&result, Err(ModelError::Unavailable { message, .. }) if message.contains("longer than")),
        "{result:?}"
    );
    assert_eq!(count, 1);
}

#[tokio::test]
async fn a41_a_server_that_quotes_the_key_does_not_spread_it() {
    let quoted = format!(r#"{{"error":{{"message":"Incorrect API key provided: {KEY}."}}}}"#);
    let (result, _) = run(vec![answer(401, "", quoted)]).await;
    assert_eq!(result.unwrap_err().to_string(), "the provider refused (401): Incorrect API key provided: [key].");
    let (result, _) = run(vec![answer(200, "", format!("<html>{KEY}</html>"))]).await;
    assert!(result.unwrap_err().to_string().contains("<html>[key]</html>"));
}
