use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::process::{Gid, Pid, Resource, Rlimit, Signal, Uid, setrlimit};
use rustix::thread::{CapabilitySet, CapabilitySets, UnshareFlags};
use serde_json::json;

use super::boxes;
use super::bubble;
use super::filter;
use super::group::Groups;
use super::landlock;
use super::plan::{Apart, Part, Plan};
use super::view;
use crate::languages::PYTHON_HASH_SEED;
use crate::sandbox::sys::{self, Side};

/// What a server may keep of the launcher's powers. A number is the identity to take where there is one to take.
#[derive(Clone, Copy)]
pub(super) enum Identity {
    /// Keeps them, to confine the processes that it forks.
    Keeps(Option<u32>),
    /// Gives them up before it starts.
    Drops(Option<u32>),
}

/// A server that is to run in name spaces of its own.
pub(super) struct Server<'a> {
    pub(super) plan: &'a Plan,
    pub(super) part: &'a Part,
    /// Its control socket, which becomes its standard input.
    pub(super) control: OwnedFd,
    pub(super) identity: Identity,
    /// What stands around it.
    pub(super) walls: &'a Walls,
    /// The control groups that it enters.
    pub(super) groups: Option<&'a Groups>,
}

/// What stands around a server.
pub(super) enum Walls {
    /// Name spaces and a view of our own.
    View,
    /// What this `bwrap` makes.
    Bubble(PathBuf),
    /// Nothing: its programs have a directory each to themselves, one after another.
    Directory(PathBuf),
}

