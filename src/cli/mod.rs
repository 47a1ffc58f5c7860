//! The command line: one file per verb.

mod printed;
pub mod roles;
pub mod topology;

pub use printed::Printed;
