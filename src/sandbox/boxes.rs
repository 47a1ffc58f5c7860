use std::os::fd::{AsFd, BorrowedFd};

use super::SandboxError;
use super::launcher::{Attempt, ENVIRONMENT, Order};
use super::pack::Pack;
use super::process::{resources, tmp_bytes};
use crate::domain::Limits;
use crate::languages::BoxCommand;

/// Most of what a build may leave, in bytes.
pub(super) const KEEP_BYTES: u64 = 256 << 20;

/// Soft and hard limit of a stack that may grow as far as memory allows.
const DEEP: u64 = u64::MAX;

/// A command that is about to run in a box.
pub(super) struct Launch<'a> {
    /// The command.
    pub(super) command: &'a BoxCommand,
    /// What the self-test tries in its place.
    pub(super) attempt: Option<Attempt>,
    /// Files that it finds in its working directory.
    pub(super) files: &'a Pack,
    /// What is kept of the working directory, and where.
    pub(super) keep: Option<(&'a [String], &'a Pack)>,
    /// Whether it talks with the judge; else its channel ends when the box does.
    pub(super) talks: bool,
    /// Its limits.
    pub(super) limits: &'a Limits,
    /// CPU time of the whole process in ms, as a second line of defence.
    pub(super) cpu_ms: u64,
}

impl Launch<'_> {
    /// The order as a line.
    pub(super) fn order(&self) -> Result<Vec<u8>, SandboxError> {
        let mut limits = resources(self.limits, self.cpu_ms);
        if !self.command.bounded_addresses {
            limits.retain(|(name, _)| name != "AS");
        }
        let data = limits.iter_mut().filter(|(name, _)| name == "DATA");
        data.for_each(|(_, pair)| *pair = pair.map(|bytes| bytes.max(self.command.least_data_bytes)));
        if self.command.deep_stack {
            limits.retain(|(name, _)| name != "STACK");
            limits.push(("STACK".to_owned(), [DEEP, DEEP]));
        }
        let fixed = ENVIRONMENT.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let order = Order {
            attempt: self.attempt.clone(),
            argv: self.command.argv.clone(),
            env: fixed.into_iter().chain(self.command.env.iter().cloned()).collect(),
            files: self.files.entries().to_vec(),
            channel: self.talks,
            keep: self.keep.map(|(names, _)| names.to_vec()).unwrap_or_default(),
            keep_bytes: KEEP_BYTES,
            tmp_bytes: tmp_bytes(self.limits),
            limits,
        };
        let mut line = serde_json::to_vec(&order).map_err(|error| SandboxError::Harness(error.to_string()))?;
        line.push(b'\n');
        Ok(line)
    }

    /// The file for what is kept.
    pub(super) fn kept(&self) -> Option<BorrowedFd<'_>> {
        self.keep.filter(|(names, _)| !names.is_empty()).map(|(_, pack)| pack.as_fd())
    }
}
