use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// What a launcher is asked to start.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::sandbox) struct Plan {
    /// The interpreter's own path, never a shim.
    pub(in crate::sandbox) python: PathBuf,
    /// Directories and files that programs may read, besides the system's.
    pub(in crate::sandbox) readable: Vec<PathBuf>,
    /// Text of the server that forks candidates.
    pub(in crate::sandbox) candidate_server: String,
    /// Text of the server that forks test runs.
    pub(in crate::sandbox) test_server: String,
}

/// What the launcher answers once.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::sandbox) enum Reply {
    /// Both servers run.
    Ready(Ready),
    /// The machine refused; the text says what and how to go on.
    Refused(String),
}

/// How this machine isolates.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::sandbox) struct Ready {
    /// `root_namespaces` or `user_namespaces`.
    pub(in crate::sandbox) backend: String,
}
