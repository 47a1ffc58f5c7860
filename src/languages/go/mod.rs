//! Go, compiled and linked by the compiler's own programs against a standard library that was compiled beforehand.
//!
//! Candidate, tests and harness are one package of several files. What the tests know as `testing` and testify's `assert`
//! is replaced by calls of the harness, so nothing has to be downloaded.

mod exits;
mod harness;
mod sources;
mod test_text;
mod toolchain;

pub(super) use toolchain::Go;
