//! `rolecall benchmarks list | check | fetch`: the data sets that can be named.

mod args;
mod check;
mod checking;
mod fetch;
mod list;
mod verb;

pub use args::BenchmarksVerb;
pub use verb::benchmarks;
