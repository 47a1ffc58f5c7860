use std::fs::{File, Permissions};
use std::io::{self, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;

use super::SandboxError;
use super::backend::{Backend, Backends};
use super::boxes::Launch;
use super::launcher::{Attempt, SUCCEEDED};
use super::pack::Pack;
use super::process::{Outputs, Process, Streams};
use super::slot::{Kit, Slot, failed, nothing};
use crate::domain::{Isolation, Limits};
use crate::languages::BoxCommand;

/// How long one attempt may take: only a broken machine, or a process that outlives its program, takes longer.
const PATIENCE: Duration = Duration::from_secs(20);

/// What the limits of an attempt are exceeded by.
const FACTOR: u32 = 4;

/// One thing that isolation must defeat, tried in place of a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// `write_outside`, `loopback`, `host_processes`, `process_limit`, `memory_limit`, `survivor`.
    pub name: &'static str,
    /// What happened that must not; absent where it was defeated.
    pub failure: Option<String>,
}

/// What a backend does on this machine.
#[derive(Clone, Debug)]
pub struct BackendReport {
    /// Which one.
    pub backend: Backend,
    /// How it isolates; absent where it cannot be had.
    pub isolation: Option<Isolation>,
    /// Why it cannot be had.
    pub refused: Option<String>,
    /// What was tried under it.
    pub checks: Vec<Check>,
}

impl BackendReport {
    /// Whether it may be used.
    pub fn works(&self) -> bool {
        self.refused.is_none() && self.checks.iter().all(|check| check.failure.is_none())
    }

    /// Why it may not be used, in words; nothing where it may.
    pub fn reasons(&self) -> Vec<String> {
        let checks = self.checks.iter().filter_map(|check| Some((check.name, check.failure.as_ref()?)));
        let checks = checks.map(|(name, failure)| format!("check {name} failed: {failure}"));
        self.refused.iter().cloned().chain(checks).collect()
    }
}

/// The first backend that passes its test.
///
/// # Errors
/// [`SandboxError::Isolation`] where none does: why, one by one, and how to go on.
pub(super) async fn choose(launcher: &Path, backends: &Backends) -> Result<(Backend, Isolation), SandboxError> {
    let mut reasons = Vec::new();
    for backend in backends.list() {
        let report = examine(launcher, *backend).await?;
        match &report.isolation {
            Some(isolation) if report.works() => return Ok((*backend, isolation.clone())),
            _ => reasons.push(format!("{}: {}", backend.name(), report.reasons().join("; "))),
        }
    }
    Err(SandboxError::Isolation { reason: format!("{}\n{}", reasons.join("\n  "), how_to_go_on(backends)) })
}

fn how_to_go_on(backends: &Backends) -> &'static str {
    if *backends == Backends::reduced() {
        return "  hint: reduced isolation needs Landlock (Linux 5.13 or later, with `landlock` among its security modules) \
                and limits that hold; there is nothing weaker";
    }
    "  hint: allow user name spaces (sysctl kernel.apparmor_restrict_unprivileged_userns=0, user.max_user_namespaces \
     above 0; inside a container, allow them there), or install bubblewrap, or run as root\n  hint: or accept weaker \
     isolation with --sandbox reduced (programs see other processes, share /tmp's disk and may outlive a killed Rolecall)"
}

/// Tests one backend on this machine, by executing `launcher`.
///
/// # Errors
/// Where the test itself cannot be made.
pub async fn examine(launcher: &Path, backend: Backend) -> Result<BackendReport, SandboxError> {
    let slot = Slot::start(launcher, backend, &Kit::boxes(Vec::new())).await;
    let (mut slot, refused) = match slot {
        Ok(slot) => (Some(slot), None),
        Err(SandboxError::Isolation { reason }) => (None, Some(reason)),
        Err(SandboxError::Harness(reason)) => (None, Some(reason)),
        Err(error) => return Err(error),
    };
    let mut checks = Vec::new();
    if let Some(slot) = &mut slot {
        let baits = Baits::lay()?;
        for (name, attempt, failure) in baits.attempts(backend) {
            let failure = match attempted(slot, attempt).await {
                Ok(false) => None,
                Ok(true) => Some(failure.to_owned()),
                Err(error) => Some(error.to_string()),
            };
            checks.push(Check { name, failure });
        }
    }
    let isolation = slot.map(|slot| slot.ready.isolation());
    Ok(BackendReport { backend, isolation, refused, checks })
}

