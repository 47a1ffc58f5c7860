//! The ledger: the pure core of a conversation. Events in, commands out; no clock, no IO, no actors.
//!
//! *Turns run in parallel, effects take place in order.* Deliveries are numbered in logical order; a turn may start when
//! it is near enough to the oldest turn that has not retired; finished turns retire strictly in the order of their
//! numbers, and only then are their messages routed, budgets settled and stop rules read. A started turn always runs to
//! its end and counts. So which turns start, every id and every record follow from the arrangement, the task, the seed
//! and the answers, whatever the timing.

mod events;
mod gather;
mod interventions;
mod judging;
mod permit;
mod recall;
mod retire;
mod rounds;
mod spending;
mod state;

pub use events::{Command, Delivery, Ending, Event, Opening};
pub use recall::recall;
pub use state::Ledger;
