//! The first process of a box: sets the box up, starts the program, waits for its end and reports.

use std::fs::File;
use std::io::{self, PipeWriter, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus};

use rustix::io::fcntl_dupfd_cloexec;
use rustix::mount::{MountFlags, mount};
use rustix::process::{Resource, Rlimit, Signal, WaitOptions, getrlimit, setrlimit};
use rustix::thread::UnshareFlags;

use super::cargo;
use super::filter;
use super::landlock;
use super::plan::{Apart, Entry, Order};
use super::server::{Failed, drop_identity, step};
use super::turns;
use crate::sandbox::sys::{self, Side};

/// The descriptor of a program's channel.
const CHANNEL: i32 = 3;

/// The first number of descriptors that are this process' own.
const UNUSED: i32 = 10;

/// Most files and directories in the private directory.
const INODES: u32 = 4_096;

/// Becomes the first process of the box. Never returns.
pub(super) fn run(order: &Order, descriptors: Vec<OwnedFd>, report: PipeWriter, uid: Option<u32>, apart: &Apart) -> ! {
    let Ok(report) = out_of_the_way(report.into()) else { std::process::exit(1) };
    let said = match carry_out(order, descriptors, uid, apart) {
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

fn carry_out(
    order: &Order,
    descriptors: Vec<OwnedFd>,
    uid: Option<u32>,
    apart: &Apart,
) -> Result<(ExitStatus, Vec<Entry>), Failed> {
    let mut given = descriptors.into_iter().map(out_of_the_way).collect::<Result<Vec<_>, _>>()?.into_iter();
    let mut next = || given.next().ok_or_else(|| ("taking over descriptors", io::Error::other("one is missing")));
    let (stdin, stdout, stderr) = (next()?, next()?, next()?);
    let pack = File::from(next()?);
    let channel = next()?;
    let wanted = (!order.keep.is_empty()).then(&mut next).transpose()?;
    if matches!(apart, Apart::Spaces) && !rustix::process::getpid().is_init() {
        // It kills all that it can see in the end.
        return Err(("entering a PID name space", io::Error::other("this is not its first process")));
    }
    confine(order, uid, apart)?;
    cargo::unpack(&pack, &order.files).map_err(|error| ("filling the box", error))?;
    drop(pack);
    // Where the program does not get the channel, its end tells of the end of the box.
    let held = if order.channel {
        sys::give(channel, CHANNEL).map_err(|error| ("handing over the channel", error))?;
        None
    } else {
        Some(channel)
    };
    let child = start(order, [stdin, stdout, stderr], apart)?;
    if order.channel {
        sys::give_up(CHANNEL);
    }
    let status = await_end(child)?;
    if !matches!(apart, Apart::Descendants { .. }) {
        sys::kill_others().map_err(|error| ("ending what the program left behind", error))?;
    }
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
fn confine(order: &Order, uid: Option<u32>, apart: &Apart) -> Result<(), Failed> {
    let mut others = 0;
    match apart {
        Apart::Spaces => mount_private(order)?,
        Apart::Turns => adopt()?,
        Apart::Descendants { .. } => {
            adopt()?;
            if uid.is_none() {
                // The kernel counts all of the user's.
                others = turns::tasks_of_user();
            }
        }
    }
    std::env::set_current_dir(apart.directory()).map_err(|error| ("entering the private directory", error))?;
    rustix::process::setsid().map_err(step("starting a session"))?;
    drop_identity(uid).map_err(step("taking an identity without rights"))?;
    // After the change of identity, which clears it.
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).map_err(step("tying its life to ours"))?;
    landlock::restrict(apart)?;
    filter::install(matches!(apart, Apart::Descendants { .. }))?;
    for (name, [soft, hard]) in &order.limits {
        let kind = resource(name).ok_or_else(|| ("setting a limit", io::Error::other(format!("{name} is none"))))?;
        let more = if name == "NPROC" { others } else { 0 };
        let most =
            getrlimit(kind).maximum.map_or(hard.saturating_add(more), |most| most.min(hard.saturating_add(more)));
        let least = soft.saturating_add(more).min(most);
        setrlimit(kind, Rlimit { current: Some(least), maximum: Some(most) }).map_err(step("setting a limit"))?;
    }
    Ok(())
}

/// Becomes the parent of every orphan among its descendants, so that they can be watched from outside.
fn adopt() -> Result<(), Failed> {
    let own = rustix::process::getpid();
    rustix::process::set_child_subreaper(Some(own)).map_err(step("adopting orphans"))
}

fn mount_private(order: &Order) -> Result<(), Failed> {
    let options = format!("size={},nr_inodes={INODES},mode=1777", order.tmp_bytes);
    let options = std::ffi::CString::new(options).map_err(|error| ("making a private directory", error.into()))?;
    mount("tmpfs", "/tmp", "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, options.as_c_str())
        .map_err(step("making a private directory"))?;
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

/// Starts the program, or what the self-test tries in its place; gives its process id. Its descriptors are its alone
/// afterwards: a stream must end when the program ends.
fn start(order: &Order, [stdin, stdout, stderr]: [OwnedFd; 3], apart: &Apart) -> Result<i32, Failed> {
    let failed = |error| ("starting the program", error);
    if let Some(attempt) = &order.attempt {
        return match sys::clone_into(UnshareFlags::empty()).map_err(failed)? {
            Side::Child => attempt.make(File::from(stdout)),
            Side::Parent(child) => Ok(child.as_raw_nonzero().get()),
        };
    }
    let none = || failed(io::Error::other("no program is named"));
    let (program, arguments) = order.argv.split_first().ok_or_else(none)?;
    let here = |text: &str| text.replace("/tmp", &apart.directory().to_string_lossy());
    let mut command = Command::new(here(program));
    command.args(arguments.iter().map(|argument| here(argument))).env_clear();
    command.envs(order.env.iter().map(|(name, value)| (name, here(value))));
    command.stdin(stdin).stdout(stdout).stderr(stderr).process_group(0);
    let child = command.spawn().map_err(failed)?;
    Ok(i32::try_from(child.id()).unwrap_or(i32::MAX))
}

/// Waits for the program, and for every orphan that becomes a child of this process meanwhile.
fn await_end(pid: i32) -> Result<ExitStatus, Failed> {
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
