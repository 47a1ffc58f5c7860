//! Traces of hand-made conversations: their shape, their files, their delivery.

pub mod delivery;
pub mod files;
mod metrics;
mod shape;
pub mod story;
