//! Trace files below a folder, and whether somebody still writes one.

use std::{
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
};

/// How many folders deep files are looked for: a run's folder is the first.
const DEEPEST: usize = 8;

/// Whose hand a file is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hand {
    /// A process of this machine writes it.
    Held,
    /// Nobody here does: it is finished, its process was killed, or it is written elsewhere.
    Free,
}

/// Whether a process holds the file to write it: whoever writes one keeps it locked, and a killed process loses its
/// locks.
///
/// # Errors
/// Where the file cannot be opened, or its file system has no locks.
pub fn hand(file: &Path) -> io::Result<Hand> {
    match File::open(file)?.try_lock_shared() {
        Ok(()) => Ok(Hand::Free),
        Err(TryLockError::WouldBlock) => Ok(Hand::Held),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// All `*.jsonl` files below a folder, sorted by path. Links to folders are not followed.
///
/// # Errors
/// Where the folder cannot be read.
pub fn trace_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut open = vec![(folder.to_owned(), 0)];
    while let Some((folder, depth)) = open.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let path = entry.path();
            if entry.file_type()?.is_dir() {
                if depth < DEEPEST {
                    open.push((path, depth + 1));
                }
            } else if path.extension().is_some_and(|extension| extension == "jsonl") && path.is_file() {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}
