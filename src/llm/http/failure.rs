use std::{fmt, time::Duration};

use serde_json::Value;

use super::json::lenient_json;
use crate::{
    domain::shorten,
    llm::{Attempt, ModelError},
};

/// How much of a server's message is kept, in characters.
const MAX_MESSAGE_CHARS: usize = 1_000;

/// What a failed request means for the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// The provider says no for good.
    Refused,
    /// The request is at fault.
    BadRequest,
    /// It may work when it is sent again.
    Retry,
    /// It failed in a way that sending it again does not change.
    Final,
}

/// A failed request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What it means.
    pub class: Class,
    /// HTTP status, where there was one.
    pub status: Option<u16>,
    /// The word for [`Attempt::error`].
    pub kind: &'static str,
    /// What was said, or what went wrong. Secrets are masked by the one who made it.
    pub message: String,
    /// How long the server wants to be left alone.
    pub wait: Option<Duration>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

impl Failure {
    /// The kind of a failure because of the length of the prompt, which no other form of the request mends.
    pub const TOO_LONG: &'static str = "context";

    /// The kind of a failure because of who says what in a prompt, which no other form of the request mends.
    pub const ROLES: &'static str = "roles";

    /// The message of an answer without a body.
    pub const NO_MESSAGE: &'static str = "no message";

    /// A request that failed without an answer, or with one that cannot be read.
    pub fn transport(kind: &'static str, class: Class, message: impl Into<String>) -> Self {
        Self { class, status: None, kind, message: message.into(), wait: None }
    }

    /// An answer with a status that is no success, or a success that holds an error object.
    pub fn answer(status: u16, body: &[u8]) -> Self {
        let said = Said::read(body);
        // A success that is an error inside has its true status there, if anywhere.
        let code = if (200..300).contains(&status) { said.status.unwrap_or(status) } else { status };
        let is_too_long = said.mentions(&["context_length_exceeded", "exceed_context_size"])
            || (matches!(code, 400 | 413 | 422) && said.speaks_of_context());
        let class = match code {
            _ if is_too_long => Class::BadRequest,
            _ if said.mentions(&["insufficient_quota", "billing_hard_limit"]) => Class::Refused,
            401..=404 => Class::Refused,
            408 | 409 | 429 | 500..=599 => Class::Retry,
            200..=299 => Class::Retry,
            _ => Class::BadRequest,
        };
        let message = match (300..400).contains(&code) {
            true => "the server redirects to another address; name that one instead".to_owned(),
            false => said.message,
        };
        let kind = if is_too_long { Self::TOO_LONG } else { "status" };
        Self { class, status: Some(code), kind, message, wait: None }
    }

    /// The error of the call that this failure ended.
    pub fn into_error(self, attempts: Vec<Attempt>) -> ModelError {
        let Self { class, status, message, .. } = self;
        match class {
            Class::BadRequest if self.kind == Self::TOO_LONG => ModelError::PromptTooLong { status, message, attempts },
            Class::Refused => ModelError::Refused { status, message, attempts },
            Class::BadRequest => ModelError::BadRequest { status, message, attempts },
            Class::Retry | Class::Final => ModelError::Unavailable { status, message, attempts },
        }
    }
}

/// What an error body says, whatever its shape.
struct Said {
    message: String,
    /// `code` and `type`, in lower case.
    words: String,
    /// A numeric code that is an HTTP status.
    status: Option<u16>,
}

impl Said {
    /// Reads OpenAI's shape, a number as code, a flat object, a text under `error` or `detail`, FastAPI's list, an object
    /// in a list, plain text and HTML.
    fn read(body: &[u8]) -> Self {
        let plain = || {
            let text = String::from_utf8_lossy(body);
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            shorten(if text.is_empty() { Failure::NO_MESSAGE } else { &text }, MAX_MESSAGE_CHARS)
        };
        let Some(value) = lenient_json(body) else {
            return Self { message: plain(), words: String::new(), status: None };
        };
        let value = if let Value::Array(list) = &value { list.first().unwrap_or(&Value::Null) } else { &value };
        let error = value.get("error").filter(|error| !error.is_null()).unwrap_or(value);
        let text = [error.get("message"), error.get("detail"), value.get("message"), Some(error)]
            .into_iter()
            .flatten()
            .find_map(readable);
        let word = |key: &str| error.get(key).map(|code| code.as_str().map_or_else(|| code.to_string(), str::to_owned));
        let code = error.get("code").or_else(|| error.get("status"));
        let number = code.and_then(|code| code.as_u64().or_else(|| code.as_str()?.parse().ok()));
        Self {
            message: text.map_or_else(plain, |text| shorten(&text, MAX_MESSAGE_CHARS)),
            words: [word("code"), word("type")].into_iter().flatten().collect::<Vec<_>>().join(" ").to_lowercase(),
            status: number.and_then(|code| u16::try_from(code).ok()).filter(|code| (400..600).contains(code)),
        }
    }