/// What an attempt could reach if nothing kept it.
struct Baits {
    file: PathBuf,
    listener: Option<TcpListener>,
}

impl Baits {
    fn lay() -> Result<Self, SandboxError> {
        let file = std::env::temp_dir().join(format!("rolecall-check-{}", uuid::Uuid::new_v4().simple()));
        let lay = |file: &Path| {
            File::create_new(file)?.write_all(b"bait")?;
            std::fs::set_permissions(file, Permissions::from_mode(0o666))
        };
        lay(&file).map_err(failed("preparing the self-test"))?;
        // A machine without a loopback interface has nothing to reach there.
        Ok(Self { file, listener: TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).ok() })
    }

    /// Name, attempt, and what is wrong where it succeeds.
    fn attempts(&self, backend: Backend) -> Vec<(&'static str, Attempt, &'static str)> {
        let limits = limits();
        let own = i32::try_from(std::process::id()).unwrap_or(i32::MAX);
        let port = self.listener.as_ref().and_then(|listener| listener.local_addr().ok()).map_or(9, |at| at.port());
        let memory = limits.memory_bytes * u64::from(FACTOR);
        let mut attempts = vec![
            ("write_outside", Attempt::WriteOutside(self.file.clone()), "a file outside was written to"),
            ("loopback", Attempt::Connect(port), "a connection to this machine was made"),
            ("process_limit", Attempt::Start(limits.processes * FACTOR), "more processes were started than allowed"),
            ("memory_limit", Attempt::Take(memory), "more memory was taken than allowed"),
            ("survivor", Attempt::LeaveBehind, "a process outlived its program"),
        ];
        if backend != Backend::Reduced {
            attempts.insert(2, ("host_processes", Attempt::SeeProcess(own), "a process of this machine was seen"));
        }
        attempts
    }
}

impl Drop for Baits {
    fn drop(&mut self) {
        // What cannot be removed stays in the directory of temporary files.
        let _ = std::fs::remove_file(&self.file);
    }
}

fn limits() -> Limits {
    Limits { memory_bytes: 64 << 20, processes: 8, ..Limits::default() }
}

/// Whether an attempt succeeded.
async fn attempted(slot: &mut Slot, attempt: Attempt) -> Result<bool, SandboxError> {
    let limits = limits();
    let streams = Streams::new(&limits);
    let files = Pack::empty().map_err(failed("packing files"))?;
    let left_behind = attempt == Attempt::LeaveBehind;
    let launch = Launch {
        command: &BoxCommand::default(),
        attempt: Some(attempt),
        files: &files,
        keep: None,
        talks: false,
        limits: &limits,
        cpu_ms: limits.process_cpu_ms,
    };
    let captures = [&streams.stdout, &streams.stderr];
    let process = Process::spawn(&mut slot.candidates, &launch, nothing()?, Outputs::Captured(captures)).await?;
    // Its output ends when the last process ends that holds it.
    match tokio::time::timeout(PATIENCE, process.finished(&mut slot.candidates)).await {
        Ok(ended) => ended.map(|_| streams.stdout.bytes().starts_with(SUCCEEDED.as_bytes())),
        Err(_) if left_behind => Ok(true),
        Err(_) => Err(SandboxError::Io { during: "waiting for the self-test", source: io::ErrorKind::TimedOut.into() }),
    }
}