/// What failed, and the system's error.
pub(super) type Failed = (&'static str, io::Error);

/// Wraps an error of the system with what was being done.
pub(super) fn step(what: &'static str) -> impl Fn(rustix::io::Errno) -> Failed {
    move |error| (what, error.into())
}

/// The name spaces that every candidate gets for itself.
pub(super) const APART: UnshareFlags = UnshareFlags::NEWNS.union(UnshareFlags::NEWPID).union(UnshareFlags::NEWIPC);

/// What every program finds in its environment.
pub(in crate::sandbox) const ENVIRONMENT: [(&str, &str); 6] = [
    ("PATH", "/usr/local/bin:/usr/bin:/bin"),
    ("HOME", "/tmp"),
    ("TMPDIR", "/tmp"),
    ("LANG", "C.UTF-8"),
    ("LC_ALL", "C.UTF-8"),
    ("TZ", "UTC"),
];

/// Memory of the process that runs tests.
const TESTS_MEMORY_BYTES: u64 = 2 << 30;

impl Server<'_> {
    /// Clones, sets up and executes the server; returns once it runs.
    ///
    /// # Errors
    /// What failed, in words, when the child could not be set up.
    pub(super) fn start(self) -> Result<Pid, String> {
        let (result, report) = io::pipe().map_err(|error| format!("opening a pipe failed ({error})"))?;
        let mut spaces = UnshareFlags::empty();
        if matches!(self.walls, Walls::View) {
            spaces |= UnshareFlags::NEWNS | UnshareFlags::NEWNET | UnshareFlags::NEWIPC | UnshareFlags::NEWUTS;
            if matches!(self.identity, Identity::Drops(_)) {
                spaces |= UnshareFlags::NEWPID;
            }
        }
        match sys::clone_into(spaces) {
            Err(error) => Err(format!(
                "creating name spaces failed ({error}). To go on: run as root, or where user name spaces are allowed; inside a \
                 container, allow them there"
            )),
            Ok(Side::Child) => {
                drop(result);
                let mut report = File::from(OwnedFd::from(report));
                let reason = self.become_server(&mut report);
                // Nobody is left to tell if this fails: the parent then reads an empty reason.
                let _ = report.write_all(reason.as_bytes());
                std::process::exit(1)
            }
            Ok(Side::Parent(pid)) => {
                drop(report);
                let mut reason = String::new();
                match BufReader::new(result).read_line(&mut reason) {
                    Ok(0) => Ok(pid),
                    Ok(_) if reason.trim_end() == bubble::READY => Ok(pid),
                    Ok(_) => Err(reason.trim_end().to_owned()),
                    Err(error) => Err(format!("reading the server's report failed ({error})")),
                }
            }
        }
    }

    /// Sets this process up and becomes the server. Returns only with the reason why that failed.
    fn become_server(self, report: &mut File) -> String {
        let said = |(what, error): Failed| format!("{what} failed ({error})");
        if let Some(groups) = self.groups {
            groups.join();
        }
        if let Walls::Bubble(bwrap) = self.walls {
            let told = report.try_clone().map(OwnedFd::from);
            return told.map_or_else(
                |error| said(("copying a pipe", error)),
                |told| bubble::become_server(bwrap, &self.plan.readable, self.control, told),
            );
        }
        // Before the view, which has none.
        let prepared = boxes::processes().and_then(|processes| Ok((processes, self.prepare()?)));
        let (processes, uid) = match prepared {
            Err(failure) => return said(failure),
            Ok(prepared) => prepared,
        };
        match self.part {
            Part::Candidates { python, text } | Part::Tests { python, text } => {
                match self.interpreter(python, text, uid) {
                    Err(failure) => said(failure),
                    Ok(mut command) => format!("executing {} failed ({})", python.display(), command.exec()),
                }
            }
            Part::Boxes => {
                // A closed pipe says that the server runs.
                if let Ok(nothing) = File::open("/dev/null") {
                    *report = nothing;
                }
                let apart = self.apart();
                boxes::Boxes::new(self.control, uid, Some(processes), apart).serve()
            }
        }
    }

    /// Enters the view and gives up what the server does not need; returns the identity that its children take.
    fn prepare(&self) -> Result<Option<u32>, Failed> {
        match self.walls {
            Walls::View => {
                view::enter(self.plan).map_err(|error| ("building the view of the file system", error))?;
            }
            Walls::Directory(_) | Walls::Bubble(_) => {
                let own = rustix::process::getpid();
                rustix::process::set_child_subreaper(Some(own)).map_err(step("adopting orphans"))?;
            }
        }
        rustix::process::setsid().map_err(step("starting a session"))?;
        rustix::thread::set_no_new_privs(true).map_err(step("giving up new privileges"))?;
        let uid = match self.identity {
            Identity::Keeps(uid) => uid,
            Identity::Drops(uid) => {
                let limit = Rlimit { current: Some(TESTS_MEMORY_BYTES), maximum: Some(TESTS_MEMORY_BYTES) };
                setrlimit(Resource::As, limit).map_err(step("limiting memory"))?;
                drop_identity(uid).map_err(step("taking an identity without rights"))?;
                filter::install(false)?;
                None
            }
        };
        // After the change of identity, which clears it.
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).map_err(step("tying its life to ours"))?;
        Ok(uid)
    }

    /// How its programs are kept apart from each other.
    fn apart(&self) -> Apart {
        match self.walls {
            Walls::View => Apart::Spaces,
            Walls::Bubble(_) => Apart::Turns,
            Walls::Directory(directory) => {
                Apart::Descendants { directory: directory.clone(), readable: self.plan.readable.clone() }
            }
        }
    }

    fn interpreter(&self, python: &Path, text: &str, uid: Option<u32>) -> Result<Command, Failed> {
        let filters = filter::programs(false)?.iter().map(filter::hexadecimal).collect::<Vec<_>>();
        let control = self.control.try_clone().map_err(|error| ("copying the control socket", error))?;
        let settings = json!({
            "clone": libc::SYS_clone,
            "flags": APART.bits(),
            "uid": uid,
            "filters": filters,
            "landlock": landlock::numbers(),
        });
        let mut command = Command::new(python);
        command
            .args(["-S", "-s", "-c", text])
            .arg(settings.to_string())
            .env_clear()
            .envs(ENVIRONMENT)
            .env("PYTHONHASHSEED", PYTHON_HASH_SEED.to_string())
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .stdin(Stdio::from(control))
            .stdout(Stdio::null());
        Ok(command)
    }
}

/// Takes the identity, where there is one to take, and gives up every capability.
pub(super) fn drop_identity(uid: Option<u32>) -> rustix::io::Result<()> {
    if let Some(number) = uid {
        let (uid, gid) = (Uid::from_raw(number), Gid::from_raw(number));
        rustix::thread::set_thread_groups(&[])?;
        rustix::thread::set_thread_res_gid(gid, gid, gid)?;
        rustix::thread::set_thread_res_uid(uid, uid, uid)?;
    }
    let none = CapabilitySet::empty();
    rustix::thread::set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })
}
