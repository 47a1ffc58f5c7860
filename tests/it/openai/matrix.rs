//! Every way in which a server fails, whole and streamed: the right outcome, no hang, no request beyond the retries.

use std::{sync::Arc, time::Duration};

use flate2::{Compression, write::GzEncoder};
use rolecall::{
    conversation::Outcome,
    llm::{
        ModelError,
        openai::{OpenAi, OpenAiSettings},
    },
    topology::BudgetLimits,
};
use serde_json::{Value, json};
use std::io::Write;

use super::{
    GOOD, call,
    server::{Answer, Server, answer},
    settings,
};
use crate::{
    stage::{MadeUpSandbox, company, hold_all, on_stage},
    support::{mix, node, plan, task},
};

/// What becomes of a call.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Reply,
    Refused,
    BadRequest,
    TooLong,
    Unavailable,
}

/// One request, and two retries.
const ALL: usize = 3;

fn cut(answer: Answer, by: usize) -> Vec<u8> {
    let Answer::Raw(mut bytes) = answer else { unreachable!() };
    bytes.truncate(bytes.len() - by);
    bytes
}

fn packed(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn byte_by_byte(text: &str, wait_ms: u64) -> Answer {
    let pieces = text.bytes().map(|byte| vec![byte]).collect();
    Answer::Pieces { pieces, wait: Duration::from_millis(wait_ms), hold: false }
}

fn matrix() -> Vec<(&'static str, Answer, End, usize)> {
    let good = || answer(200, "", GOOD);
    let saying = |content: &str| answer(200, "", GOOD.replacen(r#""hi""#, content, 1));
    let status = |status: u16, headers: &str| answer(status, headers, "<html>no</html>");
    let head = "HTTP/1.1 200 OK\r\ncontent-length: 300\r\n\r\n";
    let long = "x".repeat((10 << 20) - 1_000);
    vec![
        ("slow", byte_by_byte(&String::from_utf8(cut(good(), 0)).unwrap(), 0), End::Reply, 1),
        ("cut body", Answer::Raw(cut(good(), 20)), End::Unavailable, ALL),
        ("HTML", answer(200, "", "<html>login</html>"), End::Unavailable, ALL),
        ("empty choices", answer(200, "", r#"{"choices":[]}"#), End::Unavailable, ALL),
        ("null content", saying("null"), End::Reply, 1),
        ("packed, not asked for", answer(200, "content-encoding: gzip\r\n", packed(GOOD)), End::Reply, 1),
        ("packed and cut", answer(200, "content-encoding: gzip\r\n", &packed(GOOD)[..40]), End::Unavailable, ALL),
        (
            "packed without end",
            answer(200, "content-encoding: gzip\r\n", packed(&" ".repeat(11 << 20))),
            End::Unavailable,
            1,
        ),
        ("400", status(400, ""), End::BadRequest, 1),
        ("400 context length", answer(400, "", r#"{"error":{"code":"context_length_exceeded"}}"#), End::TooLong, 1),
        ("401", status(401, ""), End::Refused, 1),
        ("402", status(402, ""), End::Refused, 1),
        ("403", status(403, ""), End::Refused, 1),
        ("404", status(404, ""), End::Refused, 1),
        ("408", status(408, ""), End::Unavailable, ALL),
        ("409", status(409, ""), End::Unavailable, ALL),
        ("413", status(413, ""), End::BadRequest, 1),
        ("429", status(429, ""), End::Unavailable, ALL),
        ("429 in seconds", status(429, "retry-after: 0\r\n"), End::Unavailable, ALL),
        ("429 with a date", status(429, "retry-after: Sun, 06 Nov 1994 08:49:37 GMT\r\n"), End::Unavailable, ALL),
        ("429 for a day", status(429, "retry-after: 86400\r\n"), End::Unavailable, 1),
        ("429 for good", answer(429, "", r#"{"error":{"code":"insufficient_quota"}}"#), End::Refused, 1),
        ("500", status(500, ""), End::Unavailable, ALL),
        ("502", status(502, ""), End::Unavailable, ALL),
        ("503", status(503, ""), End::Unavailable, ALL),
        ("529", status(529, ""), End::Unavailable, ALL),
        ("reset before", Answer::Close, End::Unavailable, ALL),
        ("reset in the middle", Answer::Reset(cut(good(), 20)), End::Unavailable, ALL),
        ("never an answer", Answer::Silence, End::Unavailable, ALL),
        ("a head and silence", byte_by_byte(head, 0), End::Unavailable, ALL),
        ("a byte at a time", byte_by_byte(&format!("{head}{}", " ".repeat(300)), 25), End::Unavailable, ALL),
        ("nearly 10 MiB", saying(&format!("\"{long}\"")), End::Reply, 1),
        ("11 MiB", answer(200, "", vec![b' '; 11 << 20]), End::Unavailable, 1),
        ("invalid UTF-8", answer(200, "", [b"\xff", GOOD.as_bytes(), b"\xff"].concat()), End::Unavailable, ALL),
        (
            "invalid UTF-8 in a text",
            answer(
                200,
                "",
                GOOD.replacen("hi", "h\u{1}", 1)
                    .into_bytes()
                    .iter()
                    .map(|byte| if *byte == 1 { 0xff } else { *byte })
                    .collect::<Vec<u8>>(),
            ),
            End::Reply,
            1,
        ),
        ("no status", Answer::Raw(b"?\r\n\r\n".to_vec()), End::Unavailable, ALL),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_fault_has_its_outcome() {
    for stream in [false, true] {
        for (what, fault, end, count) in matrix() {
            let server = Server::start(vec![fault]).await;
            let quick = OpenAiSettings {
                stream,
                timeout_secs: if count == ALL { 0.2 } else { 20.0 },
                total_secs: 30.0,
                backoff_secs: 0.001,
                ..settings(&server)
            };
            let result = tokio::time::timeout(Duration::from_secs(60), call(quick)).await.expect(what);
            let (seen, attempts) = match &result {
                Ok(reply) => (End::Reply, reply.attempts.len()),
                Err(ModelError::Refused { attempts, .. }) => (End::Refused, attempts.len()),
                Err(ModelError::BadRequest { attempts, .. }) => (End::BadRequest, attempts.len()),
                Err(ModelError::PromptTooLong { attempts, .. }) => (End::TooLong, attempts.len()),
                Err(ModelError::Unavailable { attempts, .. }) => (End::Unavailable, attempts.len()),
                other => panic!("{what}: {other:?}"),
            };
            assert_eq!(
                (seen, attempts, server.seen().len()),
                (end, count, count),
                "{what}, streamed {stream}: {result:?}"
            );
        }
    }
}

/// Every field of a reply, replaced by a value of every other type.
#[tokio::test]
async fn wrong_types_sink_a_reply_only_where_nothing_is_left_of_it() {
    let good: Value = serde_json::from_str(GOOD).unwrap();
    let fields = [
        "/id",
        "/object",
        "/created",
        "/model",
        "/choices",
        "/choices/0",
        "/choices/0/index",
        "/choices/0/message",
        "/choices/0/message/role",
        "/choices/0/message/content",
        "/choices/0/finish_reason",
        "/usage",
        "/usage/prompt_tokens",
        "/usage/completion_tokens",
        "/usage/total_tokens",
    ];
    let values = [
        json!(null),
        json!(true),
        json!(-1),
        json!(1.5),
        json!("x"),
        json!([]),
        json!([1]),
        json!({}),
        json!({"a": 1}),
    ];
    for field in fields {
        for value in &values {
            let mut wrong = good.clone();
            *wrong.pointer_mut(field).unwrap() = value.clone();
            let server = Server::start(vec![answer(200, "", wrong.to_string())]).await;
            let quick = OpenAiSettings { backoff_secs: 0.0, max_retries: 1, ..settings(&server) };
            let result = call(quick).await;
            let has_choices = wrong["choices"].as_array().is_some_and(|choices| !choices.is_empty());
            assert_eq!(result.is_ok(), has_choices, "{field} = {value}: {result:?}");
            assert_eq!(server.seen().len(), if has_choices { 1 } else { 2 }, "{field} = {value}");
            if let Ok(reply) = result {
                let unknown = field == "/usage" || field == "/usage/completion_tokens";
                assert_eq!(reply.usage.output_tokens, if unknown { None } else { Some(5) }, "{field} = {value}");
            }
        }
    }
}

/// 500 conversations against a server that fails three requests of ten: each has a named end, and the records list every
/// request that the server saw.
#[test]
fn t12_the_records_account_for_every_request_of_500_conversations() {
    let nodes = vec![
        node("write", "synthesizer", json!({"drafts": 2})),
        node("run", "executor", json!({})),
        node("repair", "debugger", json!({})),
    ];
    let edges = [("task", "write"), ("write", "run"), ("run", "repair"), ("repair", "run")];
    let budget = BudgetLimits { programs: Some(4), model_calls: Some(9), ..Default::default() };
    let plan = plan(nodes, &edges, 4, budget);
    on_stage(async move {
        let server = Server::answering(|number| match mix(2026, number as u64) % 20 {
            0 => answer(500, "", "no"),
            1 => answer(429, "", "slow down"),
            2 => answer(200, "", "<html>login</html>"),
            3 => Answer::Close,
            4 => Answer::Raw(cut(answer(200, "", GOOD), 30)),
            5 => answer(529, "retry-after: 0\r\n", ""),
            _ => {
                let program = format!("\"```python\\ndef f(x): return {number}\\n```\"");
                answer(200, "", GOOD.replacen(r#""hi""#, &program, 1))
            }
        })
        .await;
        let quick = OpenAiSettings { backoff_secs: 0.001, timeout_secs: 60.0, ..settings(&server) };
        let (model, _) = OpenAi::connect(quick).await.unwrap();
        let company = company(plan, Arc::new(model), MadeUpSandbox::by_text(), None);
        let records = hold_all(&company, &task(5, None), 500, 16).await;
        assert_eq!(records.len(), 500);
        let mut listed = 0;
        for record in &records {
            let spend = record.end.spend;
            assert!(spend.programs <= 4 && spend.model_calls <= 9, "{spend:?}");
            listed += spend.model_attempts as usize;
            let failed = matches!(record.end.outcome, Outcome::Failed);
            let faults = record.turns.iter().filter(|turn| turn.fault().is_some()).count();
            assert_eq!(failed, faults > 0, "{:?}", record.end.outcome);
        }
        assert_eq!(listed, server.seen().len());
        let failed = records.iter().filter(|record| matches!(record.end.outcome, Outcome::Failed)).count();
        assert!((1..100).contains(&failed), "{failed} of 500 conversations met six failures in a row");
    });
}
