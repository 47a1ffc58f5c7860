//! Which runs go on: a run's process keeps a file locked, and the system takes the lock away when the process ends, however
//! it ends. No process id is ever taken for a living process.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    path::{Path, PathBuf},
};

use super::StoreError;

/// Held by the process that a run goes on in.
#[derive(Debug)]
pub struct RunLock {
    path: PathBuf,
    _file: File,
}

impl RunLock {
    /// Takes the lock of `run` below `folder`; `None` where another process has it: the run goes on there.
    pub(super) fn take(folder: &Path, run: &str) -> Result<Option<Self>, StoreError> {
        let path = lock_path(folder, run);
        Ok(lock(&path)?.map(|file| Self { path, _file: file }))
    }

    /// Whether a process has the lock of `run`.
    pub(super) fn is_held(folder: &Path, run: &str) -> bool {
        let Ok(file) = OpenOptions::new().append(true).open(lock_path(folder, run)) else { return false };
        matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
    }
}

impl Drop for RunLock {
    fn drop(&mut self) {
        // A file that is left behind is locked by nobody, which is all that counts.
        let _ = fs::remove_file(&self.path);
    }
}

/// Locks a file, which is made with its folder where it is missing; `None` where another process has it locked.
pub(super) fn lock(path: &Path) -> Result<Option<File>, StoreError> {
    let made = path.parent().map_or(Ok(()), fs::create_dir_all);
    let file = made.and_then(|()| OpenOptions::new().create(true).append(true).open(path));
    let file = file.map_err(|error| StoreError::of_io(path, &error))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(StoreError::of_io(path, &error)),
    }
}

fn lock_path(folder: &Path, run: &str) -> PathBuf {
    folder.join("running").join(run)
}