    /// Whether the message blames the length of the prompt: servers without a code of their own for it say so in words.
    fn speaks_of_context(&self) -> bool {
        let message = self.message.to_lowercase();
        ["context length", "context window", "context size"].iter().any(|words| message.contains(words))
    }

    fn mentions(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.words.contains(word))
    }
}

/// The words of a message: a text, or the messages of FastAPI's list of faults.
fn readable(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
        Value::Array(faults) => {
            let messages: Vec<&str> =
                faults.iter().filter_map(|fault| fault.get("msg").or_else(|| fault.get("message"))?.as_str()).collect();
            (!messages.is_empty()).then(|| messages.join("; "))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Class, Failure};

    #[test]
    fn t02_the_status_decides_and_the_message_comes_from_any_shape() {
        for (status, body, class, message) in [
            (429, r#"{"error":{"message":"slow","code":429}}"#, Class::Retry, "slow"),
            (429, "slow down", Class::Retry, "slow down"),
            (400, r#"{"object":"error","message":"x","type":"BadRequestError","code":400}"#, Class::BadRequest, "x"),
            (422, r#"{"detail":[{"msg":"bad"},{"msg":"worse"}]}"#, Class::BadRequest, "bad; worse"),
            (422, r#"{"detail":"bad"}"#, Class::BadRequest, "bad"),
            (404, "404 page not found", Class::Refused, "404 page not found"),
            (400, r#"{"error":"model 'x' not found"}"#, Class::BadRequest, "model 'x' not found"),
            (400, r#"[{"error":{"message":"in a list"}}]"#, Class::BadRequest, "in a list"),
            (503, "<html>\n <h1>Bad</h1></html>", Class::Retry, "<html> <h1>Bad</h1></html>"),
            (500, "", Class::Retry, "no message"),
            (302, "", Class::BadRequest, "the server redirects to another address; name that one instead"),
            (413, "{}", Class::BadRequest, "{}"),
        ] {
            let failure = Failure::answer(status, body.as_bytes());
            assert_eq!(
                (failure.class, failure.message.as_str(), failure.status),
                (class, message, Some(status)),
                "{body}"
            );
        }
    }

    #[test]
    fn t05_a_quota_is_no_rate_limit() {
        for (status, body) in [
            (429, r#"{"error":{"message":"quota","type":"requests","code":"insufficient_quota"}}"#),
            (429, r#"{"error":{"message":"quota","type":"insufficient_quota","code":null}}"#),
            (402, "pay"),
            (403, r#"{"error":{"message":"quota","code":"insufficient_quota"}}"#),
        ] {
            assert_eq!(Failure::answer(status, body.as_bytes()).class, Class::Refused, "{body}");
        }
    }

    #[test]
    fn t14_a_prompt_that_is_too_long_is_the_requests_fault() {
        for (status, body) in [
            (400, r#"{"error":{"code":400,"type":"exceed_context_size_error","n_prompt_tokens":9,"n_ctx":4}}"#),
            (400, r#"{"error":{"code":"context_length_exceeded","message":"long"}}"#),
            (500, r#"{"error":{"code":"context_length_exceeded","message":"long"}}"#),
            (200, r#"{"error":{"code":400,"message":"long"}}"#),
        ] {
            assert_eq!(Failure::answer(status, body.as_bytes()).class, Class::BadRequest, "{body}");
        }
        let vllm = br#"{"object":"error","message":"This model's maximum context length is 4 tokens.","code":400}"#;
        assert_eq!(Failure::answer(400, vllm).kind, Failure::TOO_LONG);
        assert_eq!(Failure::answer(400, br#"{"error":"unknown field"}"#).kind, "status");
        assert_eq!(Failure::answer(503, b"no context window yet").class, Class::Retry);
        let inside = Failure::answer(200, br#"{"error":{"code":502,"message":"boom"}}"#);
        assert_eq!((inside.class, inside.status), (Class::Retry, Some(502)));
    }
}
