use std::{
    fs::OpenOptions,
    io,
    path::{Path, PathBuf},
};

use rusqlite::ErrorCode;
use thiserror::Error;

use crate::ids::ConversationId;

/// Why the store could not be read or written. Whatever was in it before is still there.
#[derive(Clone, Debug, Error)]
pub enum StoreError {
    /// The disk, or this user's share of it, is full.
    #[error("the disk of the store {0} is full; free some space and resume")]
    Full(PathBuf),
    /// Nothing may be written there.
    #[error("the store {0} cannot be written: it is read-only for this user; choose another with --store DIR")]
    ReadOnly(PathBuf),
    /// Another process held it for too long.
    #[error("the store {0} is locked by another process")]
    Busy(PathBuf),
    /// It was written by a later version.
    #[error(
        "the store {path} has version {found}, and this program knows versions up to {known}: it was written by a newer \
         rolecall, which can read it"
    )]
    Newer {
        /// Where it is.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The newest that is known here.
        known: i64,
    },
    /// It is a file of another program.
    #[error("{0} is no store of rolecall; choose another folder with --store DIR")]
    Foreign(PathBuf),
    /// Its bytes contradict each other.
    #[error(
        "the store {0} is damaged and was left as it is: {1}; `sqlite3 FILE .recover` may save most of it, and --store DIR \
         begins another"
    )]
    Damaged(PathBuf, String),
    /// It is to be read only, and cannot be.
    #[error("there is no store of rolecall to be read in {0}: {1}")]
    Unreadable(PathBuf, String),
    /// A conversation has gone one way in one store, and another way in another.
    #[error(
        "conversation {conversation} of {source_file} is in {path} too, and was held otherwise there: it was held twice, and \
         nothing tells which counts"
    )]
    Contrary {
        /// The store that it was to be written to.
        path: PathBuf,
        /// The store that it comes from.
        source_file: PathBuf,
        /// Which.
        conversation: ConversationId,
    },
    /// A row does not read.
    #[error("a row of the store {0} does not read: {1}")]
    Row(PathBuf, String),
    /// The disk or the file system failed otherwise.
    #[error("the store {0} cannot be used: {1}")]
    Other(PathBuf, String),
}

impl StoreError {
    /// What SQLite said of the store at `path`.
    pub(super) fn of(path: &Path, error: &rusqlite::Error) -> Self {
        if error.sqlite_error_code() == Some(ErrorCode::CannotOpen)
            && let Err(error) = OpenOptions::new().append(true).create(true).open(path)
        {
            // The system knows better why.
            return Self::of_io(path, &error);
        }
        let path = path.to_path_buf();
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::Full(path),
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::AuthorizationForStatementDenied) => {
                Self::ReadOnly(path)
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy(path),
            Some(ErrorCode::DatabaseCorrupt) => Self::Damaged(path, error.to_string()),
            Some(ErrorCode::NotADatabase) => Self::Foreign(path),
            _ => Self::Other(path, error.to_string()),
        }
    }

    /// What the file system said of `path`.
    pub(super) fn of_io(path: &Path, error: &io::Error) -> Self {
        let path = path.to_path_buf();
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full(path),
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly(path),
            _ => Self::Other(path, error.to_string()),
        }
    }
}

/// Turns what SQLite says of a store into what we say of it.
pub(super) trait Said<T> {
    fn said(self, file: &Path) -> Result<T, StoreError>;
}

impl<T> Said<T> for rusqlite::Result<T> {
    fn said(self, file: &Path) -> Result<T, StoreError> {
        self.map_err(|error| StoreError::of(file, &error))
    }
}
