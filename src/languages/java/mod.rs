//! Java, compiled by javac and run by the machine it came with.
//!
//! Candidate, tests and harness are classes of one process. A loader of ours gives candidate and tests what computes of the
//! library, and nothing that looks into classes, so that the harness is out of their reach.

mod exits;
mod harness;
mod library;
mod rewriting;
mod sources;
mod test_text;
mod toolchain;

pub(super) use toolchain::Java;
