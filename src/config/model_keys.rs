use super::{Form, Key, parameters};

const DAY_SECS: Form = Form::Number { least: 0.0, most: 86_400.0 };

/// Nothing costs more a million tokens, in any currency.
const PRICE: Form = Form::Number { least: 0.0, most: 1_000_000.0 };

const PER_MINUTE: Form = Form::Whole { least: 1, most: Form::SMALL };

const fn key(path: &'static str, form: Form, help: &'static str) -> Key {
    Key { path, form, default: None, help }
}

/// A sampling parameter, below `[parameters]`.
const fn parameter(path: &'static str, key: Key) -> Key {
    Key { path, ..key }
}

/// The keys of a model file, but for `[extra]`, which is open. docs/models.md is tested against them.
pub const MODEL_KEYS: &[Key] = &[
    key("kind", Form::Choice(&["openai"]), "`openai` is every OpenAI-compatible server"),
    key(
        "base_url",
        Form::TextOrTexts,
        "where the interface begins, up to `/v1`; an array names servers of the same model",
    ),
    key(
        "base_url_env",
        Form::Text,
        "in place of it, the environment variable that holds the URLs, with commas between them",
    ),
    key("model", Form::Text, "the model id; the only one that the server lists where absent"),
    key("api_key_env", Form::Text, "the environment variable that holds the key, never the key itself"),
    key("max_tokens_field", Form::Text, "`max_tokens`, or `max_completion_tokens` for servers that refuse it"),
    key("api", Form::Choice(&["chat", "completions"]), "chat completions, or completions of one text"),
    key("prompt_template", Form::Text, "for `completions`: a minijinja template over `messages` that makes one text"),
    key(
        "system",
        Form::Choice(&["own", "merge"]),
        "whether standing instructions are a message of their own, or the beginning of the user's",
    ),
    key("stream", Form::Flag, "whether replies are asked for piece by piece"),
    key("gpus", Form::Whole { least: 0, most: 1_000_000 }, "GPUs that are busy while it answers, for `gpu_secs`"),
    key("price.input_per_million", PRICE, "money for a million tokens of prompts"),
    key(
        "price.cached_input_per_million",
        PRICE,
        "for those of them that the server had kept; as `input_per_million` where absent",
    ),
    key("price.output_per_million", PRICE, "for a million tokens of replies, reasoning included"),
    key("price.currency", Form::Text, "three capital letters; USD where absent"),
    key("limits.connect_secs", DAY_SECS, "connecting"),
    key("limits.first_token_secs", DAY_SECS, "the first piece of a streamed reply, from sending on"),
    key("limits.idle_secs", DAY_SECS, "between two pieces of a streamed reply"),
    key("limits.timeout_secs", DAY_SECS, "one request, from connecting to the last byte"),
    key("limits.total_secs", DAY_SECS, "one call with all its requests and waits"),
    key("limits.max_retries", Form::Whole { least: 0, most: 100 }, "how often a failed request is sent again"),
    key("limits.backoff_secs", DAY_SECS, "the wait before the first retry; it doubles with each, up to 30 s"),
    key(
        "limits.concurrency",
        Form::Whole { least: 1, most: 4_096 },
        "most requests under way; fewer while the server refuses",
    ),
    key("limits.requests_per_minute", PER_MINUTE, "requests of a minute, by all conversations together"),
    key("limits.tokens_per_minute", PER_MINUTE, "tokens of a minute, of prompts and replies"),
    parameter("parameters.temperature", parameters::TEMPERATURE),
    parameter("parameters.top_p", parameters::TOP_P),
    parameter("parameters.top_k", parameters::TOP_K),
    parameter("parameters.min_p", parameters::MIN_P),
    parameter("parameters.repetition_penalty", parameters::REPETITION_PENALTY),
    parameter("parameters.presence_penalty", parameters::PRESENCE_PENALTY),
    parameter("parameters.frequency_penalty", parameters::FREQUENCY_PENALTY),
    parameter("parameters.min_output_tokens", parameters::MIN_OUTPUT_TOKENS),
    parameter("parameters.max_output_tokens", parameters::MAX_OUTPUT_TOKENS),
    parameter("parameters.stop", parameters::STOP),
    parameter("parameters.context_tokens", parameters::CONTEXT_TOKENS),
    parameter("parameters.response_schema", parameters::RESPONSE_SCHEMA),
    parameter("parameters.logprobs", parameters::LOGPROBS),
    parameter("parameters.seed", parameters::SEED),
];
