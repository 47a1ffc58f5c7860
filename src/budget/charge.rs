use std::ops::Add;

use serde::{Deserialize, Serialize};

use crate::domain::Money;

/// What a budget of calls is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BudgetKind {
    /// Calls of a model.
    ModelCalls,
    /// Tokens.
    Tokens,
    /// Money.
    Cost,
    /// GPU seconds.
    GpuSecs,
    /// Seconds by the wall.
    WallSecs,
}

impl BudgetKind {
    /// Those that each call takes a part of, in the order in which they are asked.
    pub const OF_CALLS: [Self; 4] = [Self::ModelCalls, Self::Tokens, Self::Cost, Self::GpuSecs];

    /// The key of files and options, and the word of traces.
    pub fn name(self) -> &'static str {
        match self {
            Self::ModelCalls => "model_calls",
            Self::Tokens => "tokens",
            Self::Cost => "cost",
            Self::GpuSecs => "gpu_secs",
            Self::WallSecs => "wall_secs",
        }
    }
}

/// What calls of models take, or may take, from every budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Charge {
    /// Calls.
    pub model_calls: u64,
    /// Tokens of prompts and replies.
    pub tokens: u64,
    /// Money.
    pub cost: Money,
    /// GPU time in ms.
    pub gpu_ms: u64,
}

impl Charge {
    /// The part that a budget of this kind counts.
    pub fn of(&self, kind: BudgetKind) -> u64 {
        match kind {
            BudgetKind::ModelCalls => self.model_calls,
            BudgetKind::Tokens => self.tokens,
            BudgetKind::Cost => self.cost.0,
            BudgetKind::GpuSecs => self.gpu_ms,
            BudgetKind::WallSecs => 0,
        }
    }
}

impl Add for Charge {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            model_calls: self.model_calls.saturating_add(other.model_calls),
            tokens: self.tokens.saturating_add(other.tokens),
            cost: self.cost + other.cost,
            gpu_ms: self.gpu_ms.saturating_add(other.gpu_ms),
        }
    }
}

/// What calls of models may take together. `None` is unlimited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallLimits {
    /// Calls.
    pub model_calls: Option<u32>,
    /// Tokens of prompts and replies.
    pub tokens: Option<u64>,
    /// Money, in the currency of the models.
    pub cost: Option<Money>,
    /// GPU time in ms.
    pub gpu_ms: Option<u64>,
}

impl CallLimits {
    /// The limit of this kind.
    pub fn of(&self, kind: BudgetKind) -> Option<u64> {
        match kind {
            BudgetKind::ModelCalls => self.model_calls.map(u64::from),
            BudgetKind::Tokens => self.tokens,
            BudgetKind::Cost => self.cost.map(|cost| cost.0),
            BudgetKind::GpuSecs => self.gpu_ms,
            BudgetKind::WallSecs => None,
        }
    }

    /// Whether what is left follows from how calls end: then turns take place one after the other.
    pub fn needs_order(&self) -> bool {
        self.tokens.is_some() || self.cost.is_some() || self.gpu_ms.is_some()
    }

    /// A limit in the words of the file: `cost = 0.50`.
    pub fn words(&self, kind: BudgetKind) -> String {
        let limit = self.of(kind).unwrap_or_default();
        let value = match kind {
            BudgetKind::Cost => Money(limit).to_string(),
            BudgetKind::GpuSecs => (limit as f64 / 1e3).to_string(),
            _ => limit.to_string(),
        };
        format!("{} = {value}", kind.name())
    }
}

/// The limits of what several conversations share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SharedLimits {
    /// Of their calls together.
    pub calls: CallLimits,
    /// Seconds by the wall from the first one's begin.
    pub wall_secs: Option<f64>,
}
