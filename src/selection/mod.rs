//! Which programs are kept: pure functions of scores.

mod truncation;

pub use truncation::truncation;
