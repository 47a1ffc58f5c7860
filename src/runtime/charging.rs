//! What a call of a model costs: the most that it may take before it is sent, and what it counts afterwards. Functions of
//! the call's record alone, so that a ledger that reads it again comes to the same.

use super::{AnsweredFrom, CallRecord};
use crate::{
    budget::Charge,
    domain::{Money, Spend},
    llm::{Attempt, ChatMessage, ModelError, Terms},
};

/// The error of a call whose turn ended while it was under way: nobody knows whether it was served.
pub(super) const LOST: &str = "lost";

/// The most that one request can take. A tokenizer makes at most one token of a byte, and 16 cover what a chat template
/// writes around a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Worst {
    input_tokens: u64,
    output_tokens: u64,
    terms: Terms,
}

impl Worst {
    pub(super) fn of(messages: &[ChatMessage], choices: u32, longest: Option<u32>, terms: Terms) -> Self {
        let input_tokens = messages.iter().map(|message| message.content.len() as u64 + 16).sum();
        let output_tokens = u64::from(choices.max(1)) * u64::from(longest.unwrap_or(0));
        Self { input_tokens, output_tokens, terms }
    }

    fn tokens(&self) -> u64 {
        self.input_tokens + self.output_tokens
    }

    fn cost(&self) -> Option<Money> {
        self.terms.price.map(|price| price.most(self.input_tokens, self.output_tokens))
    }

    /// The whole call with all the requests that may be sent for it. What is not known is more than any budget has.
    pub(super) fn call(&self) -> Charge {
        let attempts = u64::from(self.terms.most_attempts.max(1));
        let gpu_ms = match (self.terms.gpus, self.terms.longest_ms) {
            (Some(0), _) => Some(0),
            (gpus, longest) => gpus.zip(longest).map(|(gpus, longest)| longest.saturating_mul(u64::from(gpus))),
        };
        Charge {
            model_calls: 1,
            tokens: self.tokens().saturating_mul(attempts),
            cost: Money(self.cost().map_or(u64::MAX, |cost| cost.0.saturating_mul(attempts))),
            gpu_ms: gpu_ms.unwrap_or(u64::MAX),
        }
    }
}

impl CallRecord {
    fn worst(&self) -> Worst {
        Worst::of(&self.messages, self.choices_wanted, self.parameters.max_output_tokens, self.terms)
    }

    /// How many of its requests were possibly answered, and billed, though no answer came: a time limit, a broken
    /// connection, a gateway's excuse. What was not sent, and what the server refused, is not among them.
    pub fn attempts_in_doubt(&self) -> u32 {
        if self.is_cached() {
            return 0;
        }
        let Some((kind, _)) = &self.error else { return doubtful(&self.attempts) };
        if *kind == ModelError::Cancelled.kind() || kind == LOST {
            // Nobody listed the requests.
            return self.terms.most_attempts.max(1);
        }
        match self.attempts.as_slice() {
            [] => u32::from(*kind != ModelError::NothingToSay(String::new()).kind()),
            attempts => doubtful(attempts),
        }
    }

    /// What its reply cost, by the price of the model that was asked for, whatever name answered. `None` where the price or
    /// the usage is not known; what is in doubt is no part of it. A reply that another conversation paid for costs nothing.
    pub fn cost(&self) -> Option<Money> {
        if self.is_cached() { Some(Money::ZERO) } else { self.worth() }
    }

    /// What a reply that another conversation paid for would have cost.
    pub fn saved_cost(&self) -> Option<Money> {
        self.worth().filter(|_| self.is_cached())
    }

    fn is_cached(&self) -> bool {
        self.answered_from == Some(AnsweredFrom::Cache)
    }

    fn worth(&self) -> Option<Money> {
        let price = self.terms.price?;
        if price.is_free() || self.error.is_some() {
            return Some(Money::ZERO);
        }
        let cached = self.usage.cached_input_tokens.unwrap_or(0);
        Some(price.of(self.usage.input_tokens?, cached, self.usage.output_tokens?))
    }

