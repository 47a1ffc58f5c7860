//! The system calls that no safe crate offers. The only `unsafe` of the project.
#![allow(unsafe_code, reason = "each call states why it is sound")]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::time::Duration;

use rustix::process::Pid;
use rustix::thread::UnshareFlags;

/// Which side of a clone this is.
pub(super) enum Side {
    /// The new process.
    Child,
    /// The process that cloned, with the child's id.
    Parent(Pid),
}

/// A copy of this process in the name spaces that `flags` names, as `fork` makes one.
///
/// Call it only while the process has a single thread.
pub(super) fn clone_into(flags: UnshareFlags) -> io::Result<Side> {
    let flags = libc::c_long::from(flags.bits()) | libc::c_long::from(libc::SIGCHLD);
    // SAFETY: without CLONE_VM and without a stack this is `fork`: the child has its own copy of all memory. The caller
    // is the launcher, which never has a second thread, so no lock can be held by anyone else.
    let pid = unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) };
    match pid {
        0 => Ok(Side::Child),
        pid if pid > 0 => i32::try_from(pid)
            .ok()
            .and_then(Pid::from_raw)
            .map(Side::Parent)
            .ok_or_else(|| io::Error::other("clone returned no process id")),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Moves this single-threaded process into new name spaces.
pub(super) fn unshare(flags: UnshareFlags) -> io::Result<()> {
    // SAFETY: the call is unsafe for FILES alone, which could part threads from their descriptors; it is never asked for.
    unsafe { rustix::thread::unshare_unsafe(flags & !UnshareFlags::FILES) }.map_err(io::Error::from)
}

/// Puts a descriptor at a number that no value of this process owns, for the program that is executed next.
pub(super) fn give(descriptor: OwnedFd, number: RawFd) -> io::Result<()> {
    // SAFETY: the call touches no memory. The caller keeps its own descriptors at other numbers, so what is closed here, if
    // anything, belongs to nobody.
    if unsafe { libc::dup2(descriptor.as_raw_fd(), number) } < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Closes what `give` put at a number.
pub(super) fn give_up(number: RawFd) {
    // SAFETY: no value of this process owns the number: `give` says so.
    unsafe { libc::close(number) };
}

/// Closes every descriptor but the standard streams. Call it before anything is opened.
pub(super) fn close_inherited() -> io::Result<()> {
    const FIRST: libc::c_uint = 3;
    // SAFETY: the call touches no memory, and no value of this process owns a descriptor yet: nothing has been opened.
    let closed = unsafe { libc::syscall(libc::SYS_close_range, FIRST, libc::c_uint::MAX, 0) };
    if closed < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Kills every other process of this name space, of which this process is the first.
pub(super) fn kill_others() -> io::Result<()> {
    // SAFETY: the call touches no memory.
    if unsafe { libc::kill(-1, libc::SIGKILL) } == 0 {
        return Ok(());
    }
    match io::Error::last_os_error() {
        none if none.raw_os_error() == Some(libc::ESRCH) => Ok(()),
        error => Err(error),
    }
}

/// CPU time in us of all children that were waited for and theirs, and the largest resident set among them in KiB.
pub(super) fn usage_of_children() -> (i64, i64) {
    // SAFETY: all bits zero is a valid value of this plain structure.
    let mut usage = unsafe { std::mem::zeroed::<libc::rusage>() };
    // SAFETY: `usage` is a valid place for the result and lives through the call.
    if unsafe { libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage) } != 0 {
        return (0, 0);
    }
    let time = |value: libc::timeval| value.tv_sec * 1_000_000 + value.tv_usec;
    (time(usage.ru_utime) + time(usage.ru_stime), usage.ru_maxrss)
}

/// Version of the kernel's Landlock interface; 0 without one.
pub(super) fn landlock_version() -> i32 {
    const VERSION: libc::c_uint = 1;
    // SAFETY: with this flag the kernel reads no attribute and gives a number.
    let version = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0usize, VERSION) };
    i32::try_from(version).unwrap_or(0).max(0)
}

/// Switches address randomisation off for the programs that this process executes from now on.
pub(super) fn fix_addresses() -> io::Result<()> {
    // SAFETY: `personality` reads and writes one integer of this process in the kernel and touches no memory.
    let now = unsafe { libc::personality(0xffff_ffff) };
    let wanted =
        libc::c_ulong::try_from(now).unwrap_or(0) | libc::c_ulong::try_from(libc::ADDR_NO_RANDOMIZE).unwrap_or(0);
    // SAFETY: as above.
    if unsafe { libc::personality(wanted) } < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Makes a detached mount tree read-only, without set-user-id programs and, unless `devices`, without devices.
pub(super) fn seal_tree(tree: BorrowedFd<'_>, devices: bool) -> io::Result<()> {
    let mut set = libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID;
    if !devices {
        set |= libc::MOUNT_ATTR_NODEV;
    }
    let attributes = libc::mount_attr { attr_set: set, attr_clr: 0, propagation: libc::MS_PRIVATE, userns_fd: 0 };
    // SAFETY: the path is an empty C string, `attributes` lives through the call and its size is given.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            tree.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH | libc::AT_RECURSIVE,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// CPU time that another process has used so far, all its threads together; `None` once it is gone.
pub(super) fn cpu_time(pid: Pid) -> Option<Duration> {
    // The clock id of another process, as clock_getcpuclockid(3) computes it: the inverted id and the kind "scheduler".
    let clock = (!pid.as_raw_nonzero().get() << 3) | 2;
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid place for the result and lives through the call.
    if unsafe { libc::clock_gettime(clock, &raw mut time) } != 0 {
        return None;
    }
    Some(Duration::new(u64::try_from(time.tv_sec).ok()?, u32::try_from(time.tv_nsec).ok()?))
}
