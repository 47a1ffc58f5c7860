//! Rust 2021, by rustc. The candidate's text is the root of a crate, tests and harness are modules of it.

mod exits;
mod harness;
mod preamble;
mod program;
mod test_text;
mod toolchain;

pub(super) use toolchain::Rust;
