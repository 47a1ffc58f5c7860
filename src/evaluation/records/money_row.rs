use serde::Serialize;

use crate::domain::{Money, Spend};

/// Money that calls cost, in units of the currency. Unknown is `null`, never 0.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MoneyRow {
    /// What calls of known cost came to.
    pub cost: Option<f64>,
    /// `USD` and the like.
    pub currency: Option<String>,
    /// Calls of unknown cost.
    pub calls_without_cost: u32,
    /// Requests that were possibly billed though no answer came.
    pub attempts_in_doubt: u32,
    /// The most that these can have cost.
    pub cost_in_doubt: Option<f64>,
    /// What servers themselves said that calls cost.
    pub cost_reported: Option<f64>,
    /// What answers would have cost that other conversations had paid for.
    pub cost_saved: Option<f64>,
}

impl From<&Spend> for MoneyRow {
    fn from(spend: &Spend) -> Self {
        Self {
            cost: spend.known_cost().map(Money::units),
            currency: spend.currency.map(|currency| currency.to_string()),
            calls_without_cost: spend.calls_without_cost,
            attempts_in_doubt: spend.attempts_in_doubt,
            cost_in_doubt: spend.currency.map(|_| spend.cost_in_doubt.units()),
            cost_reported: spend.reported_cost.map(Money::units),
            cost_saved: spend.currency.map(|_| spend.saved_cost.units()),
        }
    }
}
