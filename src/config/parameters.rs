//! Sampling parameters as files write them, in arrangements and in model files alike. Each key is a field of
//! [`Parameters`](crate::llm::Parameters).

use super::{Form, Key};
use crate::llm::STOP_REASON;

const TOKENS: Form = Form::Whole { least: 1, most: Form::SMALL };
const PENALTY: Form = Form::Number { least: -2.0, most: 2.0 };

const fn key(path: &'static str, form: Form, help: &'static str) -> Key {
    Key { path, form, default: None, help }
}

/// The key `temperature`.
pub const TEMPERATURE: Key = key(
    "temperature",
    Form::NumberOrNumbers,
    "softmax temperature; an array holds one for each choice that is asked for at once, the last for the rest",
);
/// The key `top_p`.
pub const TOP_P: Key = key("top_p", Form::Number { least: 0.0, most: 1.0 }, "nucleus sampling");
/// The key `top_k`.
pub const TOP_K: Key = key(
    "top_k",
    Form::Whole { least: 0, most: Form::SMALL },
    "how many of the likeliest tokens are drawn from; 0 is all",
);
/// The key `min_p`.
pub const MIN_P: Key = key(
    "min_p",
    Form::Number { least: 0.0, most: 1.0 },
    "least probability of a token, as a share of the likeliest one's",
);
/// The key `repetition_penalty`.
pub const REPETITION_PENALTY: Key = key(
    "repetition_penalty",
    Form::Number { least: 0.01, most: 100.0 },
    "divides the scores of tokens that prompt or reply hold already",
);
/// The key `presence_penalty`.
pub const PRESENCE_PENALTY: Key =
    key("presence_penalty", PENALTY, "taken off the score of a token that the reply holds already");
/// The key `frequency_penalty`.
pub const FREQUENCY_PENALTY: Key =
    key("frequency_penalty", PENALTY, "taken off the score of a token for each time that the reply holds it");
/// The key `min_output_tokens`.
pub const MIN_OUTPUT_TOKENS: Key = key("min_output_tokens", TOKENS, "lower bound of a reply, in tokens");
/// The key `max_output_tokens`.
pub const MAX_OUTPUT_TOKENS: Key = key("max_output_tokens", TOKENS, "upper bound of a reply, in tokens");
/// The key `stop`.
pub const STOP: Key = key("stop", Form::Stops, STOP_REASON);
/// The key `context_tokens`.
pub const CONTEXT_TOKENS: Key = key(
    "context_tokens",
    TOKENS,
    "most tokens of a prompt and its reply together: a prompt is shortened to fit; not sent to the server",
);
/// The key `response_schema`.
pub const RESPONSE_SCHEMA: Key =
    key("response_schema", Form::AnswerSchema, "the JSON that replies are to be; the role reads its member `answer`");
/// The key `logprobs`.
pub const LOGPROBS: Key = key("logprobs", Form::Flag, "whether to ask how likely the reply's tokens were");
/// The key `seed`.
pub const SEED: Key = key(
    "seed",
    Form::Choice(&["derived", "none"]),
    "a seed derived from the run's, or none, for servers that refuse one",
);

/// All of them.
pub const ALL: &[Key] = &[
    TEMPERATURE,
    TOP_P,
    TOP_K,
    MIN_P,
    REPETITION_PENALTY,
    PRESENCE_PENALTY,
    FREQUENCY_PENALTY,
    MIN_OUTPUT_TOKENS,
    MAX_OUTPUT_TOKENS,
    STOP,
    CONTEXT_TOKENS,
    RESPONSE_SCHEMA,
    LOGPROBS,
    SEED,
];
