//! The command line: one file per verb.

pub mod args;
mod dispatch;
mod events;
mod exit;
mod judge;
mod machine;
mod problems;
mod progress;
mod summary;
mod terminal;

pub use dispatch::main;
