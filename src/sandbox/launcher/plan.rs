use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::checks::Attempt;
use super::group::{Group, Groups};
use crate::domain::Isolation;
use crate::sandbox::backend::Backend;

/// What a launcher is asked to start.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::sandbox) struct Plan {
    /// What is to keep programs apart from this machine.
    pub(in crate::sandbox) backend: Backend,
    /// Directories and files that programs may read, besides the system's.
    pub(in crate::sandbox) readable: Vec<PathBuf>,
    /// The servers, in the order of their control sockets.
    pub(in crate::sandbox) servers: Vec<Part>,
}

/// How the programs of one server are kept apart from each other.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Apart {
    /// Each in name spaces of its own.
    Spaces,
    /// One after another in the name spaces of the server, which is their first process.
    Turns,
    /// One after another among the processes of the host, with this private directory and no other place to write to.
    Descendants {
        /// Where a program works.
        directory: PathBuf,
        /// What it may read.
        readable: Vec<PathBuf>,
    },
}

impl Apart {
    /// Where programs work.
    pub(super) fn directory(&self) -> &Path {
        match self {
            Self::Spaces | Self::Turns => Path::new("/tmp"),
            Self::Descendants { directory, .. } => directory,
        }
    }
}

/// One server of a slot.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::sandbox) enum Part {
    /// A Python interpreter (its own path, never a shim) with a text of ours that forks candidates.
    Candidates { python: PathBuf, text: String },
    /// A Python interpreter with a text of ours that forks test runs.
    Tests { python: PathBuf, text: String },
    /// This binary, which runs commands in boxes.
    Boxes,
}

/// What the launcher answers once.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::sandbox) enum Reply {
    /// All servers run.
    Ready(Ready),
    /// The machine refused; the text says what and how to go on.
    Refused(String),
}

/// How this machine isolates.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::sandbox) struct Ready {
    /// What keeps programs apart from this machine.
    pub(in crate::sandbox) backend: Backend,
    /// Version of Landlock's interface that is enforced on programs; 0 where the kernel has none.
    pub(in crate::sandbox) landlock: i32,
    /// The control groups of the first server.
    pub(in crate::sandbox) groups: Groups,
    /// Directories that stand for `/tmp`, whose names programs may print.
    pub(in crate::sandbox) directories: Vec<PathBuf>,
    /// The servers' processes as the launcher sees them.
    pub(in crate::sandbox) servers: Vec<i32>,
}

impl Ready {
    /// The same as records say it.
    pub(in crate::sandbox) fn isolation(&self) -> Isolation {
        let limited = |group: &Option<Group>| match group {
            Some(group) => format!("cgroup_v{}", group.version),
            None => "rlimit".to_owned(),
        };
        Isolation {
            backend: self.backend.name().to_owned(),
            memory: limited(&self.groups.memory),
            pids: limited(&self.groups.pids),
            network: self.backend != Backend::Reduced,
            landlock_abi: self.landlock,
        }
    }
}

/// A command to run in a box, as the server of boxes is asked for it. Descriptors that go with it, in this order: stdin,
/// stdout, stderr, the file that holds `files`, the channel, then the file for what is kept where `keep` names anything.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::sandbox) struct Order {
    /// What the self-test tries in place of a program.
    pub(in crate::sandbox) attempt: Option<Attempt>,
    /// Program and arguments.
    pub(in crate::sandbox) argv: Vec<String>,
    /// Its whole environment.
    pub(in crate::sandbox) env: Vec<(String, String)>,
    /// Files to put into the working directory.
    pub(in crate::sandbox) files: Vec<Entry>,
    /// Whether the program gets the channel as descriptor 3; else the channel ends when the box does.
    pub(in crate::sandbox) channel: bool,
    /// Files and directories of the working directory that are wanted afterwards.
    pub(in crate::sandbox) keep: Vec<String>,
    /// Most bytes of what is kept.
    pub(in crate::sandbox) keep_bytes: u64,
    /// Size of the private directory, in bytes.
    pub(in crate::sandbox) tmp_bytes: u64,
    /// Limits by the names of RLIMIT constants (`CPU`, `DATA`, …): soft and hard.
    pub(in crate::sandbox) limits: Vec<(String, [u64; 2])>,
}

/// A file within a file that holds several, one after another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::sandbox) struct Entry {
    /// Path in the working directory: relative, without `..`.
    pub(in crate::sandbox) path: String,
    /// Length in bytes.
    pub(in crate::sandbox) bytes: u64,
    /// Whether it may be executed.
    pub(in crate::sandbox) executable: bool,
}
