//! `rolecall export`: what a run found, as other tools read it.

mod command;
mod independence;
mod rows;
mod samples;

pub use command::{ExportArgs, export};
