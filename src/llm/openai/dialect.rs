use std::sync::atomic::{AtomicBool, Ordering};

use super::{OpenAiSettings, request::has_limit};
use crate::llm::{ChatRequest, http::Failure};

/// The older field for the longest reply, and the newer one that some servers want in its place.
const LIMIT_NAMES: (&str, &str) = ("max_tokens", "max_completion_tokens");

/// What a server turned out not to understand. Each is learned from one refusal and kept for the run.
#[derive(Debug, Default)]
pub struct Dialect {
    /// Only one choice is asked for.
    one_choice: AtomicBool,
    /// The limit of the reply has its newer name.
    newer_limit: AtomicBool,
}

impl Dialect {
    /// How many choices a request asks for.
    pub fn choices(&self, request: &ChatRequest) -> u32 {
        if self.one_choice.load(Ordering::Relaxed) { 1 } else { request.choices.max(1) }
    }

    /// The field of the longest reply.
    pub fn limit_name<'a>(&self, settings: &'a OpenAiSettings) -> &'a str {
        if self.newer_limit.load(Ordering::Relaxed) { LIMIT_NAMES.1 } else { &settings.max_tokens_field }
    }

    /// Looks whether a request that was refused can be put in other words; says whether to send it again.
    pub fn learn(&self, failure: &Failure, request: &ChatRequest, settings: &OpenAiSettings) -> bool {
        if failure.kind == Failure::TOO_LONG || !matches!(failure.status, Some(400 | 422)) {
            return false;
        }
        let names_limit = failure.message.contains(LIMIT_NAMES.0) && failure.message.to_lowercase().contains("support");
        if names_limit && has_limit(settings, request) && self.limit_name(settings) == LIMIT_NAMES.0 {
            return !self.newer_limit.swap(true, Ordering::Relaxed);
        }
        // Servers without `n`, or with too few slots for it, refuse the request rather than answer once.
        self.choices(request) > 1 && !self.one_choice.swap(true, Ordering::Relaxed)
    }
}
