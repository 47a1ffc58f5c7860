//! A server under `bwrap`, for machines where a user may make no name space but that program may.
//!
//! The program makes the same view and the same name spaces as ours, but none can be made inside: the server is the first
//! process of its PID name space, and programs follow one another in it.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::fs::Mode;

use super::boxes::Boxes;
use super::plan::Apart;
use super::view::{DEVICES, SYSTEM};

/// The first argument that makes this binary such a server. Private: no user types it.
pub(super) const INSIDE: &str = "__sandbox-inside";

/// What the server says once it runs.
pub(super) const READY: &str = "the server runs";

/// Where this binary is in the view.
const SELF: &str = "/rolecall";

/// Size of the private directory, in bytes: the largest that a compiler gets.
const DIRECTORY_BYTES: u64 = 1 << 30;

/// Becomes the server. Returns only with the reason why that failed.
///
/// What `bwrap` has to say goes to `report`, and that the server runs.
pub(super) fn become_server(bwrap: &Path, readable: &[PathBuf], control: OwnedFd, report: OwnedFd) -> String {
    let own = match std::env::current_exe() {
        Ok(own) => own,
        Err(error) => return format!("finding this program failed ({error})"),
    };
    let mut command = Command::new(bwrap);
    command.args(["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-net", "--unshare-uts"]);
    command.args(["--unshare-cgroup-try", "--die-with-parent", "--new-session", "--as-pid-1", "--cap-drop", "ALL"]);
    command.args(["--size", &DIRECTORY_BYTES.to_string(), "--tmpfs", "/tmp"]);
    for path in SYSTEM.iter().map(Path::new).chain(readable.iter().map(PathBuf::as_path)) {
        match fs::read_link(path) {
            Ok(target) => command.arg("--symlink").arg(target).arg(path),
            Err(_) => command.arg("--ro-bind-try").arg(path).arg(path),
        };
    }
    for device in DEVICES {
        command.args(["--dev-bind-try", device, device]);
    }
    command.args(["--symlink", "/tmp", "/dev/shm", "--ro-bind"]).arg(own).arg(SELF);
    command.args(["--remount-ro", "/", "--chdir", "/tmp", "--", SELF, INSIDE]);
    let error = command.env_clear().stdin(Stdio::from(control)).stderr(Stdio::from(report)).exec();
    format!("executing {} failed ({error})", bwrap.display())
}

/// Serves boxes as the first process of name spaces that `bwrap` made.
pub(super) fn serve() -> io::Result<()> {
    // Whoever is not the first process would kill those of somebody else.
    if !rustix::process::getpid().is_init() {
        return Err(io::Error::other("this is not the first process of a PID name space"));
    }
    rustix::thread::set_no_new_privs(true)?;
    rustix::process::umask(Mode::from_bits_truncate(0o022));
    let control = io::stdin().as_fd().try_clone_to_owned()?;
    // In words, since `bwrap` holds the pipe too.
    writeln!(io::stderr(), "{READY}")?;
    rustix::stdio::dup2_stderr(File::open("/dev/null")?)?;
    let reason = Boxes::new(control, None, None, Apart::Turns).serve();
    Err(io::Error::other(reason))
}
