//! System calls that no honest program of ours needs: refused, on top of the name spaces.
//!
//! A list of what is denied, not of what is allowed: language runtimes use nearly everything else.

use std::collections::BTreeMap;
use std::io;

use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, sock_filter,
};

use super::server::Failed;

/// Refused with EPERM: debugging others, kernel interfaces with a history of holes, changing the machine, and hiding memory.
const DENIED: &[libc::c_long] = &[
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_fanotify_init,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_personality,
    libc::SYS_quotactl,
    libc::SYS_acct,
    libc::SYS_syslog,
    libc::SYS_vhangup,
    // Memory that is no process's: it counts in no limit once it is unmapped or never mapped.
    libc::SYS_memfd_create,
    libc::SYS_memfd_secret,
    libc::SYS_shmget,
    libc::SYS_msgget,
];

/// Refused with ENOSYS, so that libraries fall back to older calls: their arguments cannot be looked into.
const ABSENT: &[libc::c_long] =
    &[libc::SYS_clone3, libc::SYS_io_uring_setup, libc::SYS_io_uring_enter, libc::SYS_io_uring_register];

/// Flags of `clone` that make name spaces.
const NEW_SPACES: [libc::c_int; 8] = [
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWTIME,
];

/// Puts the filters on this process and all that it starts.
/// With `without_sockets` there are none at all, for a process that shares its network with the host.
pub(super) fn install(without_sockets: bool) -> Result<(), Failed> {
    for filter in programs(without_sockets)? {
        seccompiler::apply_filter(&filter)
            .map_err(|error| ("installing a filter of system calls", io::Error::other(error)))?;
    }
    Ok(())
}

/// The filters, to be installed in this order.
pub(super) fn programs(without_sockets: bool) -> Result<[BpfProgram; 2], Failed> {
    written(without_sockets).map_err(|error| ("writing a filter of system calls", io::Error::other(error)))
}

fn written(without_sockets: bool) -> Result<[BpfProgram; 2], BackendError> {
    let mut denied = DENIED.iter().map(|call| (*call, Vec::new())).collect::<BTreeMap<_, _>>();
    let spaces = NEW_SPACES.iter().map(|flag| {
        let bit = u64::from(flag.unsigned_abs());
        condition(SeccompCmpOp::MaskedEq(bit), bit)
    });
    denied.insert(libc::SYS_clone, spaces.collect::<Result<_, _>>()?);
    let other_family = condition(SeccompCmpOp::Ne, u64::from(libc::AF_UNIX.unsigned_abs()))?;
    denied.insert(libc::SYS_socket, if without_sockets { Vec::new() } else { vec![other_family] });
    let absent = ABSENT.iter().map(|call| (*call, Vec::new())).collect();
    Ok([program(denied, libc::EPERM)?, program(absent, libc::ENOSYS)?])
}

fn condition(operator: SeccompCmpOp, value: u64) -> Result<SeccompRule, BackendError> {
    SeccompRule::new(vec![SeccompCondition::new(0, SeccompCmpArgLen::Dword, operator, value)?])
}

fn program(rules: BTreeMap<i64, Vec<SeccompRule>>, errno: libc::c_int) -> Result<BpfProgram, BackendError> {
    let architecture = std::env::consts::ARCH.try_into()?;
    let refuse = SeccompAction::Errno(errno.unsigned_abs());
    let listed = SeccompFilter::new(rules, SeccompAction::Allow, refuse, architecture)?;
    let mut program = foreign_numbers();
    program.extend(BpfProgram::try_from(listed)?);
    Ok(program)
}

/// Refuses the x32 numbers of x86-64, under which every call could be reached once more.
fn foreign_numbers() -> BpfProgram {
    const LOAD_WORD: u16 = 0x20;
    const JUMP_IF_AT_LEAST: u16 = 0x35;
    const RETURN: u16 = 0x06;
    const X32: u32 = 0x4000_0000;
    const REFUSE: u32 = 0x0005_0000;
    if !cfg!(target_arch = "x86_64") {
        return Vec::new();
    }
    vec![
        sock_filter { code: LOAD_WORD, jt: 0, jf: 0, k: 0 },
        sock_filter { code: JUMP_IF_AT_LEAST, jt: 0, jf: 1, k: X32 },
        sock_filter { code: RETURN, jt: 0, jf: 0, k: REFUSE | libc::ENOSYS.unsigned_abs() },
    ]
}

/// A filter as the kernel reads it, in hexadecimal: for a process that installs it by itself.
pub(super) fn hexadecimal(program: &BpfProgram) -> String {
    let bytes = program.iter().flat_map(|one| {
        let (code, k) = (one.code.to_ne_bytes(), one.k.to_ne_bytes());
        [code[0], code[1], one.jt, one.jf, k[0], k[1], k[2], k[3]]
    });
    bytes.map(|byte| format!("{byte:02x}")).collect()
}
