use std::fs::DirBuilder;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::Mode;
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, kill_process, pidfd_open, waitpid};
use rustix::thread::{CapabilitySet, UnshareFlags, capabilities};

use super::bubble;
use super::group::Groups;
use super::landlock;
use super::message::receive;
use super::plan::{Part, Plan, Ready, Reply};
use super::server::{Identity, Server, Walls};
use super::turns;
use crate::sandbox::backend::Backend;
use crate::sandbox::sys;
use crate::sandbox::toolbox::{BUBBLEWRAP, on_path};

/// The first argument that makes this binary a launcher. Private: no user types it.
pub const WORD: &str = "__sandbox-launcher";

/// Runs the launcher and returns its exit code, if this process was started as one; `None` in every other case.
///
/// `main` calls this before anything else: no thread may exist yet.
pub fn intercept() -> Option<u8> {
    let word = std::env::args_os().nth(1)?;
    if word == bubble::INSIDE {
        return Some(if bubble::serve().is_ok() { 0 } else { 1 });
    }
    if word != WORD {
        return None;
    }
    // Whatever the shell or the test that started Rolecall left open is no program's.
    if sys::close_inherited().is_err() {
        return Some(1);
    }
    let control = UnixStream::from(io::stdin().as_fd().try_clone_to_owned().ok()?);
    Some(if run(control).is_ok() { 0 } else { 1 })
}

/// Starts what the plan asks for, then waits until the other side or a server is gone.
fn run(mut control: UnixStream) -> io::Result<()> {
    let (plan, servers) = receive::<Plan>(&mut control)?.ok_or(io::ErrorKind::UnexpectedEof)?;
    if plan.servers.len() != servers.len() {
        return Err(io::Error::other("one socket for each server was expected"));
    }
    let mut started = Started::default();
    let reply = match start(&plan, servers, &mut started) {
        Ok(()) => {
            let servers = started.servers.iter().map(|(server, _)| server.as_raw_nonzero().get()).collect();
            let (groups, directories) = (started.groups.clone(), started.directories.clone());
            Reply::Ready(Ready { backend: plan.backend, landlock: landlock::version(), groups, directories, servers })
        }
        Err(reason) => Reply::Refused(reason),
    };
    let waited = answer_and_wait(&mut control, &reply, &started);
    started.end();
    waited
}

fn answer_and_wait(control: &mut UnixStream, reply: &Reply, started: &Started) -> io::Result<()> {
    let mut text = serde_json::to_vec(reply)?;
    text.push(b'\n');
    control.write_all(&text)?;
    let mut watched = vec![PollFd::new(control, PollFlags::IN)];
    watched.extend(started.servers.iter().map(|(_, handle)| PollFd::new(handle, PollFlags::IN)));
    loop {
        match poll(&mut watched, None) {
            Err(rustix::io::Errno::INTR) => {}
            // Whatever stirred is an end: the other side never speaks again, and a server that ends ends the slot.
            other => return other.map(drop).map_err(io::Error::from),
        }
    }
}

/// What runs for a slot.
#[derive(Default)]
struct Started {
    servers: Vec<(Pid, OwnedFd)>,
    groups: Groups,
    directories: Vec<PathBuf>,
}

impl Started {
    /// Ends the servers, with them everything that they started, and removes the groups.
    fn end(self) {
        for (server, _) in &self.servers {
            // A child of this process that was not waited for: its id is its own.
            let _ = kill_process(*server, Signal::KILL);
        }
        for (server, _) in &self.servers {
            while matches!(waitpid(Some(*server), WaitOptions::empty()), Err(rustix::io::Errno::INTR)) {}
        }
        self.groups.remove();
        for directory in &self.directories {
            // What cannot be removed stays in the directory of temporary files.
            let _ = turns::clear(directory).and_then(|()| std::fs::remove_dir(directory));
        }
    }
}

/// Makes what the backend needs and starts the servers. What was made until an error is in `started` too.
fn start(plan: &Plan, sockets: Vec<OwnedFd>, started: &mut Started) -> Result<(), String> {
    let privileged = is_privileged();
    let mut walls = Walls::View;
    match plan.backend {
        Backend::RootNamespaces if !privileged => return Err("this is not root with all its rights".to_owned()),
        Backend::RootNamespaces => {}
        Backend::UserNamespaces => {
            enter_user_namespace().map_err(|error| format!("creating a user name space failed ({error})"))?;
        }
        Backend::Bubblewrap => walls = Walls::Bubble(on_path(Path::new(BUBBLEWRAP)).ok_or("bwrap is not on the path")?),
        Backend::Reduced if landlock::version() < 1 => return Err("the kernel has no Landlock".to_owned()),
        Backend::Reduced => {}
    }
    started.groups = Groups::make();
    rustix::process::umask(Mode::from_bits_truncate(0o022));
    sys::fix_addresses().map_err(|error| format!("switching address randomisation off failed ({error})"))?;
    let own = rustix::process::getpid().as_raw_nonzero().get().unsigned_abs();
    // Identities of no user, different for every server that is alive, so that process limits are not shared.
    let drops = privileged && matches!(plan.backend, Backend::RootNamespaces | Backend::Reduced);
    let identity = |number: u32| drops.then(|| 60_000 - 4_000 * (number % 8) + own % 4_000);
    for ((number, part), control) in (0..).zip(&plan.servers).zip(sockets) {
        if plan.backend == Backend::Reduced {
            let directory = std::env::temp_dir().join(format!("rolecall-{}", uuid::Uuid::new_v4().simple()));
            make_directory(&directory, identity(number))
                .map_err(|error| format!("making a private directory failed ({error})"))?;
            started.directories.push(directory.clone());
            walls = Walls::Directory(directory);
        }
        let identity = match part {
            Part::Tests { .. } => Identity::Drops(identity(number)),
            Part::Candidates { .. } | Part::Boxes => Identity::Keeps(identity(number)),
        };
        let groups = (number == 0).then_some(&started.groups);
        let pid = Server { plan, part, control, identity, walls: &walls, groups }.start()?;
        let handle =
            pidfd_open(pid, PidfdFlags::empty()).map_err(|error| format!("watching a server failed ({error})"))?;
        if number == 0 {
            started.groups = std::mem::take(&mut started.groups).keep_joined(pid);
        }
        started.servers.push((pid, handle));
    }
    Ok(())
}

fn is_privileged() -> bool {
    rustix::process::geteuid().is_root()
        && capabilities(None).is_ok_and(|sets| {
            sets.effective.contains(CapabilitySet::SYS_ADMIN | CapabilitySet::SETUID | CapabilitySet::SETGID)
        })
}

/// A new directory that nobody else may enter.
fn make_directory(path: &Path, owner: Option<u32>) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)?;
    std::os::unix::fs::chown(path, owner, owner)
}

/// Becomes the root of a user name space of its own, in which the other name spaces may be made.
fn enter_user_namespace() -> io::Result<()> {
    let (uid, gid) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    sys::unshare(UnshareFlags::NEWUSER)?;
    std::fs::write("/proc/self/setgroups", "deny")?;
    std::fs::write("/proc/self/uid_map", format!("0 {uid} 1"))?;
    std::fs::write("/proc/self/gid_map", format!("0 {gid} 1"))
}
