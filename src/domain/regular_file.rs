use std::{
    cell::RefCell,
    collections::BTreeMap,
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

/// The bytes of a file that somebody else named: never waits, never reads without end.
///
/// # Errors
/// Those of the system; what is no regular file (a pipe would wait for a writer, a device may never end); more than
/// `limit_bytes`, as [`io::ErrorKind::FileTooLarge`].
pub fn read_regular_file(path: &Path, limit_bytes: u64) -> io::Result<Vec<u8>> {
    let bytes = read_bounded(path, limit_bytes)?;
    SEEN.with_borrow_mut(|seen| seen.as_mut().map(|seen| seen.insert(path.to_path_buf(), bytes.clone())));
    Ok(bytes)
}

thread_local! {
    static SEEN: RefCell<Option<BTreeMap<PathBuf, Vec<u8>>>> = const { RefCell::new(None) };
}

/// Does `work`, and says which files this thread read meanwhile with [`read_regular_file`]. Not to be nested.
pub fn with_files_read<T>(work: impl FnOnce() -> T) -> (T, BTreeMap<PathBuf, Vec<u8>>) {
    SEEN.set(Some(BTreeMap::new()));
    let done = work();
    (done, SEEN.take().unwrap_or_default())
}

fn read_bounded(path: &Path, limit_bytes: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // Read, not measured: some files (of `/proc`) have more in them than their length says.
    open_regular_file(path)?.take(limit_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit_bytes {
        let message = format!("it is larger than {limit_bytes} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(bytes)
}

/// Opens a file that somebody else named, to be read; never waits.
///
/// # Errors
/// Those of the system; what is no regular file.
pub fn open_regular_file(path: &Path) -> io::Result<File> {
    // Looked at before it is opened: opening a pipe that nobody writes to would wait for ever.
    let metadata = path.metadata()?;
    if metadata.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder, not a file"));
    }
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    File::open(path)
}

#[cfg(test)]
mod tests {
    use std::{io::ErrorKind, path::Path};

    use super::{read_regular_file, with_files_read};

    #[test]
    fn a_file_of_just_the_limit_is_read_and_one_byte_more_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "abc").unwrap();
        assert_eq!(read_regular_file(&path, 3).unwrap(), b"abc");
        assert_eq!(read_regular_file(&path, 2).unwrap_err().kind(), ErrorKind::FileTooLarge);
        assert_eq!(read_regular_file(folder.path(), 3).unwrap_err().kind(), ErrorKind::IsADirectory);
        assert_eq!(read_regular_file(Path::new("/dev/zero"), 3).unwrap_err().to_string(), "it is not a regular file");
        let (_, seen) = with_files_read(|| (read_regular_file(&path, 3), read_regular_file(&path, 2)));
        assert_eq!(seen, [(path.clone(), b"abc".to_vec())].into());
        let ((), seen) = with_files_read(|| ());
        assert!(seen.is_empty());
    }
}
