//! Topology files: shipped ones, overlays, and every mistake at its place.

mod cases;
mod examples;
mod form;
mod hostile;
mod listings;
mod meaning;
mod overlays;
mod overrides;
mod prompts_dir;
mod ranker;
mod searching;
mod shipped;
pub(crate) mod support;
