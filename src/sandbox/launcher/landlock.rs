//! Landlock on top of the name spaces: everything readable that is in the view, nothing writable but the private
//! directory and devices, no signal and no abstract socket to anyone outside.

use std::io;
use std::path::PathBuf;

use landlock::{
    ABI, Access, AccessFs, BitFlags, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetStatus, Scope, path_beneath_rules,
};
use serde_json::{Value, json};

use super::plan::Apart;
use super::server::Failed;
use super::view::{DEVICES, SYSTEM};
use crate::sandbox::sys;

/// The latest version whose rights are known here.
const LATEST: ABI = ABI::V7;

/// Where a program in a view may write: its private directory, and devices.
const WRITABLE: [&str; 2] = ["/tmp", "/dev"];

/// What a program may read and where it may write.
fn places(apart: &Apart) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let all = |paths: &[&str]| paths.iter().map(PathBuf::from).collect::<Vec<_>>();
    match apart {
        Apart::Spaces | Apart::Turns => (all(&["/"]), all(&WRITABLE)),
        Apart::Descendants { directory, readable } => {
            let mut writable = all(&DEVICES);
            writable.push(directory.clone());
            (all(&SYSTEM).into_iter().chain(readable.iter().cloned()).collect(), writable)
        }
    }
}

/// Version of the kernel's interface; 0 where it has none or has it switched off.
pub(super) fn version() -> i32 {
    sys::landlock_version()
}

fn known() -> ABI {
    match version() {
        ..=0 => ABI::Unsupported,
        1 => ABI::V1,
        2 => ABI::V2,
        3 => ABI::V3,
        4 => ABI::V4,
        5 => ABI::V5,
        6 => ABI::V6,
        _ => LATEST,
    }
}

/// Rights of files that are looked at, and what of them a directory of programs grants.
fn rights() -> (BitFlags<AccessFs>, BitFlags<AccessFs>) {
    (AccessFs::from_all(known()), AccessFs::from_read(known()))
}

/// The same for a process that restricts itself by system calls: `None` where the kernel has no Landlock.
pub(super) fn numbers() -> Option<Value> {
    let (handled, read) = rights();
    let scoped = Scope::from_all(known());
    (known() != ABI::Unsupported).then(
        || json!({ "handled": handled.bits(), "read": read.bits(), "scoped": scoped.bits(), "writable": WRITABLE }),
    )
}

/// Restricts this process and all that it starts. Does nothing where the kernel has no Landlock.
pub(super) fn restrict(apart: &Apart) -> Result<(), Failed> {
    if known() == ABI::Unsupported {
        return Ok(());
    }
    let failed = |error: landlock::RulesetError| ("restricting files by Landlock", io::Error::other(error));
    let (handled, read) = rights();
    let (readable, writable) = places(apart);
    let mut ruleset = Ruleset::default().handle_access(handled).map_err(failed)?;
    if !Scope::from_all(known()).is_empty() {
        ruleset = ruleset.scope(Scope::from_all(known())).map_err(failed)?;
    }
    let status = ruleset
        .create()
        .map_err(failed)?
        .add_rules(path_beneath_rules(readable, read))
        .and_then(|ruleset| ruleset.add_rules(path_beneath_rules(writable, handled)))
        .and_then(landlock::RulesetCreated::restrict_self)
        .map_err(failed)?;
    if status.ruleset == RulesetStatus::NotEnforced {
        return Err(("restricting files by Landlock", io::Error::other("the kernel did not enforce it")));
    }
    Ok(())
}
