//! C++17, by g++. Candidate, tests and harness are one translation unit of several files.

mod exits;
mod harness;
mod test_text;
mod toolchain;

pub(super) use toolchain::Cpp;
