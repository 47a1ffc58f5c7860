use std::{
    fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

use rusqlite::{Connection, OpenFlags};

use super::{
    RunLock, RunRow, StoreError,
    database::{FILE, PATIENCE, is_new},
    error::Said,
    rows::conversations_of,
    runs::runs_of,
};
use crate::ids::ConversationId;

/// A store that is read as it stands, and stays so: nothing is written to it or beside it.
pub struct Source {
    file: PathBuf,
    connection: Connection,
    /// Of a file that nobody had open: how it looked. It must look so still when all is read.
    quiet: Option<(u64, SystemTime)>,
}

impl Source {
    /// Opens the store in a folder, or in a file.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Self::open_quietly(path).map_err(|error| match error {
            // What is beside the file must be put into it, and whoever only reads cannot do that.
            StoreError::ReadOnly(file) => StoreError::Unreadable(
                file,
                "its process was killed, and nothing can be written there to make it whole; copy it to where that can be done, or \
                 let its run go on first"
                    .to_owned(),
            ),
            other => other,
        })
    }

    fn open_quietly(path: &Path) -> Result<Self, StoreError> {
        let file = if path.is_dir() { path.join(FILE) } else { path.to_path_buf() };
        // What SQLite says of files that are not there is less than what the system says.
        let file = fs::canonicalize(&file).map_err(|error| StoreError::Unreadable(file, error.to_string()))?;
        let unreadable = |error: std::io::Error| StoreError::Unreadable(file.clone(), error.to_string());
        fs::File::open(&file).map_err(unreadable)?;
        let look = looks(&file).map_err(unreadable)?;
        // Beside a file with a journal somebody works on it, or was killed at it: SQLite reads both together. Without one SQLite
        // would make one, which it does not where it is told that nobody writes.
        let is_quiet = !has_journal(&file);
        let uri = uri(&file, is_quiet)
            .ok_or_else(|| StoreError::Unreadable(file.clone(), "its path is not UTF-8".to_owned()))?;
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(uri, flags).said(&file)?;
        connection.busy_timeout(PATIENCE).said(&file)?;
        // All reads see the same moment.
        connection.execute_batch("BEGIN").said(&file)?;
        if is_new(&file, &connection)? {
            return Err(StoreError::Unreadable(file, "it is empty".to_owned()));
        }
        Ok(Self { file, connection, quiet: is_quiet.then_some(look) })
    }

    /// Its file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// All its runs, the newest first.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn runs(&self) -> Result<Vec<RunRow>, StoreError> {
        runs_of(&self.connection).said(&self.file)
    }

    /// The conversations of a run that have been begun, and whether each has ended.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn conversations(&self, run: &str) -> Result<Vec<(ConversationId, bool)>, StoreError> {
        conversations_of(&self.connection, run).said(&self.file)
    }

    /// Whether a run goes on in some process of this machine.
    pub fn is_running(&self, run: &str) -> bool {
        self.file.parent().is_some_and(|folder| RunLock::is_held(folder, run))
    }

    pub(super) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Sees that nobody has begun to write to it since it was opened.
    pub(super) fn still_quiet(&self) -> Result<(), StoreError> {
        let Some(before) = self.quiet else { return Ok(()) };
        let is_same = looks(&self.file).is_ok_and(|now| now == before) && !has_journal(&self.file);
        if is_same { Ok(()) } else { Err(StoreError::Busy(self.file.clone())) }
    }
}

fn looks(file: &Path) -> std::io::Result<(u64, SystemTime)> {
    let metadata = fs::metadata(file)?;
    Ok((metadata.len(), metadata.modified()?))
}

fn has_journal(file: &Path) -> bool {
    ["-wal", "-journal"].iter().any(|suffix| {
        let mut name = file.as_os_str().to_owned();
        name.push(suffix);
        Path::new(&name).exists()
    })
}

/// The file as SQLite takes it (`https://www.sqlite.org/uri.html`).
fn uri(file: &Path, is_quiet: bool) -> Option<String> {
    let path = file.to_str()?.replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    let immutable = if is_quiet { "&immutable=1" } else { "" };
    Some(format!("file:{path}?mode=ro{immutable}"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Source, uri};
    use crate::store::{RunRow, RunState, Store, StoreError};

    #[test]
    fn whoever_writes_while_it_is_read_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let put = |run: &str| {
            let store = Store::open(folder.path()).unwrap();
            let (run, plan, facts) = (run.to_owned(), "p".to_owned(), serde_json::Value::Null);
            let row = RunRow { run, plan, begun_ns: 1, state: RunState::Ended, facts };
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            runtime.block_on(store.put_run(&row)).unwrap();
            store
        };
        drop(put("a"));
        let source = Source::open(folder.path()).unwrap();
        assert_eq!(source.runs().unwrap().len(), 1);
        source.still_quiet().unwrap();
        // Both while it is open, and afterwards.
        let store = put("b");
        assert!(matches!(source.still_quiet(), Err(StoreError::Busy(_))));
        let beside = Source::open(folder.path()).unwrap();
        assert_eq!(beside.runs().unwrap().len(), 2);
        beside.still_quiet().unwrap();
        drop((beside, store));
        assert!(matches!(source.still_quiet(), Err(StoreError::Busy(_))));
    }

    #[test]
    fn no_letter_of_a_path_is_taken_for_a_parameter() {
        assert_eq!(uri(Path::new("/a/b"), false).unwrap(), "file:/a/b?mode=ro");
        assert_eq!(uri(Path::new("/50%/a?b#c"), true).unwrap(), "file:/50%25/a%3fb%23c?mode=ro&immutable=1");
    }
}
