//! Which programs are chosen for repair: pure functions of test scores and of a seeded generator.
//!
//! All methods take a matrix of scores, a row for each candidate and a column for each test, and a `width`; they give
//! indices of candidates in the order of choice. They share these rules:
//!
//! - A score that is NaN, or missing because a row is shorter than another, counts as lower than any number. No input makes a
//!   method fail: no candidate, one candidate, no test, ties everywhere, a width of 0 or beyond the pool.
//! - Without replacement nobody is chosen twice. Where `width` is at least the number of candidates, all are chosen, in
//!   one order that is the same for all methods, and no random number is drawn: mean score descending, the earlier first
//!   on ties. So methods differ only where something must be left out.
//! - With replacement there are as many independent draws as `width` says, but never more than there are candidates; one
//!   candidate may be drawn several times.
//!
//! Equal scores, equal settings and an equal generator give equal choices, on every machine.
//!
//! Beside them stands [`execution_reward`], which makes one number of what the tests said of one program.

mod agreement;
mod cases;
mod draws;
mod epsilon;
mod epsilon_lexicase;
mod lexicase;
mod lexicase_single_order;
mod mean;
mod method;
mod reward;
mod tournament;
mod truncation;

pub use agreement::{agreement, group_scores};
pub use draws::below;
pub use epsilon::Epsilon;
pub use epsilon_lexicase::epsilon_lexicase;
pub use lexicase::lexicase;
pub use lexicase_single_order::lexicase_single_order;
pub use method::Method;
pub use reward::execution_reward;
pub use tournament::tournament;
pub use truncation::truncation;
