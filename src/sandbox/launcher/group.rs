//! Control groups for the server of candidates: made where the machine lets the launcher make them, entered once by the
//! server before it starts, removed by the launcher when the slot ends.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{Access, access};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde::{Deserialize, Serialize};

/// Groups of ours are called this, and then the process id of their launcher.
const NAME: &str = "rolecall-";

/// How long the members of a group may take to end once they are killed: only a broken machine takes longer.
const PATIENCE: u32 = 1_000;

/// Between two looks at a group that is about to be empty.
const LOOK: Duration = Duration::from_millis(5);

/// A directory of the control group file system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::sandbox) struct Group {
    /// 1 or 2.
    pub(in crate::sandbox) version: u8,
    /// Where it is.
    pub(in crate::sandbox) path: PathBuf,
}

/// What bounds the server and everything that it starts. In version 2 both are the same group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::sandbox) struct Groups {
    /// Counts memory.
    pub(in crate::sandbox) memory: Option<Group>,
    /// Counts processes and threads.
    pub(in crate::sandbox) pids: Option<Group>,
}

impl Groups {
    /// Makes groups named after this process, in each hierarchy where that is possible. Groups of launchers that were
    /// killed before they could remove them are removed first.
    pub(super) fn make() -> Self {
        let read = |path| fs::read_to_string(path).unwrap_or_default();
        let places = places(&read("/proc/self/cgroup"), &read("/proc/self/mountinfo"));
        let own = rustix::process::getpid().as_raw_nonzero();
        let make = |wanted: &str, limit: [&str; 2]| {
            places.iter().filter(|place| place.offers(wanted)).find_map(|place| {
                remove_leftovers(&place.parent);
                let path = place.parent.join(format!("{NAME}{own}"));
                let made = fs::create_dir(&path);
                if made.is_err_and(|error| error.kind() != io::ErrorKind::AlreadyExists) {
                    return None;
                }
                let usable = access(path.join("cgroup.procs"), Access::WRITE_OK).is_ok()
                    && limit.iter().any(|file| access(path.join(file), Access::WRITE_OK).is_ok());
                if !usable {
                    // Stays behind at worst, empty.
                    let _ = fs::remove_dir(&path);
                }
                usable.then_some(Group { version: place.version, path })
            })
        };
        Self {
            memory: make("memory", ["memory.max", "memory.limit_in_bytes"]),
            pids: make("pids", ["pids.max", "pids.max"]),
        }
    }

    fn all(&self) -> impl Iterator<Item = &Group> {
        self.memory.iter().chain(self.pids.iter().filter(|pids| Some(*pids) != self.memory.as_ref()))
    }

    /// Moves this process into the groups. What refuses it is left: [`Groups::keep_joined`] finds out.
    pub(super) fn join(&self) {
        for group in self.all() {
            // Looked at from outside afterwards.
            let _ = fs::write(group.path.join("cgroup.procs"), "0");
        }
    }

    /// Removes the groups in which `member` is not, and gives the others.
    pub(super) fn keep_joined(self, member: Pid) -> Self {
        let joined = |group: Option<Group>| {
            let group = group?;
            let is_member = group.members().contains(&member);
            if !is_member {
                group.remove();
            }
            is_member.then_some(group)
        };
        Self { memory: joined(self.memory), pids: joined(self.pids) }
    }

    /// Ends every member and removes the groups.
    pub(super) fn remove(&self) {
        self.all().for_each(Group::remove);
    }
}

impl Group {
    fn members(&self) -> Vec<Pid> {
        let text = fs::read_to_string(self.path.join("cgroup.procs")).unwrap_or_default();
        text.lines().filter_map(|line| Pid::from_raw(line.trim().parse().ok()?)).collect()
    }

    fn remove(&self) {
        for _ in 0..PATIENCE {
            for member in self.members() {
                // It may have ended just now.
                let _ = kill_process(member, Signal::KILL);
            }
            match fs::remove_dir(&self.path) {
                Err(error) if error.kind() == io::ErrorKind::ResourceBusy => std::thread::sleep(LOOK),
                _ => return,
            }
        }
    }
}

