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
    /// The server has a temperature of its own and takes no other.
    no_temperature: AtomicBool,
    /// The server has answered a request with a system role.
    took_system: AtomicBool,
}

impl Dialect {
    /// Whether the server has answered a request with a system role.
    pub fn took_system(&self) -> bool {
        self.took_system.load(Ordering::Relaxed)
    }

    /// The server has answered a request with a system role.
    pub fn takes_system(&self) {
        self.took_system.store(true, Ordering::Relaxed);
    }

    /// How many choices a request asks for.
    pub fn choices(&self, request: &ChatRequest) -> u32 {
        if self.one_choice.load(Ordering::Relaxed) { 1 } else { request.choices.max(1) }
    }

    /// The field of the longest reply.
    pub fn limit_name<'a>(&self, settings: &'a OpenAiSettings) -> &'a str {
        if self.newer_limit.load(Ordering::Relaxed) { LIMIT_NAMES.1 } else { &settings.max_tokens_field }
    }

    /// Whether requests may carry a temperature.
    pub fn takes_temperature(&self) -> bool {
        !self.no_temperature.load(Ordering::Relaxed)
    }

    /// What is said otherwise than the request asks, in words for the record.
    pub fn changes(&self, request: &ChatRequest, settings: &OpenAiSettings) -> Vec<String> {
        let has_temperature = request.parameters.temperature.is_some() || settings.parameters.temperature.is_some();
        let changes = [
            (self.choices(request) < request.choices, "one choice"),
            (self.limit_name(settings) != settings.max_tokens_field && has_limit(settings, request), LIMIT_NAMES.1),
            (!self.takes_temperature() && has_temperature, "no temperature"),
        ];
        changes.into_iter().filter(|(is_so, _)| *is_so).map(|(_, words)| words.to_owned()).collect()
    }

    /// Looks whether a request that was refused can be put in other words; says whether to send it again.
    pub fn learn(&self, failure: &Failure, request: &ChatRequest, settings: &OpenAiSettings) -> bool {
        if [Failure::TOO_LONG, Failure::ROLES].contains(&failure.kind) || !matches!(failure.status, Some(400 | 422)) {
            return false;
        }
        let unsupported =
            |name: &str| failure.message.contains(name) && failure.message.to_lowercase().contains("support");
        if unsupported(LIMIT_NAMES.0) && has_limit(settings, request) && self.limit_name(settings) == LIMIT_NAMES.0 {
            return !self.newer_limit.swap(true, Ordering::Relaxed);
        }
        if unsupported("temperature") {
            return !self.no_temperature.swap(true, Ordering::Relaxed);
        }
        // Servers without `n`, or with too few slots for it, refuse the request rather than answer once.
        self.choices(request) > 1 && !self.one_choice.swap(true, Ordering::Relaxed)
    }
}
