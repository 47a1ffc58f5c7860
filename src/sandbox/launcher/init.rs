//! The first process of a box: sets the box up, starts the program, waits for its end and reports.

use std::fs::File;
use std::io::{self, PipeWriter, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus};

use rustix::io::fcntl_dupfd_cloexec;
use rustix::mount::{MountFlags, mount};
use rustix::process::{Resource, Rlimit, Signal, WaitOptions, getrlimit, setrlimit};

use super::cargo;
use super::filter;
use super::landlock;
use super::plan::{Entry, Order};
use super::server::{Failed, drop_identity, step};
use crate::sandbox::sys;

/// The descriptor of a program's channel.
const CHANNEL: i32 = 3;

/// The first number of descriptors that are this process' own.
const UNUSED: i32 = 10;

/// Most files and directories in the private directory.
const INODES: u32 = 4_096;

/// Becomes the first process of the box. Never returns.
pub(super) fn run(order: &Order, descriptors: Vec<OwnedFd>, report: PipeWriter, uid: Option<u32>) -> ! {
    let Ok(report) = out_of_the_way(report.into()) else { std::process::exit(1) };
    let said = match carry_out(order, descriptors, uid) {
        Ok((status, files)) => {
            let (cpu_us, peak_kib) = sys::usage_of_children();
            let files = serde_json::to_string(&files).unwrap_or_else(|_| "[]".to_owned());
            format!("{} {cpu_us} {peak_kib} {files}\n", status.into_raw())
        }
        Err((what, error)) => format!("fault {what} failed ({error})\n"),
    };
    // Nobody is left to tell if this fails: the server then reports this process' own end.
    let _ = File::from(report).write_all(said.as_bytes());
    std::process::exit(0)
}

fn carry_out(order: &Order, descriptors: Vec<OwnedFd>, uid: Option<u32>) -> Result<(ExitStatus, Vec<Entry>), Failed> {
    let mut given = descriptors.into_iter().map(out_of_the_way).collect::<Result<Vec<_>, _>>()?.into_iter();
    let mut next = || given.next().ok_or_else(|| ("taking over descriptors", io::Error::other("one is missing")));
    let (stdin, stdout, stderr) = (next()?, next()?, next()?);
    let pack = File::from(next()?);
    let channel = next()?;
    let wanted = (!order.keep.is_empty()).then(&mut next).transpose()?;
    confine(order, uid)?;
    cargo::unpack(&pack, &order.files).map_err(|error| ("filling the box", error))?;
    drop(pack);
    let mut command = command(order, [stdin, stdout, stderr])?;
    // Where the program does not get the channel, its end tells of the end of the box.
    let held = if order.channel {
        sys::give(channel, CHANNEL).map_err(|error| ("handing over the channel", error))?;
        None
    } else {
        Some(channel)
    };
    let mut child = command.spawn().map_err(|error| ("starting the program", error))?;
    // Its descriptors are the program's alone: a stream must end when the program ends.
    drop(command);
    if order.channel {
        sys::give_up(CHANNEL);
    }
    let status = await_end(&mut child)?;
    sys::kill_others().map_err(|error| ("ending what the program left behind", error))?;
    let files = match wanted {
        Some(file) => cargo::pack(&order.keep, File::from(file), order.keep_bytes)
            .map_err(|error| ("taking out what was built", error))?,
        None => Vec::new(),
    };
    // Ends with this process, after its report.
    std::mem::forget(held);
    Ok((status, files))
}

/// Private directory, limits, no identity, no capability, Landlock and the filter, for this process and the program.
fn confine(order: &Order, uid: Option<u32>) -> Result<(), Failed> {
    let options = format!("size={},nr_inodes={INODES},mode=1777", order.tmp_bytes);
    let options = std::ffi::CString::new(options).map_err(|error| ("making a private directory", error.into()))?;
    mount("tmpfs", "/tmp", "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, options.as_c_str())
        .map_err(step("making a private directory"))?;
    std::env::set_current_dir("/tmp").map_err(|error| ("entering the private directory", error))?;
    rustix::process::setsid().map_err(step("starting a session"))?;
    drop_identity(uid).map_err(step("taking an identity without rights"))?;
    // After the change of identity, which clears it.
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).map_err(step("tying its life to ours"))?;
    landlock::restrict()?;
    filter::install()?;
    for (name, [soft, hard]) in &order.limits {
        let kind = resource(name).ok_or_else(|| ("setting a limit", io::Error::other(format!("{name} is none"))))?;
        let most = getrlimit(kind).maximum.map_or(*hard, |most| most.min(*hard));
        setrlimit(kind, Rlimit { current: Some(*soft.min(&most)), maximum: Some(most) })
            .map_err(step("setting a limit"))?;
    }
    Ok(())
}

fn resource(name: &str) -> Option<Resource> {
    Some(match name {
        "CPU" => Resource::Cpu,
        "DATA" => Resource::Data,
        "AS" => Resource::As,
        "FSIZE" => Resource::Fsize,
        "NPROC" => Resource::Nproc,
        "NOFILE" => Resource::Nofile,
        "STACK" => Resource::Stack,
        "CORE" => Resource::Core,
        "MEMLOCK" => Resource::Memlock,
        "MSGQUEUE" => Resource::Msgqueue,
        _ => return None,
    })
}

/// A descriptor with the same meaning and a number that no program is given.
fn out_of_the_way(descriptor: OwnedFd) -> Result<OwnedFd, Failed> {
    fcntl_dupfd_cloexec(descriptor, UNUSED).map_err(step("taking over descriptors"))
}

fn command(order: &Order, streams: [OwnedFd; 3]) -> Result<Command, Failed> {
    let (program, arguments) =
        order.argv.split_first().ok_or_else(|| ("starting the program", io::Error::other("no program is named")))?;
    let [stdin, stdout, stderr] = streams;
    let mut command = Command::new(program);
    command.args(arguments).env_clear().envs(order.env.iter().map(|(name, value)| (name, value)));
    command.stdin(stdin).stdout(stdout).stderr(stderr).process_group(0);
    Ok(command)
}

/// Waits for the program, and for every orphan that becomes a child of this process meanwhile.
fn await_end(child: &mut std::process::Child) -> Result<ExitStatus, Failed> {
    let pid = i32::try_from(child.id()).unwrap_or(i32::MAX);
    loop {
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((ended, status))) if ended.as_raw_nonzero().get() == pid => {
                return Ok(ExitStatus::from_raw(status.as_raw()));
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(("waiting for the program", error.into())),
        }
    }
}