/// Removes the groups whose launcher is no more. One that still has members stays until the next time.
fn remove_leftovers(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let maker = name.to_str().and_then(|name| name.strip_prefix(NAME)?.parse().ok()).and_then(Pid::from_raw);
        if maker.is_some_and(|maker| test_kill_process(maker) == Err(rustix::io::Errno::SRCH)) {
            // It may have been removed just now.
            let _ = fs::remove_dir(entry.path());
        }
    }
}

/// A directory in which a group may be made.
#[derive(Debug, PartialEq, Eq)]
struct Place {
    version: u8,
    parent: PathBuf,
    /// Controllers by name; empty in version 2, where the directory says itself what it passes on.
    controllers: Vec<String>,
}

impl Place {
    fn offers(&self, controller: &str) -> bool {
        match self.version {
            1 => self.controllers.iter().any(|one| one == controller),
            _ => {
                // Both or none: one group counts both.
                let passed = fs::read_to_string(self.parent.join("cgroup.subtree_control")).unwrap_or_default();
                ["memory", "pids"].iter().all(|wanted| passed.split_ascii_whitespace().any(|one| one == *wanted))
            }
        }
    }
}

/// Where groups may be made, from what `/proc/self/cgroup` and `/proc/self/mountinfo` say: in version 1 below the own
/// group, in version 2 beside it, since a group with members passes nothing on to groups below it.
fn places(groups: &str, mounts: &str) -> Vec<Place> {
    let mut places = Vec::new();
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(own)) = (fields.next(), fields.next(), fields.next()) else { continue };
        let version = if controllers.is_empty() { 2 } else { 1 };
        let controllers = controllers.split(',').filter(|one| !one.is_empty()).map(str::to_owned).collect::<Vec<_>>();
        let Some((root, mounted)) = mounts.lines().find_map(|mount| mounted(mount, version, &controllers)) else {
            continue;
        };
        let Ok(below) = Path::new(own).strip_prefix(root) else { continue };
        let parent = if version == 2 { below.parent().unwrap_or(Path::new("")) } else { below };
        // Without the slash that joining nothing leaves.
        let parent = Path::new(mounted).join(parent).components().collect();
        places.push(Place { version, parent, controllers });
    }
    places
}

/// Root and place of a mount of this hierarchy.
fn mounted<'a>(mount: &'a str, version: u8, controllers: &[String]) -> Option<(&'a str, &'a str)> {
    let (place, kind) = mount.split_once(" - ")?;
    let mut kind = kind.split(' ');
    let (name, options) = (kind.next()?, kind.nth(1)?);
    let fits = match version {
        2 => name == "cgroup2",
        _ => name == "cgroup" && controllers.iter().all(|one| options.split(',').any(|option| option == one)),
    };
    let mut fields = place.split(' ');
    fits.then_some((fields.nth(3)?, fields.next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(version: u8, parent: &str, controllers: &[&str]) -> Place {
        let controllers = controllers.iter().map(|one| (*one).to_owned()).collect();
        Place { version, parent: parent.into(), controllers }
    }

    #[test]
    fn groups_are_made_below_the_own_one_in_version_1_and_beside_it_in_version_2() {
        let groups = "5:pids:/\n4:memory:/a/b\n1:name=systemd:/\n0::/user.slice/app.slice/x.scope\n";
        let mounts = "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n\
                      35 31 0:32 /a /sys/fs/cgroup/memory rw,relatime shared:1 - cgroup cgroup rw,memory\n\
                      39 31 0:36 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids\n\
                      41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw,nsdelegate\n";
        let found = places(groups, mounts);
        assert_eq!(
            found,
            [
                place(1, "/sys/fs/cgroup/pids", &["pids"]),
                place(1, "/sys/fs/cgroup/memory/b", &["memory"]),
                place(2, "/sys/fs/cgroup/unified/user.slice/app.slice", &[]),
            ]
        );
    }

    #[test]
    fn a_group_outside_of_what_is_mounted_is_no_place() {
        let mounts = "41 31 0:38 /other /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
        assert_eq!(places("0::/mine\nnonsense\n", mounts), []);
        assert_eq!(places("0::/\n", &mounts.replace("/other", "/")), [place(2, "/sys/fs/cgroup", &[])]);
    }
}
