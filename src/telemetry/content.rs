//! What was said, as JSON text on a span: prompts, replies, programs and test results. Only where content is asked for.
//!
//! The shapes are those of the conventions for generative AI: a message is a role and its parts. Each value holds at most
//! [`LIMIT_BYTES`]; what is longer is shortened inside its strings, so that it stays JSON.

use serde_json::{Value, json};

use super::{attributes as name, values::Attributes};
use crate::{
    llm::{ChatMessage, Choice},
    messages::{ExecutionReport, Message},
};

/// The longest content value, in bytes. One huge value can cost the whole batch that it is sent with.
pub const LIMIT_BYTES: usize = 64 << 10;

/// Strings up to this many bytes are never shortened: roles, kinds and names are shorter.
const NEVER_CUT_BYTES: usize = 64;

/// Sets `key` to `value` as JSON text, shortened to [`LIMIT_BYTES`]; notes on the span that it was.
pub fn set(attributes: &mut Attributes, key: &str, value: Value) {
    let (text, truncated) = bounded(value, LIMIT_BYTES);
    attributes.set(key, text);
    if truncated {
        attributes.set(name::TRUNCATED, true);
    }
}

/// A prompt.
pub fn prompt(messages: &[ChatMessage]) -> Value {
    messages.iter().map(|one| json!({"role": one.role.name(), "parts": [text(&one.content)]})).collect()
}

/// A reply, one message a choice.
pub fn reply(choices: &[Choice]) -> Value {
    let message = |choice: &Choice| {
        let reasoning = choice.reasoning.as_ref().map(|said| json!({"type": "reasoning", "content": said}));
        let parts: Vec<Value> = reasoning.into_iter().chain([text(&choice.text)]).collect();
        json!({"role": "assistant", "parts": parts, "finish_reason": choice.finish_reason})
    };
    choices.iter().map(message).collect()
}

/// Messages between actors, `role` being `user` for what an actor was told and `assistant` for what it said.
pub fn said(messages: &[Message], role: &str) -> Value {
    messages.iter().map(|one| json!({"role": role, "parts": [text(&spoken(one))]})).collect()
}

/// What a message says to whoever reads the trace.
fn spoken(message: &Message) -> String {
    let program = |candidate: &crate::messages::Candidate| {
        candidate.program.as_ref().map_or_else(|| "(no program)".to_owned(), |program| program.text.clone())
    };
    let judged = |report: &ExecutionReport| {
        let judgement = &report.judgement;
        let (word, passed, all) = (judgement.verdict.name(), judgement.passed_tests(), judgement.tests.len());
        format!("{word}: {passed} of {all} tests passed\n\n{}", program(&report.candidate))
    };
    match message {
        Message::Task(task) => match (&task.plan, &task.generated) {
            (None, None) => task.task.statement.clone(),
            (plan, generated) => {
                let tests = generated.as_deref().map(|suite| suite.names().join("\n"));
                [plan.clone(), tests].into_iter().flatten().collect::<Vec<_>>().join("\n\n")
            }
        },
        Message::Candidate(candidate) => program(candidate),
        Message::ExecutionReport(report) => judged(report),
        Message::Assessment(assessment) => {
            let reward = assessment.reward.map_or_else(|| "unscored".to_owned(), |reward| format!("reward {reward}"));
            format!("{reward}; {}", judged(&assessment.report))
        }
        Message::Diagnosis(diagnosis) => diagnosis.text.clone(),
    }
}

fn text(content: &str) -> Value {
    json!({"type": "text", "content": content})
}

/// `value` as JSON text of at most `limit` bytes, and whether anything was left out: long strings are shortened first,
/// then long arrays.
pub fn bounded(value: Value, limit: usize) -> (String, bool) {
    let whole = value.to_string();
    if whole.len() <= limit {
        return (whole, false);
    }
    let halves = |from: usize| std::iter::successors(Some(from), |last| (*last > 0).then_some(last / 2));
    let strings = halves(limit / 2).take_while(|bytes| *bytes > NEVER_CUT_BYTES).map(|bytes| (bytes, usize::MAX));
    let arrays = halves(whole.len() / 2).map(|elements| (NEVER_CUT_BYTES, elements));
    let fitting = strings.chain(arrays).map(|(string_bytes, elements)| {
        let mut copy = value.clone();
        shorten(&mut copy, string_bytes, elements);
        copy.to_string()
    });
    (fitting.into_iter().find(|json| json.len() <= limit).unwrap_or_else(|| "null".to_owned()), true)
}

fn shorten(value: &mut Value, string_bytes: usize, elements: usize) {
    match value {
        Value::String(text) if text.len() > string_bytes => {
            let kept = head(text, string_bytes);
            *text = format!("{kept}… [{} bytes left out]", text.len() - kept.len());
        }
        Value::Array(values) => {
            values.truncate(elements);
            values.iter_mut().for_each(|one| shorten(one, string_bytes, elements));
        }
        Value::Object(fields) => fields.values_mut().for_each(|one| shorten(one, string_bytes, elements)),
        _ => {}
    }
}

/// The first `bytes` bytes of `text`, or a few less, to end between two characters.
pub fn head(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]

    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::{bounded, head, prompt};
    use crate::llm::{ChatMessage, ChatRole};

    #[test]
    fn a_value_that_fits_is_untouched() {
        let value = json!([{"role": "user", "parts": []}]);
        assert_eq!(bounded(value.clone(), 100), (value.to_string(), false));
    }

    #[test]
    fn a_cut_falls_between_characters() {
        assert_eq!(head("aaaaaaaaa🌍", 10), "aaaaaaaaa");
        assert_eq!(head("🌍", 4), "🌍");
        assert_eq!(head("", 4), "");
    }

    #[test]
    fn what_no_cut_can_save_is_null() {
        let object: serde_json::Map<String, Value> = (0..100).map(|key| (key.to_string(), json!(1))).collect();
        assert_eq!(bounded(Value::Object(object), 50), ("null".to_owned(), true));
    }

    proptest! {
        #[test]
        fn shortened_messages_are_still_messages(
            contents in prop::collection::vec("\\PC{0,400}|[\\x00-\\x1f\u{202e}]{0,300}", 0..40),
            limit in 200usize..6_000,
        ) {
            let said: Vec<ChatMessage> =
                contents.into_iter().map(|content| ChatMessage { role: ChatRole::User, content }).collect();
            let whole = prompt(&said);
            let (text, truncated) = bounded(whole.clone(), limit);
            prop_assert!(text.len() <= limit);
            prop_assert_eq!(truncated, whole.to_string().len() > limit);
            let back: Value = serde_json::from_str(&text).unwrap();
            for message in back.as_array().unwrap() {
                prop_assert_eq!(&message["role"], "user");
                prop_assert!(message["parts"].is_array());
            }
        }
    }
}
