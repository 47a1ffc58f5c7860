//! The command line: one file per verb.

mod args;
mod cast;
mod dispatch;
mod doctor;
mod events;
mod examples;
mod exit;
mod explain;
mod export;
mod interventions;
mod judge;
mod keeping;
mod machine;
mod merge;
mod models;
mod printed;
mod problems;
mod progress;
mod replayed;
mod resume;
pub mod roles;
mod run;
mod runs;
mod sharding;
mod signals;
mod store;
mod summary;
mod terminal;
pub mod topology;
mod trace;
mod watching;

pub use dispatch::main;
pub use printed::Printed;
