//! JavaScript, by Node.js. Candidate and tests are two processes, which talk through the judge.

mod suite;
mod toolchain;

pub(super) use toolchain::JavaScript;
