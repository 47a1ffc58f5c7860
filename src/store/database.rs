use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use rusqlite::{Connection, TransactionBehavior};

use super::{StoreError, alive::lock, error::Said, writer::Writer};

/// The name of the file in the store's folder.
pub(super) const FILE: &str = "rolecall.sqlite";
/// `PRAGMA application_id`: "Role" in ASCII.
const APPLICATION: i64 = 0x526f_6c65;
/// `PRAGMA user_version`: which tables there are.
const VERSION: i64 = 1;
/// How long to wait while another process writes.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);
/// Between two attempts at opening a file that is busy.
const PAUSE: Duration = Duration::from_millis(10);
/// Statements that stay prepared.
const PREPARED: usize = 64;

/// An open store. Reads are made by whoever asks; all writes go through one thread, which commits together what waits.
pub struct Store {
    folder: PathBuf,
    file: PathBuf,
    reader: Mutex<Connection>,
    pub(super) writer: Writer,
    /// On a network file system: the right to use it at all.
    _alone: Option<File>,
}

impl Store {
    /// Opens the store in `folder`, which is made where it is missing.
    ///
    /// On local disks the file is in WAL mode, so that several processes can use it. On network file systems, where that does
    /// not work, it has a rollback journal and one process at a time.
    ///
    /// # Errors
    /// [`StoreError`]; the file is left as it was.
    pub fn open(folder: &Path) -> Result<Self, StoreError> {
        fs::create_dir_all(folder).map_err(|error| StoreError::of_io(folder, &error))?;
        let (network, begun) = (is_network(folder), Instant::now());
        loop {
            // SQLite does not wait by itself where a wait could be a deadlock for all it knows: while another process changes the
            // journal's mode, or closes the file as its last user.
            match Self::open_on(folder, network) {
                Err(StoreError::Busy(file)) if file != folder && begun.elapsed() < PATIENCE => thread::sleep(PAUSE),
                result => return result,
            }
        }
    }

    fn open_on(folder: &Path, network: bool) -> Result<Self, StoreError> {
        let file = folder.join(FILE);
        let alone = if network { Some(be_alone(folder)?) } else { None };
        let journal = if network { "DELETE" } else { "WAL" };
        let connect = || connect(&file).said(&file);
        // What is none of ours is not touched: its journal mode is not changed either.
        let mut writing = connect()?;
        let is_new = {
            // One look: another process may be making the tables.
            let look = writing.transaction().said(&file)?;
            is_new(&file, &look)?
        };
        set_journal(&writing, journal).said(&file)?;
        if is_new {
            make_tables(&file, &mut writing)?;
        }
        let reader = connect()?;
        set_journal(&reader, journal).said(&file)?;
        let reader = Mutex::new(reader);
        let writer = Writer::start(file.as_path().into(), writing)?;
        Ok(Self { folder: folder.to_path_buf(), file, reader, writer, _alone: alone })
    }

    /// The folder that it is in.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Its file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    pub(super) fn read<T>(&self, query: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        query(&self.reader()).said(&self.file)
    }

    fn reader(&self) -> MutexGuard<'_, Connection> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn connect(file: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(file)?;
    connection.busy_timeout(PATIENCE)?;
    connection.set_prepared_statement_cache_capacity(PREPARED);
    connection.pragma_update(None, "foreign_keys", true)?;
    // KiB, negated; and the pages that a WAL may have before they are copied back.
    connection.pragma_update(None, "cache_size", -32_768)?;
    connection.pragma_update(None, "wal_autocheckpoint", 8_192)?;
    Ok(connection)
}

/// In WAL mode a commit is safe from a kill of the process at once, and from a loss of power at the next checkpoint.
fn set_journal(connection: &Connection, journal: &str) -> rusqlite::Result<()> {
    connection.pragma_update_and_check(None, "journal_mode", journal, |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", if journal == "WAL" { "NORMAL" } else { "FULL" })
}

/// Makes the tables, unless another process has done so by now.
fn make_tables(file: &Path, connection: &mut Connection) -> Result<(), StoreError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).said(file)?;
    if is_new(file, &transaction)? {
        transaction.execute_batch(include_str!("schema.sql")).said(file)?;
        transaction.pragma_update(None, "application_id", APPLICATION).said(file)?;
        transaction.pragma_update(None, "user_version", VERSION).said(file)?;
    }
    transaction.commit().said(file)
}

/// Whether the file is empty. One that is none of ours, or newer than this program, is refused.
pub(super) fn is_new(file: &Path, connection: &Connection) -> Result<bool, StoreError> {
    let number = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0)).said(file);
    let (application, version) = (number("PRAGMA application_id")?, number("PRAGMA user_version")?);
    if (application, version, number("SELECT count(*) FROM sqlite_schema")?) == (0, 0, 0) {
        return Ok(true);
    }
    if application != APPLICATION {
        return Err(StoreError::Foreign(file.to_path_buf()));
    }
    if version > VERSION {
        return Err(StoreError::Newer { path: file.to_path_buf(), found: version, known: VERSION });
    }
    Ok(false)
}

fn be_alone(folder: &Path) -> Result<File, StoreError> {
    lock(&folder.join("in-use"))?.ok_or_else(|| StoreError::Busy(folder.to_path_buf()))
}

/// The types of network file systems that `statfs` names (Linux, `magic.h`), FUSE among them, since sshfs and the like
/// are FUSE.
const NETWORK: &[u32] = &[
    0x6969,      // NFS
    0x517b,      // SMB
    0xff53_4d42, // CIFS
    0xfe53_4d42, // SMB2
    0x6573_5546, // FUSE
    0x0102_1997, // 9p
    0x0bd0_0bd0, // Lustre
    0x4750_4653, // GPFS
    0x1983_0326, // BeeGFS
    0x00c3_6400, // Ceph
    0x5346_414f, // AFS
    0x7461_636f, // OCFS2
    0x0116_1970, // GFS2
];

fn is_network(folder: &Path) -> bool {
    // The type is a number of 32 bits, whatever the field's width.
    rustix::fs::statfs(folder).is_ok_and(|statistics| NETWORK.contains(&(statistics.f_type as u32)))
}
