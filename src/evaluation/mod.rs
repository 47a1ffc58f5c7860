//! Runs of many conversations: what is held, in which order, at most how many at once.

mod runner;

pub use runner::{RunError, Selection, run_all};
