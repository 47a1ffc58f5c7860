//! The command line: one file per verb.

mod args;
mod cast;
mod dispatch;
mod doctor;
mod events;
mod examples;
mod exit;
mod explain;
mod interventions;
mod judge;
mod machine;
mod printed;
mod problems;
mod progress;
pub mod roles;
mod run;
mod summary;
mod terminal;
pub mod topology;
mod trace;
mod watching;

pub use dispatch::main;
pub use printed::Printed;
