//! The command line: one file per verb.

<<<<<<< HEAD
mod args;
mod cast;
mod dispatch;
mod events;
mod exit;
mod explain;
mod judge;
mod machine;
mod problems;
mod progress;
mod run;
mod summary;
mod terminal;
mod trace;
mod watching;

pub use dispatch::main;
=======
mod printed;
pub mod roles;
pub mod topology;

pub use printed::Printed;
>>>>>>> topology
