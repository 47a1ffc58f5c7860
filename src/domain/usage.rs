use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use super::{Currency, Money};

/// Tokens of model calls. `None` means that the server did not say: unknown is never counted as 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the prompt.
    pub input_tokens: Option<u64>,
    /// Tokens of the reply.
    pub output_tokens: Option<u64>,
    /// Those of the prompt that the server had kept from earlier ones; part of `input_tokens`.
    #[serde(default)]
    pub cached_input_tokens: Option<u64>,
    /// What the server itself says that the call cost, in the currency that it counts in.
    #[serde(default)]
    pub reported_cost: Option<Money>,
}

/// Sums of what a turn, a conversation or a run spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spend {
    /// Programs given to an executor.
    pub programs: u32,
    /// Calls of a model that roles made.
    pub model_calls: u32,
    /// Requests sent for them, retries included.
    pub model_attempts: u32,
    /// Known prompt tokens.
    pub input_tokens: u64,
    /// Known reply tokens.
    pub output_tokens: u64,
    /// Calls whose tokens the server did not say: the sums are then lower bounds.
    pub calls_without_usage: u32,
    /// What the calls of known cost came to.
    #[serde(default)]
    pub cost: Money,
    /// In which currency; `None` while no call had a price.
    #[serde(default)]
    pub currency: Option<Currency>,
    /// Calls whose cost is not known, for want of a price or of usage: the sum is then a lower bound.
    #[serde(default)]
    pub calls_without_cost: u32,
    /// Requests that were possibly answered, and billed, though no answer came.
    #[serde(default)]
    pub attempts_in_doubt: u32,
    /// The most that these can have cost, apart from `cost`.
    #[serde(default)]
    pub cost_in_doubt: Money,
    /// What servers themselves said that calls cost.
    #[serde(default)]
    pub reported_cost: Option<Money>,
    /// What replies would have cost that other conversations had paid for; no part of `cost`.
    #[serde(default)]
    pub saved_cost: Money,
}

impl Spend {
    /// The cost as far as it is known; `None` where that of no call is. A sum of some calls only is a lower bound.
    pub fn known_cost(&self) -> Option<Money> {
        (self.calls_without_cost < self.model_calls || self.model_calls == 0).then_some(self.cost)
    }

    /// The cost for people: `0.0123 USD`, `≥0.0123 USD`, `?`; `None` where nothing has a price.
    pub fn cost_words(&self) -> Option<String> {
        let bound = if self.calls_without_cost > 0 { "≥" } else { "" };
        match (self.currency, self.known_cost()) {
            (None, Some(_)) if self.calls_without_cost == 0 => None,
            (_, None) => Some("?".to_owned()),
            (Some(currency), Some(cost)) => Some(format!("{bound}{cost} {currency}")),
            (None, Some(cost)) => Some(format!("{bound}{cost}")),
        }
    }
}

impl AddAssign for Spend {
    fn add_assign(&mut self, other: Self) {
        self.programs += other.programs;
        self.model_calls += other.model_calls;
        self.model_attempts += other.model_attempts;
        self.input_tokens += other.input_tokens;
        self.output_tokens += other.output_tokens;
        self.calls_without_usage += other.calls_without_usage;
        self.cost += other.cost;
        self.currency = self.currency.or(other.currency);
        self.calls_without_cost += other.calls_without_cost;
        self.attempts_in_doubt += other.attempts_in_doubt;
        self.cost_in_doubt += other.cost_in_doubt;
        self.saved_cost += other.saved_cost;
        self.reported_cost = match (self.reported_cost, other.reported_cost) {
            (Some(one), Some(more)) => Some(one + more),
            (one, more) => one.or(more),
        };
    }
}
