//! The server of boxes: runs one command at a time, each in name spaces of its own.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use rustix::fs::{Mode, OFlags, open, openat};
use rustix::process::{Pid, WaitOptions, waitpid};
use rustix::thread::UnshareFlags;

use super::init;
use super::message::receive;
use super::plan::{Apart, Order};
use super::server::{APART, Failed, step};
use super::turns;
use crate::sandbox::sys::{self, Side};

/// The server, after its own set-up.
pub(super) struct Boxes {
    control: UnixStream,
    uid: Option<u32>,
    processes: Option<OwnedFd>,
    apart: Apart,
}

/// The directory of processes, of which the view has none: by it a new process finds its own entry.
pub(super) fn processes() -> Result<OwnedFd, Failed> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    open("/proc", flags, Mode::empty()).map_err(step("opening the directory of processes"))
}

impl Boxes {
    /// A server that takes orders on `control` and whose programs take the identity `uid` where there is one.
    pub(super) fn new(control: OwnedFd, uid: Option<u32>, processes: Option<OwnedFd>, apart: Apart) -> Self {
        Self { control: UnixStream::from(control), uid, processes, apart }
    }

    /// Serves until the other side is gone, or says why it cannot go on.
    pub(super) fn serve(mut self) -> String {
        loop {
            match self.serve_one() {
                Ok(true) => {}
                Ok(false) => std::process::exit(0),
                Err(error) => return format!("serving an order failed ({error})"),
            }
        }
    }

    fn serve_one(&mut self) -> io::Result<bool> {
        let Some((order, descriptors)) = receive::<Order>(&mut self.control)? else { return Ok(false) };
        let (result, report) = io::pipe()?;
        let spaces = match self.apart {
            Apart::Spaces => APART,
            Apart::Turns | Apart::Descendants { .. } => {
                turns::clear(self.apart.directory())?;
                UnshareFlags::empty()
            }
        };
        match sys::clone_into(spaces)? {
            Side::Child => {
                drop(result);
                self.offer();
                init::run(&order, descriptors, report, self.uid, &self.apart)
            }
            Side::Parent(pid) => {
                drop((report, descriptors));
                self.control.write_all(format!("{}\n", pid.as_raw_nonzero()).as_bytes())?;
                // The report ends with its writer, with which the whole box ends.
                let mut said = String::new();
                BufReader::new(result).read_line(&mut said)?;
                // Until the other side has a hold of the process, its id must stay its own.
                if self.control.read(&mut [0])? == 0 {
                    return Ok(false);
                }
                let status = wait(pid)?;
                turns::sweep(&self.apart)?;
                if said.is_empty() {
                    said = format!("{status} 0 0 []");
                }
                self.control.write_all(format!("{}\n", said.trim_end()).as_bytes())?;
                Ok(true)
            }
        }
    }

    /// Has the kernel end this process and its children before any other, where memory is short. A kernel that refuses is
    /// none the worse for it.
    fn offer(&self) {
        let flags = OFlags::WRONLY | OFlags::CLOEXEC;
        if let Some(processes) = &self.processes
            && let Ok(score) = openat(processes, "self/oom_score_adj", flags, Mode::empty())
        {
            let _ = rustix::io::write(score, b"1000");
        }
    }
}

fn wait(pid: Pid) -> io::Result<i32> {
    loop {
        match waitpid(Some(pid), WaitOptions::empty()) {
            Ok(Some((_, status))) => return Ok(status.as_raw()),
            Ok(None) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}
