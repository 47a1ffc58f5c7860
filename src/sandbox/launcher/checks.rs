//! What the self-test does in place of a program: attempts that isolation must defeat.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::PathBuf;
use std::time::Duration;

use rustix::process::{Pid, test_kill_process};
use rustix::thread::UnshareFlags;
use serde::{Deserialize, Serialize};

use crate::sandbox::sys::{self, Side};

/// One attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::sandbox) enum Attempt {
    /// Writes to a file that everybody may write to.
    WriteOutside(PathBuf),
    /// Connects to a port that listens on the loopback interface.
    Connect(u16),
    /// Looks for a process of the host.
    SeeProcess(i32),
    /// Starts so many tasks.
    Start(u32),
    /// Takes so many bytes of memory.
    Take(u64),
    /// Leaves a process behind that has left session and parent, holds its output open and sleeps.
    LeaveBehind,
}

/// What an attempt that succeeded says; all else is said by silence.
pub(in crate::sandbox) const SUCCEEDED: &str = "succeeded";

/// How long a process that was left behind sleeps.
const SLEEP: Duration = Duration::from_secs(60);

/// How long a connection may take.
const CONNECTING: Duration = Duration::from_secs(1);

/// Between two touched bytes: every page once.
const PAGE: usize = 4_096;

/// Memory is taken in pieces of so many bytes.
const PIECE: usize = 8 << 20;

impl Attempt {
    /// Carries it out and says on `output` whether it succeeded. Never returns.
    pub(super) fn make(&self, mut output: File) -> ! {
        if self.succeeds() {
            // Silence is no success, so nothing is lost unseen but a fault of this machine.
            let _ = writeln!(output, "{SUCCEEDED}");
        }
        std::process::exit(0)
    }

    fn succeeds(&self) -> bool {
        match self {
            Self::WriteOutside(path) => {
                OpenOptions::new().append(true).open(path).is_ok() || File::create("/usr/rolecall-check").is_ok()
            }
            Self::Connect(port) => {
                let address = SocketAddr::from((Ipv4Addr::LOCALHOST, *port));
                TcpStream::connect_timeout(&address, CONNECTING).is_ok()
            }
            Self::SeeProcess(process) => Pid::from_raw(*process)
                .is_some_and(|process| test_kill_process(process) != Err(rustix::io::Errno::SRCH)),
            Self::Start(tasks) => (0..*tasks).all(|_| match sys::clone_into(UnshareFlags::empty()) {
                Ok(Side::Child) => sleep(),
                Ok(Side::Parent(_)) => true,
                Err(_) => false,
            }),
            Self::Take(bytes) => {
                let pieces = usize::try_from(*bytes).unwrap_or(usize::MAX).div_ceil(PIECE);
                let mut held = Vec::new();
                (0..pieces).all(|_| {
                    let mut piece = Vec::<u8>::new();
                    let is_given = piece.try_reserve_exact(PIECE).is_ok();
                    if is_given {
                        piece.resize(PIECE, 0);
                        piece.iter_mut().step_by(PAGE).for_each(|byte| *byte = 1);
                        held.push(piece);
                    }
                    is_given
                })
            }
            Self::LeaveBehind => {
                if let Ok(Side::Child) = sys::clone_into(UnshareFlags::empty()) {
                    // A session of its own, then a process whose parent is gone.
                    let _ = rustix::process::setsid();
                    if let Ok(Side::Child) = sys::clone_into(UnshareFlags::empty()) {
                        sleep()
                    }
                    std::process::exit(0)
                }
                // Found out from outside: by an output that does not end.
                false
            }
        }
    }
}

fn sleep() -> ! {
    std::thread::sleep(SLEEP);
    std::process::exit(0)
}
