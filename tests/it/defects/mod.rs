//! Defects of public implementations of such systems, which this one must not have: a test each, named after its number.

mod datasets;
mod prompts;
mod records;
mod sandbox;
mod selection;
