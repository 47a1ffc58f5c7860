use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use rustix::process::{Gid, Pid, Resource, Rlimit, Signal, Uid, setrlimit};
use rustix::thread::{CapabilitySet, CapabilitySets, UnshareFlags};
use serde_json::json;

use super::filter;
use super::plan::Plan;
use super::view;
use crate::sandbox::sys::{self, Side};

/// What a server may keep of the launcher's powers. A number is the identity to take where there is one to take.
#[derive(Clone, Copy)]
pub(super) enum Identity {
    /// Keeps them, to confine the processes that it forks.
    Keeps(Option<u32>),
    /// Gives them up before it starts.
    Drops(Option<u32>),
}

/// An interpreter that is to run in name spaces of its own.
pub(super) struct Server<'a> {
    pub(super) plan: &'a Plan,
    /// The Python text that it runs.
    pub(super) text: &'a str,
    /// Its control socket, which becomes its standard input.
    pub(super) control: OwnedFd,
    pub(super) identity: Identity,
}

/// Memory of the process that runs tests.
const TESTS_MEMORY_BYTES: u64 = 2 << 30;

impl Server<'_> {
    /// Clones, sets up and executes the server; returns once it runs.
    ///
    /// # Errors
    /// What failed, in words, when the child could not be set up.
    pub(super) fn start(self) -> Result<Pid, String> {
        let (mut result, report) = io::pipe().map_err(|error| format!("opening a pipe failed ({error})"))?;
        let mut spaces = UnshareFlags::NEWNS | UnshareFlags::NEWNET | UnshareFlags::NEWIPC | UnshareFlags::NEWUTS;
        if matches!(self.identity, Identity::Drops(_)) {
            spaces |= UnshareFlags::NEWPID;
        }
        match sys::clone_into(spaces) {
            Err(error) => Err(format!(
                "creating name spaces failed ({error}). To go on: run as root, or where user name spaces are allowed; inside a \
                 container, allow them there"
            )),
            Ok(Side::Child) => {
                drop(result);
                let reason = self.become_server();
                let mut report = File::from(OwnedFd::from(report));
                // Nobody is left to tell if this fails: the parent then reads an empty reason.
                let _ = report.write_all(reason.as_bytes());
                std::process::exit(1)
            }
            Ok(Side::Parent(pid)) => {
                drop(report);
                let mut reason = String::new();
                match result.read_to_string(&mut reason) {
                    Ok(0) => Ok(pid),
                    Ok(_) => Err(reason),
                    Err(error) => Err(format!("reading the server's report failed ({error})")),
                }
            }
        }
    }

    /// Sets this process up and executes the interpreter. Returns only with the reason why that failed.
    fn become_server(self) -> String {
        match self.prepare() {
            Err((what, error)) => format!("{what} failed ({error})"),
            Ok(mut command) => format!("executing {} failed ({})", self.plan.python.display(), command.exec()),
        }
    }

    fn prepare(&self) -> Result<Command, (&'static str, io::Error)> {
        let step = |what: &'static str| move |error: rustix::io::Errno| (what, io::Error::from(error));
        view::enter(self.plan).map_err(|error| ("building the view of the file system", error))?;
        rustix::process::setsid().map_err(step("starting a session"))?;
        rustix::thread::set_no_new_privs(true).map_err(step("giving up new privileges"))?;
        let uid = match self.identity {
            Identity::Keeps(uid) => uid,
            Identity::Drops(uid) => {
                let limit = Rlimit { current: Some(TESTS_MEMORY_BYTES), maximum: Some(TESTS_MEMORY_BYTES) };
                setrlimit(Resource::As, limit).map_err(step("limiting memory"))?;
                drop_identity(uid).map_err(step("taking an identity without rights"))?;
                None
            }
        };
        let filters =
            filter::programs().map_err(|error| ("writing a filter of system calls", io::Error::other(error)))?;
        if let Identity::Drops(_) = self.identity {
            for filter in &filters {
                seccompiler::apply_filter(filter)
                    .map_err(|error| ("installing a filter of system calls", io::Error::other(error)))?;
            }
        }
        // After the change of identity, which clears it.
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).map_err(step("tying its life to ours"))?;
        let control = self.control.try_clone().map_err(|error| ("copying the control socket", error))?;
        let spaces = UnshareFlags::NEWNS | UnshareFlags::NEWPID | UnshareFlags::NEWIPC;
        let filters = filters.iter().map(filter::hexadecimal).collect::<Vec<_>>();
        let settings = json!({ "clone": libc::SYS_clone, "flags": spaces.bits(), "uid": uid, "filters": filters });
        let mut command = Command::new(&self.plan.python);
        command
            .args(["-S", "-s", "-c", self.text])
            .arg(settings.to_string())
            .env_clear()
            .envs([("PATH", "/usr/local/bin:/usr/bin:/bin"), ("HOME", "/tmp"), ("TMPDIR", "/tmp")])
            .envs([("LANG", "C.UTF-8"), ("LC_ALL", "C.UTF-8"), ("TZ", "UTC")])
            .envs([("PYTHONHASHSEED", "0"), ("PYTHONDONTWRITEBYTECODE", "1")])
            .stdin(Stdio::from(control))
            .stdout(Stdio::null());
        Ok(command)
    }
}

/// Takes the identity, where there is one to take, and gives up every capability.
fn drop_identity(uid: Option<u32>) -> rustix::io::Result<()> {
    if let Some(number) = uid {
        let (uid, gid) = (Uid::from_raw(number), Gid::from_raw(number));
        rustix::thread::set_thread_groups(&[])?;
        rustix::thread::set_thread_res_gid(gid, gid, gid)?;
        rustix::thread::set_thread_res_uid(uid, uid, uid)?;
    }
    let none = CapabilitySet::empty();
    rustix::thread::set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })
}
