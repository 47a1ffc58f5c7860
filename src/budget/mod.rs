//! Reserve before spending, settle after: pure counters that never go over their limit.

mod meter;

pub use meter::{Grant, Meter};
