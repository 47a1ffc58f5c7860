//! Reserve before spending, settle after: counters that never go over their limit.
//!
//! What belongs to one conversation is counted by its ledger ([`Meter`], [`CallLimits`]), which is pure. What conversations
//! share stands outside of it: a [`Purse`] is a task's within an arm's within a run's, and a call needs room in all of them.

mod charge;
mod meter;
mod pool;
mod purse;
mod shared;

pub use charge::{BudgetKind, CallLimits, Charge, SharedLimits};
pub use meter::{Grant, Meter};
pub use pool::Shortage;
pub use purse::{Deadline, Purse, Reservation};
pub use shared::{ArmBudget, RunBudget, TurnedAway};
