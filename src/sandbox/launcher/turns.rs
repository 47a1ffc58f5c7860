//! What is done between two programs that follow one another in the same place.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitOptions, kill_process};

use super::plan::Apart;
use crate::sandbox::sys;
use crate::sandbox::usage::children;

/// How often what a program left behind is killed before that is given up, in rounds of 1 ms and what they cost.
const ROUNDS: u32 = 5_000;

/// Ends what the last program left behind: processes.
pub(super) fn sweep(apart: &Apart) -> io::Result<()> {
    match apart {
        Apart::Spaces => Ok(()),
        Apart::Turns => {
            sys::kill_others()?;
            // Every one of them is a child of this process by now, the first of its PID name space.
            while reap(WaitOptions::empty()) {}
            Ok(())
        }
        Apart::Descendants { .. } => {
            for _ in 0..ROUNDS {
                let left = descendants(rustix::process::getpid());
                if left.is_empty() {
                    return Ok(());
                }
                for process in left {
                    // It may have ended just now.
                    let _ = kill_process(process, Signal::KILL);
                }
                while reap(WaitOptions::NOHANG) {}
                std::thread::sleep(Duration::from_millis(1));
            }
            Err(io::Error::other("processes of a program cannot be ended"))
        }
    }
}

/// Waits for one child; whether there was one.
fn reap(options: WaitOptions) -> bool {
    matches!(rustix::process::wait(options), Ok(Some(_)) | Err(rustix::io::Errno::INTR))
}

fn descendants(root: Pid) -> Vec<Pid> {
    let mut found = Vec::new();
    let mut waiting = vec![root];
    while let Some(process) = waiting.pop() {
        let children = children(process.as_raw_nonzero().get()).into_iter().filter_map(Pid::from_raw);
        for child in children {
            found.push(child);
            waiting.push(child);
        }
    }
    found
}

/// Processes and threads of this process' user on the whole machine.
pub(super) fn tasks_of_user() -> u64 {
    let own = rustix::process::geteuid().as_raw();
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let owned = processes.filter(|entry| {
        use std::os::unix::fs::MetadataExt;
        entry.metadata().is_ok_and(|metadata| metadata.uid() == own)
    });
    owned.map(|entry| fs::read_dir(entry.path().join("task")).map_or(0, Iterator::count) as u64).sum()
}

/// Empties a directory whose files belong to programs that have ended, without following any link.
pub(super) fn clear(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.symlink_metadata()?.is_dir() {
            fs::set_permissions(&path, Permissions::from_mode(0o700))?;
            clear(&path)?;
            fs::remove_dir(&path)?;
        } else {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_directory_is_emptied_though_it_is_locked_and_links_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let kept = folder.path().join("kept");
        fs::write(&kept, "x").unwrap();
        let directory = folder.path().join("work");
        fs::create_dir_all(directory.join("a/b")).unwrap();
        fs::write(directory.join("a/b/c"), "x").unwrap();
        symlink(&kept, directory.join("link")).unwrap();
        symlink(folder.path(), directory.join("a/up")).unwrap();
        fs::set_permissions(directory.join("a"), Permissions::from_mode(0o000)).unwrap();
        clear(&directory).unwrap();
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 0);
        assert!(kept.exists());
    }
}
