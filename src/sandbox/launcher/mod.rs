//! The single-threaded launcher that this binary becomes when it re-executes itself: one for each slot of the sandbox.
//!
//! It moves into name spaces, builds the view of the file system that programs get, starts the two servers of its slot
//! (one forks candidates, one forks test runs) and stays as their parent: when it ends, however it ends, the kernel
//! kills both and with them everything that they started. It ends when the other side closes its socket, and removes the
//! control groups that it made.

mod boxes;
mod bubble;
mod cargo;
mod checks;
mod filter;
mod group;
mod init;
mod landlock;
mod message;
mod plan;
mod resident;
mod server;
mod turns;
mod view;

pub(super) use checks::{Attempt, SUCCEEDED};
#[cfg(test)]
pub(super) use group::Group;
pub(super) use group::Groups;
pub(super) use plan::{Entry, Order, Part, Plan, Ready, Reply};
pub use resident::{WORD, intercept};
pub(super) use server::ENVIRONMENT;