    /// The most that its requests of unknown outcome can have cost.
    pub fn cost_in_doubt(&self) -> Option<Money> {
        let cost = self.worst().cost()?;
        Some(Money(cost.0.saturating_mul(u64::from(self.attempts_in_doubt()))))
    }

    /// Tokens of the reply beyond what was asked for at most: some servers do not know the limit.
    pub fn overshoot(&self) -> Option<u64> {
        let most = u64::from(self.parameters.max_output_tokens?) * u64::from(self.choices_wanted.max(1));
        self.usage.output_tokens?.checked_sub(most).filter(|beyond| *beyond > 0)
    }

    /// What it counts against budgets: what the server said, else the worst case, and the worst case of each request in
    /// doubt. A server that is silent about usage, or a call that failed, never makes tokens free.
    pub fn charge(&self) -> Charge {
        let worst = self.worst();
        let doubts = u64::from(self.attempts_in_doubt());
        let (tokens, cost) = match (self.error.is_some(), self.usage.input_tokens, self.usage.output_tokens) {
            (true, ..) => (0, Money::ZERO),
            (false, Some(input), Some(output)) => (input.saturating_add(output), self.cost().unwrap_or_default()),
            (false, ..) => (worst.tokens(), worst.cost().unwrap_or_default()),
        };
        Charge {
            model_calls: 1,
            tokens: tokens.saturating_add(worst.tokens().saturating_mul(doubts)),
            cost: cost + self.cost_in_doubt().unwrap_or_default(),
            gpu_ms: self.busy_ms().saturating_mul(u64::from(self.terms.gpus.unwrap_or(0))),
        }
    }

    /// How long servers worked for it, as far as anybody knows.
    fn busy_ms(&self) -> u64 {
        if self.is_cached() {
            return 0;
        }
        let busy = match self.attempts.as_slice() {
            // With the time that it waited for others, of which nothing else is known.
            [] => self.ended_ns.saturating_sub(self.started_ns).div_ceil(1_000_000),
            attempts => attempts.iter().map(|attempt| attempt.duration_ms).sum(),
        };
        busy.min(self.terms.longest_ms.unwrap_or(u64::MAX))
    }

    /// What it adds to the sums of its conversation.
    pub fn spend(&self) -> Spend {
        let cost = self.cost();
        Spend {
            programs: 0,
            model_calls: 1,
            model_attempts: u32::try_from(self.attempts.len()).unwrap_or(u32::MAX),
            input_tokens: self.usage.input_tokens.unwrap_or(0),
            output_tokens: self.usage.output_tokens.unwrap_or(0),
            calls_without_usage: u32::from(self.usage.input_tokens.is_none() || self.usage.output_tokens.is_none()),
            cost: cost.unwrap_or_default(),
            currency: self.terms.price.filter(|price| !price.is_free()).map(|price| price.currency),
            calls_without_cost: u32::from(cost.is_none()),
            attempts_in_doubt: self.attempts_in_doubt(),
            cost_in_doubt: self.cost_in_doubt().unwrap_or_default(),
            reported_cost: self.usage.reported_cost.filter(|_| !self.is_cached()),
            saved_cost: self.saved_cost().unwrap_or_default(),
        }
    }
}

fn doubtful(attempts: &[Attempt]) -> u32 {
    let is_doubtful = |attempt: &&Attempt| match (attempt.error.as_deref(), attempt.status) {
        (None, _) | (Some("connect" | "request"), None) => false,
        (Some(_), None) => true,
        (Some(_), Some(status)) => matches!(status, 200..=299 | 500..=599) && !matches!(status, 501 | 503 | 529),
    };
    u32::try_from(attempts.iter().filter(is_doubtful).count()).unwrap_or(u32::MAX)
}
