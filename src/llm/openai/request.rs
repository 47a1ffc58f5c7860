use serde_json::{Map, Value, json};

use super::{Api, OpenAiSettings, SystemRole, dialect::Dialect};
use crate::llm::{ChatRequest, Parameters, estimated_tokens, merged};

/// Fields of a request that are ours, and what sets each.
const OWN_FIELDS: &[(&str, &str)] = &[
    ("model", "the key `model`"),
    ("messages", "the prompt"),
    ("prompt", "the prompt"),
    ("echo", "nothing: replies never repeat the prompt"),
    ("n", "the role's settings"),
    ("seed", "`seed` in [parameters] and the run's seed"),
    ("stream", "the key `stream`"),
    ("stream_options", "the key `stream`"),
    ("temperature", "[parameters]"),
    ("top_p", "[parameters]"),
    ("top_k", "[parameters]"),
    ("min_p", "[parameters]"),
    ("repetition_penalty", "[parameters]"),
    ("presence_penalty", "[parameters]"),
    ("frequency_penalty", "[parameters]"),
    ("stop", "[parameters]"),
    ("logprobs", "[parameters]"),
    ("response_format", "`response_schema` in [parameters]"),
    ("min_tokens", "`min_output_tokens` in [parameters]"),
    ("max_tokens", "`max_output_tokens` in [parameters]"),
    ("max_completion_tokens", "`max_output_tokens` in [parameters]"),
];

/// What sets the field `name` of a request; `None` where it is free for `extra`.
pub fn set_by(name: &str, settings: &OpenAiSettings) -> Option<&'static str> {
    let name = if name == settings.max_tokens_field { "max_tokens" } else { name };
    OWN_FIELDS.iter().find(|(own, _)| *own == name).map(|(_, by)| *by)
}

/// The body of a request.
///
/// Fields of `extra` first, so that none of them takes the place of one of ours. What a request does not set, and the
/// settings do not either, is not sent.
///
/// # Errors
/// Where the messages cannot be made one text.
pub fn body(settings: &OpenAiSettings, model: &str, request: &ChatRequest, dialect: &Dialect) -> Result<Value, String> {
    let mut body: Map<String, Value> = settings.extra.clone();
    body.insert("model".to_owned(), json!(model));
    match &settings.api {
        Api::Chat => {
            let merged = (settings.system == SystemRole::Merge).then(|| merged(&request.messages));
            let messages = merged.as_deref().unwrap_or(&request.messages).iter();
            let messages = messages.map(|message| json!({"role": message.role.name(), "content": message.content}));
            body.insert("messages".to_owned(), messages.collect());
        }
        Api::Completions(template) => {
            body.insert("prompt".to_owned(), json!(template.render(&request.messages)?));
            body.insert("echo".to_owned(), json!(false));
        }
    }
    body.insert("stream".to_owned(), json!(settings.stream));
    if settings.stream {
        body.insert("stream_options".to_owned(), json!({"include_usage": true}));
    }
    let choices = dialect.choices(request);
    if choices > 1 {
        body.insert("n".to_owned(), json!(choices));
    }
    sampling(settings, request, dialect, &mut body);
    Ok(Value::Object(body))
}

/// Adds how to sample. Choices of one request have one temperature, that of the first.
fn sampling(settings: &OpenAiSettings, request: &ChatRequest, dialect: &Dialect, body: &mut Map<String, Value>) {
    let parameters = request.parameters.or(&settings.parameters);
    let Parameters { top_p, min_p, top_k, min_output_tokens, max_output_tokens, stop, .. } = &parameters;
    // Completions want a number: how many likely tokens to name beside the one that was drawn.
    let logprobs = if settings.api == Api::Chat { json!(true) } else { json!(1) };
    let fields = [
        // 63 bits: servers take the seed for a signed integer, and some read a negative one as "draw one".
        ("seed", parameters.sends_seed().then(|| json!(request.seed >> 1))),
        (
            "temperature",
            parameters
                .temperature
                .as_ref()
                .filter(|_| dialect.takes_temperature())
                .map(|temperature| json!(temperature.of(0))),
        ),
        ("top_p", top_p.map(Value::from)),
        ("top_k", top_k.map(Value::from)),
        ("min_p", min_p.map(Value::from)),
        ("repetition_penalty", parameters.repetition_penalty.map(Value::from)),
        ("presence_penalty", parameters.presence_penalty.map(Value::from)),
        ("frequency_penalty", parameters.frequency_penalty.map(Value::from)),
        ("min_tokens", min_output_tokens.map(Value::from)),
        (dialect.limit_name(settings), max_output_tokens.map(Value::from)),
        ("stop", (!stop.is_empty()).then(|| json!(stop))),
        ("response_format", parameters.response_schema.as_deref().and_then(response_format)),
        ("logprobs", parameters.logprobs.filter(|wanted| *wanted).map(|_| logprobs)),
    ];
    for (name, value) in fields {
        if let Some(value) = value {
            body.insert(name.to_owned(), value);
        }
    }
}

/// How a reply in JSON of this schema is asked for.
fn response_format(schema: &str) -> Option<Value> {
    let schema: Value = serde_json::from_str(schema).ok()?;
    let named = json!({"name": "answer", "strict": true, "schema": schema});
    Some(json!({"type": "json_schema", "json_schema": named}))
}

/// Whether a request carries a limit of the reply.
pub fn has_limit(settings: &OpenAiSettings, request: &ChatRequest) -> bool {
    request.parameters.max_output_tokens.or(settings.parameters.max_output_tokens).is_some()
}

/// The most tokens that a request can cost, with a token taken for 4 bytes of the prompt.
pub fn most_tokens(settings: &OpenAiSettings, request: &ChatRequest, dialect: &Dialect) -> u64 {
    let prompt: usize = request.messages.iter().map(|message| estimated_tokens(&message.content)).sum();
    let longest = request.parameters.max_output_tokens.or(settings.parameters.max_output_tokens).unwrap_or(0);
    let replies = u64::from(longest) * u64::from(dialect.choices(request));
    u64::try_from(prompt).unwrap_or(u64::MAX).saturating_add(replies)
}
