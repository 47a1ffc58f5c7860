use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::{MemfdFlags, memfd_create};

use super::launcher::Entry;
use crate::languages::SourceFile;

/// Files for a box, in memory, one after another.
pub(super) struct Pack {
    file: File,
    entries: Vec<Entry>,
}

impl Pack {
    /// A pack of texts.
    pub(super) fn of(files: &[SourceFile]) -> io::Result<Self> {
        let texts = files.iter().map(|file| (&file.path, file.text.as_bytes()));
        Self::made(texts)
    }

    /// A pack of files by their paths.
    pub(super) fn of_bytes(files: &[(String, Vec<u8>)]) -> io::Result<Self> {
        Self::made(files.iter().map(|(path, content)| (path, content.as_slice())))
    }

    fn made<'a>(files: impl Iterator<Item = (&'a String, &'a [u8])>) -> io::Result<Self> {
        let mut pack = Self::empty()?;
        for (path, content) in files {
            pack.file.write_all(content)?;
            pack.entries.push(Entry { path: path.clone(), bytes: content.len() as u64, executable: false });
        }
        Ok(pack)
    }

    /// A pack to be filled by a box.
    pub(super) fn empty() -> io::Result<Self> {
        let file = File::from(memfd_create("rolecall-files", MemfdFlags::CLOEXEC)?);
        Ok(Self { file, entries: Vec::new() })
    }

    /// Says what a box has put into it.
    pub(super) fn filled(mut self, entries: Vec<Entry>) -> Self {
        self.entries = entries;
        self
    }

    /// What is in it.
    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }
}

impl AsFd for Pack {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}
