//! Replies that come piece by piece.

use std::time::Duration;

use rolecall::{
    domain::Usage,
    llm::{ChatReply, ModelError, openai::OpenAiSettings},
};

use super::{
    GOOD, KEY, call,
    server::{Answer, STREAM_HEAD, Server, answer, events},
    settings,
};

/// A chunk with a piece of the first choice.
fn piece(text: &str) -> String {
    format!(r#"data: {{"id":"a","model":"m-2026","choices":[{{"index":0,"delta":{{"content":"{text}"}}}}]}}"#)
}

const STOP: &str = r#"data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
const DONE: &str = "data: [DONE]";
const USAGE: &str = r#"data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":5}}"#;

fn streaming(server: &Server) -> OpenAiSettings {
    OpenAiSettings { stream: true, max_retries: 1, ..settings(server) }
}

async fn run(answers: Vec<Answer>) -> (Result<ChatReply, ModelError>, usize) {
    let server = Server::start(answers).await;
    let result = call(streaming(&server)).await;
    for seen in server.seen() {
        assert_eq!((&seen.body["stream"], &seen.body["stream_options"]["include_usage"]), (&true.into(), &true.into()));
    }
    (result, server.seen().len())
}

/// An answer that comes bit by bit with nothing between them but this wait.
fn bits(pieces: Vec<String>, wait_ms: u64, hold: bool) -> Answer {
    let pieces = std::iter::once(STREAM_HEAD.to_owned()).chain(pieces).map(String::into_bytes).collect();
    Answer::Pieces { pieces, wait: Duration::from_millis(wait_ms), hold }
}

#[tokio::test]
async fn t08_a_stream_is_whole_when_it_says_so() {
    let (h, i) = (&piece("h"), &piece("i"));
    let last_line = Answer::Raw(format!("{STREAM_HEAD}{h}\n\n{i}\n\n{STOP}").into_bytes());
    let no_type = Answer::Raw(format!("HTTP/1.1 200 X\r\n\r\n{h}\n\n{i}\n\n{STOP}\n\n{DONE}\n\n").into_bytes());
    let byte_by_byte = format!("{h}\r\n\r\n{i}\r\n\r\n{STOP}\r\n\r\n{DONE}\r\n\r\n");
    for (what, first, finish) in [
        ("all there", events(&[h, i, STOP, USAGE, DONE]), "stop"),
        ("no [DONE]", events(&[h, i, STOP]), "stop"),
        ("no reason", events(&[h, i, DONE]), "unknown"),
        ("no blank line at the end", last_line, "stop"),
        ("comments and empty data", events(&[": ping", h, "data:", ": ping", i, STOP, DONE]), "stop"),
        ("a stream that says that it is none", no_type, "stop"),
        ("read as a reply, since it is one", answer(200, "content-type: application/json\r\n", GOOD), "stop"),
        ("byte by byte", bits(byte_by_byte.chars().map(String::from).collect(), 0, true), "stop"),
    ] {
        let (result, count) = run(vec![first]).await;
        let reply = result.unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!((reply.choices[0].text.as_str(), reply.choices[0].finish_reason.as_str()), ("hi", finish), "{what}");
        assert_eq!((reply.choices.len(), reply.attempts.len(), count), (1, 1, 1), "{what}");
        assert_eq!(reply.model, "m-2026", "{what}");
    }
}

#[tokio::test]
async fn t08_half_a_stream_is_no_reply() {
    let half = &piece("half");
    for (what, first, error) in [
        ("it just ends", events(&[half]), "ended before"),
        ("it never began", events(&[]), "ended before"),
        (
            "one of two choices ended",
            events(&[half, r#"data: {"choices":[{"index":1,"finish_reason":"stop"}]}"#]),
            "ended",
        ),
        (
            "empty reasons are none",
            events(&[r#"data: {"choices":[{"delta":{"content":"x"},"finish_reason":""}]}"#]),
            "ended",
        ),
        ("no JSON", events(&[half, "data: {", DONE]), "JSON"),
        ("nothing but its end", events(&[DONE]), "no choices"),
    ] {
        let (result, count) = run(vec![first]).await;
        assert_eq!(count, 2, "{what}: asked for again");
        let shown = result.unwrap_err();
        assert!(
            matches!(shown, ModelError::Unavailable { .. }) && shown.to_string().contains(error),
            "{what}: {shown}"
        );
    }
    let cut = Answer::Reset(format!("{STREAM_HEAD}{half}\n\n").into_bytes());
    let (result, count) = run(vec![cut, events(&[&piece("hi"), STOP])]).await;
    assert_eq!((result.unwrap().choices[0].text.as_str(), count), ("hi", 2));
}

#[tokio::test]
async fn t07_an_error_in_the_middle_of_a_stream_fails_the_request() {
    for error in
        [r#"data: {"error":{"message":"boom","code":502}}"#, "event: error\ndata: {\"message\":\"boom\",\"code\":502}"]
    {
        let (result, count) = run(vec![events(&[&piece("he"), error, DONE])]).await;
        assert_eq!(count, 2, "{error}");
        match result {
            Err(ModelError::Unavailable { status, message, attempts }) => {
                assert_eq!((status, message.as_str(), attempts.len()), (Some(502), "boom", 2), "{error}");
                assert!(attempts.iter().all(|attempt| attempt.partial.as_deref() == Some("he")), "{attempts:?}");
            }
            other => panic!("{error}: {other:?}"),
        }
    }
    let pieces = bits(vec![format!("{}\n\n", piece("half a "))], 0, true);
    let server = Server::start(vec![pieces]).await;
    let limits = OpenAiSettings { idle_secs: 0.2, ..streaming(&server) };
    let whole = OpenAiSettings { timeout_secs: 0.3, ..streaming(&server) };
    for (what, settings) in [("silence", limits), ("its whole time", whole)] {
        let error = call(settings).await.unwrap_err();
        let partial: Vec<_> = error.attempts().iter().map(|attempt| attempt.partial.as_deref()).collect();
        assert_eq!(partial, [Some("half a "); 2], "{what}");
    }
    let (result, _) = run(vec![events(&[&piece("he"), &piece(KEY)]), events(&[&piece("hi"), STOP])]).await;
    let attempts = result.unwrap().attempts;
    let partial = attempts[0].partial.as_deref().unwrap();
    assert!(partial.starts_with("he") && !partial.contains(KEY), "{partial}");
    assert_eq!(attempts[1].partial, None, "a whole reply is none");
    let quota = r#"data: {"error":{"message":"no credit","code":"insufficient_quota"}}"#;
    let (result, count) = run(vec![events(&[&piece("he"), quota])]).await;
    assert!(matches!(result, Err(ModelError::Refused { .. })) && count == 1, "{result:?}");
}

#[tokio::test]
async fn a18_usage_that_counts_up_is_not_summed_and_silence_is_unknown() {
    let counting =
        |tokens: u32| format!(r#"data: {{"choices":[],"usage":{{"prompt_tokens":10,"completion_tokens":{tokens}}}}}"#);
    let (text, all) = (&piece("hi"), [counting(0), counting(3), counting(5)]);
    for (stream, usage) in [
        (
            vec![&all[0], text, &all[1], &all[2]],
            Usage { input_tokens: Some(10), output_tokens: Some(5), ..Usage::default() },
        ),
        (vec![text], Usage::default()),
    ] {
        let mut stream: Vec<&str> = stream.into_iter().map(String::as_str).collect();
        stream.extend([STOP, DONE]);
        let (result, _) = run(vec![events(&stream)]).await;
        assert_eq!(result.unwrap().usage, usage);
    }
}

#[tokio::test]
async fn t15_pieces_of_several_choices_and_of_reasoning_come_together() {
    let chunk = |index: u32, delta: &str| format!(r#"data: {{"choices":[{{"index":{index},"delta":{delta}}}]}}"#);
    let chunks = [
        chunk(1, r#"{"role":"assistant","content":"b"}"#),
        chunk(0, r#"{"reasoning_content":"h"}"#),
        chunk(0, r#"{"reasoning":"mm"}"#),
        chunk(0, r#"{"content":"a"}"#),
        chunk(1, r#"{"content":"c"}"#),
    ];
    let mut stream: Vec<&str> = chunks.iter().map(String::as_str).collect();
    stream.push(DONE);
    let (result, _) = run(vec![events(&stream)]).await;
    let choices = result.unwrap().choices;
    let texts: Vec<_> = choices.iter().map(|choice| (choice.text.as_str(), choice.reasoning.as_deref())).collect();
    assert_eq!(texts, [("a", Some("hmm")), ("bc", None)]);
}

#[tokio::test]
async fn t11_pings_do_not_put_off_the_end_and_slow_pieces_are_no_silence() {
    let server = Server::start(vec![bits(
        vec![piece("h") + "\n\n"].into_iter().chain(vec![": ping\n\n".to_owned(); 500]).collect(),
        10,
        true,
    )])
    .await;
    let quick = OpenAiSettings { idle_secs: 0.2, max_retries: 0, ..streaming(&server) };
    let error = call(quick).await.unwrap_err();
    assert_eq!(error.kind(), "timeout");
    assert!(error.to_string().contains("no piece of the reply within 0.2 s"), "{error}");

    let slow: Vec<String> = (0..12).map(|_| piece("x") + "\n\n").chain([format!("{STOP}\n\n")]).collect();
    let server = Server::start(vec![bits(slow, 60, false)]).await;
    let quick = OpenAiSettings { idle_secs: 0.5, ..streaming(&server) };
    let reply = call(quick).await.unwrap();
    assert_eq!(reply.choices[0].text, "x".repeat(12));
    let attempt = &reply.attempts[0];
    let first = attempt.first_token_ms.unwrap();
    assert!(first >= 60 && first + 600 <= attempt.duration_ms, "{attempt:?}");

    let server = Server::start(vec![bits(vec![": loading\n\n".to_owned()], 1, true)]).await;
    let quick = OpenAiSettings { first_token_secs: 0.1, idle_secs: 60.0, max_retries: 0, ..streaming(&server) };
    assert_eq!(call(quick).await.unwrap_err().kind(), "timeout");
}

#[tokio::test]
async fn a_stream_without_end_is_not_read_to_its_end() {
    let endless = bits(vec![format!("{}\n\n", piece(&"x".repeat(1 << 20))); 12], 0, true);
    let (result, count) = run(vec![endless]).await;
    assert!(result.unwrap_err().to_string().contains("longer than"));
    assert_eq!(count, 1);
}
