//! The file system that programs see: the system's programs and libraries and the interpreter, read-only, and nothing else.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::CWD;
use rustix::mount::{
    MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags, mount, mount_change, mount_remount,
    move_mount, open_tree, unmount,
};

use super::plan::Plan;
use crate::sandbox::sys;

/// What every program may read.
pub(super) const SYSTEM: [&str; 10] = [
    "/usr",
    "/bin",
    "/lib",
    "/lib32",
    "/lib64",
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/localtime",
    "/nix/store",
];

/// Devices that programs get.
pub(super) const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// Where the new root is put together: it exists everywhere, and what lies below it is not needed any more.
const STAGE: &str = "/tmp";

/// Something of the old root that goes to the same place in the new one.
enum Piece {
    Link(PathBuf),
    Tree { tree: OwnedFd, directory: bool },
}

/// Replaces this process' root by the view. The caller is in a mount name space of its own.
pub(super) fn enter(plan: &Plan) -> io::Result<()> {
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    // Taken before the stage hides anything that lies below it.
    let mut pieces = Vec::new();
    for (path, devices) in SYSTEM.iter().map(|path| (Path::new(path), false)).chain(
        plan.readable
            .iter()
            .map(|path| (path.as_path(), false))
            .chain(DEVICES.iter().map(|path| (Path::new(path), true))),
    ) {
        if let Some(piece) = take(path, devices)? {
            pieces.push((path, piece));
        }
    }
    mount("tmpfs", STAGE, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, c"mode=755,size=1m")?;
    for (path, piece) in &pieces {
        place(&Path::new(STAGE).join(path.strip_prefix("/").unwrap_or(path)), piece)?;
    }
    directory(&Path::new(STAGE).join("tmp"))?;
    // POSIX shared memory and semaphores, private like everything below /tmp.
    symlink("/tmp", Path::new(STAGE).join("dev/shm"))?;
    std::env::set_current_dir(STAGE)?;
    rustix::process::pivot_root(".", ".")?;
    unmount(".", UnmountFlags::DETACH)?;
    std::env::set_current_dir("/")?;
    let sealed = MountFlags::BIND | MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV;
    mount_remount("/", sealed, "")?;
    Ok(())
}

/// Takes a sealed copy of what is mounted at `path`, or notes the link that is there; `None` where there is nothing.
fn take(path: &Path, devices: bool) -> io::Result<Option<Piece>> {
    let kind = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata.file_type(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if kind.is_symlink() {
        return Ok(Some(Piece::Link(fs::read_link(path)?)));
    }
    let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_RECURSIVE;
    let tree = open_tree(CWD, path, flags)?;
    sys::seal_tree(rustix::fd::AsFd::as_fd(&tree), devices)?;
    Ok(Some(Piece::Tree { tree, directory: kind.is_dir() }))
}

fn place(target: &Path, piece: &Piece) -> io::Result<()> {
    if let Some(parent) = target.parent() {
        directory(parent)?;
    }
    match piece {
        Piece::Link(to) => symlink(to, target),
        Piece::Tree { tree, directory: is_directory } => {
            if *is_directory {
                directory(target)?;
            } else {
                File::create(target)?;
            }
            move_mount(tree, "", CWD, target, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?;
            Ok(())
        }
    }
}

/// A directory that everybody may pass through, with those above it.
fn directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o755).create(path)
}
