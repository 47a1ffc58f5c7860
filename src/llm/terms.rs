use serde::{Deserialize, Serialize};

use crate::domain::Price;

/// On which terms a model answers, as its file says: what is not known stays unknown, and is never free.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terms {
    /// What its tokens cost.
    pub price: Option<Price>,
    /// GPUs that are busy while it answers.
    pub gpus: Option<u32>,
    /// The most requests that may be sent for one call, those apart that a server refuses.
    pub most_attempts: u32,
    /// The longest time that the requests of one call may take, in ms; `None` where there is no limit.
    pub longest_ms: Option<u64>,
}

impl Terms {
    /// Of a model on this machine that costs nothing and uses no GPU.
    pub const FREE: Self = Self { price: Some(Price::FREE), gpus: Some(0), most_attempts: 1, longest_ms: None };

    /// Of a model of which nothing is known.
    pub const UNKNOWN: Self = Self { price: None, gpus: None, most_attempts: 1, longest_ms: None };
}

impl Default for Terms {
    fn default() -> Self {
        Self::UNKNOWN
    }
}
