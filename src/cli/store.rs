//! Which store a command uses.

use std::{path::Path, sync::Arc};

use super::{args::StoreArgs, exit::Failure, machine};
use crate::store::{RunRow, Store, StoreError, store_folder};

/// The word for keeping nothing.
const MEMORY: &str = "memory";

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::store(error)
    }
}

/// The store of a command that keeps a run; `None` where nothing is to be kept.
///
/// # Errors
/// A store that cannot be opened; no home to put one into.
pub fn open(args: &StoreArgs) -> Result<Option<Arc<Store>>, Failure> {
    if args.store.as_deref() == Some(Path::new(MEMORY)) {
        return Ok(None);
    }
    let default = || {
        store_folder(machine::variable).ok_or_else(|| {
            Failure::store(
                "there is no home directory to keep runs in\n  hint: name a folder with --store DIR, or keep nothing with \
                 --store memory",
            )
        })
    };
    // An empty variable of the environment counts as absent.
    let named = args.store.clone().filter(|folder| !folder.as_os_str().is_empty());
    let folder = named.map_or_else(default, Ok)?;
    Ok(Some(Arc::new(Store::open(&folder)?)))
}

/// The store of a command that reads what is kept.
///
/// # Errors
/// As with [`open`]; and nothing is kept in memory.
pub fn open_kept(args: &StoreArgs) -> Result<Arc<Store>, Failure> {
    open(args)?.ok_or_else(|| Failure::usage("--store memory keeps no runs"))
}

/// The run that `word` names: its id, or the first digits of it.
///
/// # Errors
/// No such run, or several.
pub fn find(store: &Store, word: &str) -> Result<RunRow, Failure> {
    let word = word.to_ascii_lowercase();
    let mut found: Vec<RunRow> = store.runs()?;
    found.retain(|row| row.run.starts_with(&word));
    match (found.len(), found.pop()) {
        (1, Some(row)) => Ok(row),
        (0, _) => Err(Failure::usage(format!("no run: {word} is none of the store {}", store.folder().display()))),
        (several, _) => Err(Failure::usage(format!("{several} runs begin with {word}: write more of it"))),
    }
}
