use serde_json::{Map, Value, json};

use super::OpenAiSettings;
use crate::llm::{ChatRequest, Parameters};

/// The body of a chat completion request that asks for `choices` choices.
///
/// Fields of `extra` first, so that none of them takes the place of one of ours. What a request does not set, and the
/// settings do not either, is not sent.
pub fn body(settings: &OpenAiSettings, model: &str, request: &ChatRequest, choices: u32) -> Value {
    let mut body: Map<String, Value> = settings.extra.clone();
    let messages = request.messages.iter();
    let messages = messages.map(|message| json!({"role": message.role.name(), "content": message.content}));
    body.insert("model".to_owned(), json!(model));
    body.insert("messages".to_owned(), messages.collect());
    body.insert("stream".to_owned(), json!(false));
    // 63 bits: servers take the seed for a signed integer, and some read a negative one as "draw one".
    body.insert("seed".to_owned(), json!(request.seed >> 1));
    if choices > 1 {
        body.insert("n".to_owned(), json!(choices));
    }
    let Parameters { temperature, top_p, max_output_tokens, stop, context_tokens: _ } = &request.parameters;
    let defaults = &settings.parameters;
    let mut set = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            body.insert(name.to_owned(), value);
        }
    };
    set("temperature", temperature.or(defaults.temperature).map(Value::from));
    set("top_p", top_p.or(defaults.top_p).map(Value::from));
    set(&settings.max_tokens_field, max_output_tokens.or(defaults.max_output_tokens).map(Value::from));
    let stop = if stop.is_empty() { &defaults.stop } else { stop };
    set("stop", (!stop.is_empty()).then(|| json!(stop)));
    Value::Object(body)
}
