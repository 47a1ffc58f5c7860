//! Traces of hand-made conversations: their shape, their files, their delivery, their rendering.

mod delivery;
mod files;
mod shape;
mod story;
mod view;
