//! The roles. Each is one file (or folder) and one entry of [`ROLES`]; nothing else knows them by name.

mod analyst;
mod briefing;
mod critic;
mod debugger;
mod diagnosing;
mod evidence;
mod executor;
mod feedback;
mod instructor;
mod learner;
mod ranker;
mod synthesizer;
mod teacher;
mod tester;
mod writing;

pub use critic::asks_endpoint;

use crate::runtime::RoleEntry;

/// Every role, in the order of a conversation.
pub static ROLES: &[&RoleEntry] = &[
    &analyst::ROLE,
    &tester::ROLE,
    &synthesizer::ROLE,
    &learner::ROLE,
    &executor::ROLE,
    &critic::ROLE,
    &ranker::ROLE,
    &instructor::ROLE,
    &teacher::ROLE,
    &debugger::ROLE,
];

/// The role of this name.
pub fn role(name: &str) -> Option<&'static RoleEntry> {
    ROLES.iter().copied().find(|entry| entry.spec.name == name)
}
