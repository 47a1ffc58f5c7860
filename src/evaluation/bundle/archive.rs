use std::{
    collections::BTreeMap,
    fs::{File, Permissions},
    io::{self, BufReader, Read, Write},
    os::unix::fs::PermissionsExt,
    path::{Component, Path},
};

use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use tar::{Builder, EntryType, Header};
use tempfile::NamedTempFile;
use thiserror::Error;

use crate::domain::open_regular_file;

/// The most bytes that an archive may have when it is unpacked.
const MOST_BYTES: u64 = 4 << 30;
/// How many times its own length that may be, beyond what a small one may have: records repeat themselves less often.
const MOST_TIMES: u64 = 200;
const SMALL_BYTES: u64 = 64 << 20;
/// The most files that it may have.
const MOST_FILES: usize = 1_000_000;

/// Why an archive cannot be read or written.
#[derive(Debug, Error)]
pub enum ArchiveError {
    /// The file system, or bytes that are no archive.
    #[error("{path}: {error}")]
    Io {
        /// Which file.
        path: String,
        /// What is wrong.
        error: io::Error,
    },
    /// An entry that no bundle has.
    #[error("{path}: entry {number} (`{name}`) {why}")]
    Entry {
        /// Which file.
        path: String,
        /// Its number, from 1.
        number: usize,
        /// Its name.
        name: String,
        /// What is wrong.
        why: String,
    },
}

/// Files by their names, `/` between folders: a tar archive, compressed with gzip. Equal files make equal bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Archive(pub BTreeMap<String, Vec<u8>>);

impl Archive {
    /// Writes the archive whole, or not at all.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn write(&self, path: &Path) -> Result<(), ArchiveError> {
        let io = |error| ArchiveError::Io { path: path.display().to_string(), error };
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut file = NamedTempFile::new_in(folder).map_err(io)?;
        self.pack(&mut file).map_err(io)?;
        // Temporary files are for their owner alone; this one is to be handed on.
        file.as_file().set_permissions(Permissions::from_mode(0o644)).map_err(io)?;
        file.as_file().sync_all().map_err(io)?;
        file.persist(path).map_err(|error| io(error.error))?;
        Ok(())
    }

    fn pack(&self, to: &mut impl Write) -> io::Result<()> {
        let mut builder = Builder::new(GzEncoder::new(to, Compression::default()));
        for (name, bytes) in &self.0 {
            let mut header = Header::new_gnu();
            header.set_size(bytes.len() as u64);
            header.set_mode(0o644);
            header.set_entry_type(EntryType::Regular);
            builder.append_data(&mut header, name, bytes.as_slice())?;
        }
        builder.into_inner()?.finish()?.flush()
    }

    /// Reads an archive whole. Nothing is written anywhere.
    ///
    /// # Errors
    /// A file that is no archive or is cut off; entries that are no plain files below the archive; more than 1,000,000 files, or
    /// than 4 GiB or 64 MiB and 200 times the file's own length.
    pub fn read(path: &Path) -> Result<Self, ArchiveError> {
        let shown = || path.display().to_string();
        let io = |error| ArchiveError::Io { path: shown(), error };
        let file: File = open_regular_file(path).map_err(io)?;
        let length = file.metadata().map_err(io)?.len();
        let most = length.saturating_mul(MOST_TIMES).saturating_add(SMALL_BYTES).min(MOST_BYTES);
        let mut unpacked = GzDecoder::new(BufReader::new(file)).take(most);
        let files = Self::entries(path, &mut unpacked);
        if unpacked.limit() == 0 {
            let message = format!("it is larger than {most} bytes when it is unpacked");
            return Err(io(io::Error::new(io::ErrorKind::FileTooLarge, message)));
        }
        files.map(Self)
    }

    fn entries(path: &Path, unpacked: &mut impl Read) -> Result<BTreeMap<String, Vec<u8>>, ArchiveError> {
        let shown = || path.display().to_string();
        let io = |error| ArchiveError::Io { path: shown(), error };
        let mut files = BTreeMap::new();
        let mut archive = tar::Archive::new(&mut *unpacked);
        for (number, entry) in (1..).zip(archive.entries().map_err(io)?) {
            let mut entry = entry.map_err(io)?;
            let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
            let refuse = |why: String| ArchiveError::Entry { path: shown(), number, name: name.clone(), why };
            if number > MOST_FILES {
                return Err(refuse(format!("is one of more than {MOST_FILES}")));
            }
            if entry.header().entry_type() != EntryType::Regular {
                return Err(refuse("is no plain file".to_owned()));
            }
            if !is_plain(&name) {
                return Err(refuse("has a name that leads out of the bundle".to_owned()));
            }
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).map_err(|error| refuse(error.to_string()))?;
            if files.insert(name.clone(), bytes).is_some() {
                return Err(refuse("is there twice".to_owned()));
            }
        }
        // The checksum of the whole is behind the last entry.
        io::copy(unpacked, &mut io::sink()).map_err(io)?;
        Ok(files)
    }
}

