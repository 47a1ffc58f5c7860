//! The trace file of one conversation: OTLP as JSON, one export request a line.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::Duration,
};

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;

const LOCK_TRIES: u32 = 20;
const LOCK_PAUSE: Duration = Duration::from_millis(1);

/// Which bytes of a file a line takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// First byte.
    pub start: u64,
    /// Just after the last.
    pub end: u64,
}

/// Appends whole lines; what was appended survives a panic and a kill of the process.
pub struct TraceFile {
    path: Arc<Path>,
    open: Option<File>,
    written: u64,
}

impl TraceFile {
    /// A file that is made, with its directories, when the first line comes. One that exists already is written anew.
    pub fn new(path: PathBuf) -> Self {
        Self { path: path.into(), open: None, written: 0 }
    }

    /// Where it is.
    pub fn path(&self) -> &Arc<Path> {
        &self.path
    }

    /// Appends one line, in one write.
    ///
    /// # Errors
    /// Those of the disk. Half a line is taken back, so that the next one is whole again.
    pub fn append(&mut self, request: &ExportTraceServiceRequest) -> io::Result<Extent> {
        let mut line = serde_json::to_vec(request)?;
        line.push(b'\n');
        let mut file = match self.open.take() {
            Some(file) => file,
            None => self.create()?,
        };
        let start = self.written;
        let outcome = file.write_all(&line);
        if outcome.is_ok() {
            self.written += line.len() as u64;
            self.open = Some(file);
        } else if file.set_len(start).is_ok() {
            self.open = Some(file);
        }
        outcome.map(|()| Extent { start, end: self.written })
    }

    /// Opens the file: empty, unless this conversation has written to it already and lost its handle.
    fn create(&self) -> io::Result<File> {
        if let Some(directory) = self.path.parent() {
            fs::create_dir_all(directory)?;
        }
        if self.written == 0 {
            forget(&acknowledged_path(&self.path))?;
        }
        let file = OpenOptions::new().create(true).append(true).open(&self.path)?;
        hold(&file);
        // Not where nothing changes: ext4 writes a file that was cut to nothing back to the disk when it is closed.
        if file.metadata()?.len() != self.written {
            file.set_len(self.written)?;
        }
        Ok(file)
    }
}

/// Locks the file as long as it is open, which tells readers that the conversation goes on: a lock goes with its
/// process. A reader that asks just now holds it for microseconds. Where a file system has no locks, readers cannot
/// know.
fn hold(file: &File) {
    for _ in 0..LOCK_TRIES {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => thread::sleep(LOCK_PAUSE),
            _ => return,
        }
    }
}

/// The note beside a trace file of what a collector acknowledged.
pub fn acknowledged_path(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".acked");
    name.into()
}

fn forget(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
