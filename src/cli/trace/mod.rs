//! `rolecall trace list | show | diff | push | lineage`: trace files read and delivered.

mod args;
mod columns;
mod diff;
mod files;
mod follow;
mod lineage;
mod list;
mod push;
mod show;
mod verb;

pub use args::TraceVerb;
pub use verb::trace;