/// Whether a name leads to one place below the archive, and is written in the one way that it has.
pub(super) fn is_plain(name: &str) -> bool {
    let parts = name.split('/');
    !name.contains('\\')
        && parts.clone().all(|part| !matches!(part, "" | "." | ".."))
        && Path::new(name).components().all(|part| matches!(part, Component::Normal(_)))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::Archive;

    fn archive() -> Archive {
        let long = format!("files/{}x.toml", "deep/".repeat(60));
        Archive(
            [("bundle.json", "{}"), ("files/a.toml", "b = 1\n"), (long.as_str(), "")]
                .map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec()))
                .into(),
        )
    }

    #[test]
    fn equal_archives_have_equal_bytes_and_come_back() {
        let folder = tempfile::tempdir().unwrap();
        let [a, b] = ["a", "b"].map(|name| folder.path().join(name));
        archive().write(&a).unwrap();
        archive().write(&b).unwrap();
        assert_eq!(fs::read(&a).unwrap(), fs::read(&b).unwrap());
        assert_eq!(Archive::read(&a).unwrap(), archive());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing else is left");
    }

    #[test]
    fn one_that_is_cut_off_anywhere_is_no_archive() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        archive().write(&path).unwrap();
        let whole = fs::read(&path).unwrap();
        for length in 0..whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            assert!(Archive::read(&path).is_err(), "{length} of {} bytes", whole.len());
        }
    }

    #[test]
    fn a_little_file_that_would_be_huge_is_refused_before_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        Archive([("x".to_owned(), vec![0; 100 << 20])].into()).write(&path).unwrap();
        let length = fs::metadata(&path).unwrap().len();
        let most = length * 200 + (64 << 20);
        let error = Archive::read(&path).unwrap_err().to_string();
        assert!(length < 150_000 && error.contains(&format!("larger than {most} bytes")), "{length}: {error}");
    }

    #[test]
    fn entries_that_no_bundle_has_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        for (name, kind, said) in [
            ("/etc/passwd", tar::EntryType::Regular, "leads out"),
            ("../x", tar::EntryType::Regular, "leads out"),
            ("a/../../x", tar::EntryType::Regular, "leads out"),
            ("files//etc/x", tar::EntryType::Regular, "leads out"),
            ("files/./x", tar::EntryType::Regular, "leads out"),
            ("files/", tar::EntryType::Regular, "leads out"),
            ("a", tar::EntryType::Symlink, "no plain file"),
            ("a", tar::EntryType::Fifo, "no plain file"),
        ] {
            let mut header = tar::Header::new_old();
            header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
            header.set_entry_type(kind);
            header.set_size(0);
            header.set_cksum();
            let file = fs::File::create(&path).unwrap();
            let mut builder = tar::Builder::new(flate2::write::GzEncoder::new(file, flate2::Compression::fast()));
            builder.append(&header, std::io::empty()).unwrap();
            builder.into_inner().unwrap().finish().unwrap();
            let error = Archive::read(&path).unwrap_err().to_string();
            assert!(error.contains("entry 1") && error.contains(said), "{name}: {error}");
        }
    }
}
