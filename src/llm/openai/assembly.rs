use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::llm::http::{Assembly, Class, Event, Failure, lenient_json};

/// Puts the chunks of a streamed completion together into the completion that would have come at once.
///
/// Complete is a stream that ended with `[DONE]`, or in which every choice said why it ended. Usage is that of the last
/// chunk with any: servers that repeat it count up.
#[derive(Default)]
pub struct Chunks {
    head: Map<String, Value>,
    choices: BTreeMap<u64, Part>,
    is_done: bool,
}

/// A choice as far as it came.
#[derive(Default)]
struct Part {
    content: String,
    reasoning: String,
    refusal: String,
    finish_reason: Option<Value>,
    logprobs: Vec<Value>,
}

impl Assembly for Chunks {
    fn take(&mut self, event: &Event) -> Result<bool, Failure> {
        let data = event.data.trim();
        if data == "[DONE]" {
            self.is_done = true;
            return Ok(false);
        }
        if data.is_empty() {
            return Ok(false);
        }
        let chunk = lenient_json(data.as_bytes());
        let has_error = chunk.as_ref().and_then(|chunk| chunk.get("error")).is_some_and(|error| !error.is_null());
        if has_error || event.name == "error" {
            return Err(Failure::answer(200, data.as_bytes()));
        }
        let Some(Value::Object(chunk)) = chunk else {
            return Err(Failure::transport("body", Class::Retry, "a chunk of the reply is no JSON object"));
        };
        Ok(self.add(&chunk))
    }

    fn is_done(&self) -> bool {
        self.is_done
    }

    fn so_far(&self) -> Option<String> {
        let texts = self.choices.values().flat_map(|part| [&part.reasoning, &part.content, &part.refusal]);
        let texts: Vec<&str> = texts.map(String::as_str).filter(|text| !text.is_empty()).collect();
        (!texts.is_empty()).then(|| texts.join("\n"))
    }

    fn finish(&mut self) -> Result<Value, Failure> {
        let all_ended = !self.choices.is_empty() && self.choices.values().all(|part| part.finish_reason.is_some());
        if !self.is_done && !all_ended {
            return Err(Failure::transport("body", Class::Retry, "the stream ended before the reply did"));
        }
        let mut reply = std::mem::take(&mut self.head);
        let choices = std::mem::take(&mut self.choices).into_iter().map(|(index, part)| {
            json!({
                "index": index,
                "message": {"content": part.content, "reasoning_content": part.reasoning, "refusal": part.refusal},
                "finish_reason": part.finish_reason,
                "logprobs": {"content": part.logprobs},
            })
        });
        reply.insert("choices".to_owned(), choices.collect());
        Ok(Value::Object(reply))
    }
}

impl Chunks {
    /// Adds a chunk; says whether it held any text.
    fn add(&mut self, chunk: &Map<String, Value>) -> bool {
        for key in ["id", "model", "usage"] {
            if let Some(value) = chunk.get(key).filter(|value| !value.is_null()) {
                self.head.insert(key.to_owned(), value.clone());
            }
        }
        let mut has_text = false;
        let choices = chunk.get("choices").and_then(Value::as_array);
        for (place, item) in (0_u64..).zip(choices.into_iter().flatten()) {
            let part = self.choices.entry(item.get("index").and_then(Value::as_u64).unwrap_or(place)).or_default();
            let said = ["delta", "message"].iter().find_map(|key| item.get(key)).unwrap_or(item);
            let mut add = |to: &mut String, keys: &[&str]| {
                if let Some(text) = keys.iter().find_map(|key| said.get(key)?.as_str()).filter(|text| !text.is_empty())
                {
                    to.push_str(text);
                    has_text = true;
                }
            };
            add(&mut part.content, &["content", "text"]);
            add(&mut part.reasoning, &["reasoning_content", "reasoning"]);
            add(&mut part.refusal, &["refusal"]);
            let tokens = item.get("logprobs").and_then(|it| it.get("content").or_else(|| it.get("token_logprobs")));
            part.logprobs.extend(tokens.and_then(Value::as_array).into_iter().flatten().cloned());
            if let Some(reason) = item.get("finish_reason").filter(|reason| !reason.is_null() && *reason != "") {
                part.finish_reason = Some(reason.clone());
            }
        }
        has_text
    }
}
