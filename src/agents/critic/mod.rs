//! The critic says how good a judged program is. One file for each source of its reward.

mod answer;
mod endpoint;
mod judge;
mod role;
mod settings;

pub(super) use role::ROLE;
pub use settings::asks_endpoint;
