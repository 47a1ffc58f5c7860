//! Files that go into a box and come out of it, packed one after another into one file.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fstat, openat2};

use super::plan::Entry;

/// Most files that are taken out of a box.
const MOST_FILES: usize = 4_096;

/// Deepest directory that is looked into.
const DEEPEST: usize = 16;

/// Writes the files into the working directory.
pub(super) fn unpack(pack: &File, entries: &[Entry]) -> io::Result<()> {
    let mut at = 0;
    for entry in entries {
        let path = Path::new(&entry.path);
        if !is_inside(path) {
            return Err(io::Error::other(format!("{} leads out of the working directory", entry.path)));
        }
        if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            DirBuilder::new().recursive(true).mode(0o755).create(parent)?;
        }
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o644).open(path)?;
        copy(pack, at, entry.bytes, &mut file)?;
        if entry.executable {
            file.set_permissions(Permissions::from_mode(0o755))?;
        }
        at += entry.bytes;
    }
    Ok(())
}

fn is_inside(path: &Path) -> bool {
    path.components().all(|part| matches!(part, Component::Normal(_))) && path.components().next().is_some()
}

fn copy(from: &File, mut at: u64, mut left: u64, to: &mut File) -> io::Result<()> {
    let mut chunk = vec![0; 1 << 16];
    while left > 0 {
        let most = usize::try_from(left).unwrap_or(usize::MAX).min(chunk.len());
        let count = from.read_at(&mut chunk[..most], at)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        to.write_all(&chunk[..count])?;
        at += count as u64;
        left -= count as u64;
    }
    Ok(())
}

/// Packs what is wanted of the working directory, in the order of names: regular files only, never through a link.
/// What is not there is left out.
pub(super) fn pack(wanted: &[String], mut into: File, most: u64) -> io::Result<Vec<Entry>> {
    let mut entries = Vec::new();
    let (mut room, mut waiting) = (most, wanted.iter().rev().map(|path| (PathBuf::from(path), 0)).collect::<Vec<_>>());
    while let Some((path, depth)) = waiting.pop() {
        let Some(file) = open(&path)? else { continue };
        let status = fstat(&file)?;
        match FileType::from_raw_mode(status.st_mode) {
            FileType::Directory if depth < DEEPEST => {
                let mut names =
                    fs::read_dir(&path)?.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<_>>>()?;
                names.sort();
                waiting.extend(names.into_iter().rev().map(|name| (path.join(name), depth + 1)));
            }
            FileType::RegularFile => {
                let bytes = io::copy(&mut File::from(file).take(room + 1), &mut into)?;
                if bytes > room || entries.len() == MOST_FILES {
                    return Err(io::Error::new(io::ErrorKind::FileTooLarge, "more was built than is allowed"));
                }
                room -= bytes;
                let path = path.to_str().ok_or_else(|| io::Error::other("a file name that is no text"))?.to_owned();
                entries.push(Entry { path, bytes, executable: status.st_mode & 0o100 != 0 });
            }
            _ => {}
        }
    }
    Ok(entries)
}

/// Opens what the program made, without following any link and without waiting for anyone.
fn open(path: &Path) -> io::Result<Option<OwnedFd>> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match openat2(CWD, path, flags, Mode::empty(), resolve) {
        Ok(file) => Ok(Some(file)),
        Err(rustix::io::Errno::NOENT | rustix::io::Errno::LOOP | rustix::io::Errno::XDEV | rustix::io::Errno::NXIO) => {
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}
