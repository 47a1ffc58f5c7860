use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use rustix::process::Pid;
use tokio::process::Command;

use super::SandboxError;
use super::backend::Backend;
use super::compiler::Compiler;
use super::groups::{Evidence, Groups};
use super::interpreter::Interpreter;
use super::launcher::{Entry, Part, Plan, Ready, Reply, WORD};
use super::lines::{Lines, Received};
use super::nested::{child_called, only_child};
use super::process::tmp_bytes;
use super::python;
use crate::domain::Limits;

/// Longest line that a server or the launcher may write, in bytes.
const SERVER_LINE_BYTES: usize = 1 << 20;

/// How long the launcher may take to start both servers, and a server to answer: only a broken machine takes longer.
const START: Duration = Duration::from_secs(60);

/// Forks after which a server's memory has settled; the second is the first that is like all others.
const WARMING_FORKS: u32 = 2;

/// What the slots of a language have in common.
pub(super) struct Kit {
    /// Directories and files that the view shows, besides the system's.
    pub(super) readable: Vec<PathBuf>,
    /// The interpreter, where both servers are interpreters; else both run commands in boxes.
    python: Option<PathBuf>,
}

impl Kit {
    /// Warm Python interpreters.
    pub(super) fn python(interpreter: Interpreter) -> Self {
        Self { readable: interpreter.readable, python: Some(interpreter.path) }
    }

    /// Boxes in which the tools of `readable` run.
    pub(super) fn boxes(readable: Vec<PathBuf>) -> Self {
        Self { readable, python: None }
    }

    /// Whether both servers are interpreters.
    pub(super) fn is_warm(&self) -> bool {
        self.python.is_some()
    }

    /// The server of candidates and that of tests.
    fn servers(&self) -> Vec<Part> {
        match &self.python {
            Some(python) => vec![
                Part::Candidates { python: python.clone(), text: python::candidate_server() },
                Part::Tests { python: python.clone(), text: python::test_server() },
            ],
            None => vec![Part::Boxes, Part::Boxes],
        }
    }
}

/// One resident launcher with its two servers: room for one execution at a time. Dropping it has the launcher, which sees
/// its socket close, end all its processes and remove their control groups.
pub(super) struct Slot {
    /// Starts candidates, each in name spaces of its own.
    pub(super) candidates: ForkServer,
    /// Starts test runs.
    pub(super) tests: ForkServer,
    /// A compiler that stays, in a box of the tests' server.
    pub(super) compiler: Option<Compiler>,
    /// How this machine isolates.
    pub(super) ready: Ready,
    _control: Lines,
}

impl Slot {
    /// Starts a launcher by executing `launcher`.
    ///
    /// # Errors
    /// [`SandboxError::Isolation`] when the machine refuses, [`SandboxError::Io`] when starting fails otherwise.
    pub(super) async fn start(launcher: &Path, backend: Backend, kit: &Kit) -> Result<Self, SandboxError> {
        let (mut control, theirs) = Lines::pair(SERVER_LINE_BYTES).map_err(failed("opening a socket"))?;
        let (candidates, for_candidates) = Lines::pair(SERVER_LINE_BYTES).map_err(failed("opening a socket"))?;
        let (tests, for_tests) = Lines::pair(SERVER_LINE_BYTES).map_err(failed("opening a socket"))?;
        // Not killed when it is dropped, since it has something to remove; nor interrupted with us from a terminal.
        let mut child = Command::new(launcher)
            .arg(WORD)
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .map_err(failed("starting the launcher"))?;
        let plan = Plan { backend, readable: kit.readable.clone(), servers: kit.servers() };
        let mut text = serde_json::to_vec(&plan).map_err(|error| SandboxError::Harness(error.to_string()))?;
        text.push(b'\n');
        let started = async {
            control.send_with(&text, &[for_candidates.as_fd(), for_tests.as_fd()]).await?;
            drop((for_candidates, for_tests));
            control.receive().await
        };
        let reply = match tokio::time::timeout(START, started).await {
            Ok(Ok(Received::Line(line))) => serde_json::from_slice::<Reply>(&line)
                .map_err(|error| SandboxError::Harness(format!("the launcher answered nonsense: {error}")))?,
            Ok(Ok(_)) => return Err(SandboxError::Harness("the launcher ended without an answer".to_owned())),
            Ok(Err(error)) => return Err(failed("talking to the launcher")(error)),
            Err(_) => {
                child.start_kill().map_err(failed("ending the launcher"))?;
                return Err(SandboxError::Harness("the launcher did not answer".to_owned()));
            }
        };
        match reply {
            Reply::Refused(reason) => Err(SandboxError::Isolation { reason }),
            Reply::Ready(ready) => {
                let groups = Groups::open(&ready.groups).map_err(failed("opening a control group"))?;
                let inside = |number: usize| match (backend, ready.servers.get(number)) {
                    (Backend::Bubblewrap, Some(server)) => {
                        only_child(*server).map(Some).map_err(failed("looking for a server under bwrap"))
                    }
                    _ => Ok(None),
                };
                let inside = [inside(0)?, inside(1)?];
                let mut candidates = ForkServer { control: candidates, owed: 0, groups, inside: inside[0] };
                if kit.is_warm() {
                    candidates.warm().await?;
                }
                let tests = ForkServer { control: tests, owed: 0, groups: Groups::default(), inside: inside[1] };
                Ok(Self { candidates, tests, compiler: None, ready, _control: control })
            }
        }
    }
}

/// A server that starts one process per request and says how it ended.
pub(super) struct ForkServer {
    control: Lines,
    owed: u32,
    groups: Groups,
    /// The server itself, where it counts processes from 1 on.
    inside: Option<i32>,
}

/// How a forked child ended.
#[derive(Clone, Debug)]
pub(super) struct Ended {
    /// The status as `wait` gives it.
    pub(super) status: i32,
    /// CPU time of the child and of what it waited for, in ms.
    pub(super) cpu_ms: u64,
    /// Largest resident set, in bytes.
    pub(super) peak_memory_bytes: u64,
    /// What was kept of its working directory.
    pub(super) files: Vec<Entry>,
}

impl ForkServer {
    /// Forks a child that owns copies of `descriptors`; gives its process id as the server sees it.
    pub(super) async fn fork(&mut self, request: &[u8], descriptors: &[BorrowedFd<'_>]) -> Result<Pid, SandboxError> {
        while self.owed > 0 {
            self.ended().await?;
        }
        self.control.send_with(request, descriptors).await.map_err(failed("asking for a process"))?;
        let line = self.line().await?;
        self.owed += 1;
        let pid = line.trim().parse().ok();
        let pid = match self.inside {
            Some(server) => pid.and_then(|pid| child_called(server, pid)),
            None => pid,
        };
        pid.and_then(Pid::from_raw).ok_or_else(|| SandboxError::Harness(format!("no process id: {line}")))
    }

    /// Tells a server of boxes that the process it started may be waited for.
    pub(super) async fn acknowledge(&mut self) -> Result<(), SandboxError> {
        self.control.send(b"\n").await.map_err(failed("acknowledging a process"))
    }

    /// Sets the limits of its control groups for the next process; it and `servers` of ours are what they count.
    pub(super) fn bound(&mut self, limits: &Limits, servers: u32) -> Result<Evidence, SandboxError> {
        self.groups.bound(limits, tmp_bytes(limits), servers).map_err(failed("setting the limits of a control group"))
    }

    /// Forks children that have nothing to do, until every further one starts from the same memory: then addresses, and
    /// with them the order of sets of objects, do not depend on how many executions went before.
    async fn warm(&mut self) -> Result<(), SandboxError> {
        for _ in 0..WARMING_FORKS {
            let nothing = nothing()?;
            self.fork(b"f", &[nothing.as_fd(); 4]).await?;
            self.ended().await?;
        }
        Ok(())
    }

    /// Waits for the end of the child that was forked first among those not yet asked about.
    pub(super) async fn ended(&mut self) -> Result<Ended, SandboxError> {
        let line = self.line().await?;
        self.owed = self.owed.saturating_sub(1);
        if let Some(fault) = line.strip_prefix("fault ") {
            return Err(SandboxError::Harness(format!("setting up a box: {fault}")));
        }
        let (numbers, files) = line.split_at(line.find('[').unwrap_or(line.len()));
        let mut fields = numbers.split_ascii_whitespace();
        let mut number = || fields.next().and_then(|field| field.parse::<i64>().ok());
        let (status, cpu_us, peak_kib) = (number(), number(), number());
        let files = if files.is_empty() { Ok(Vec::new()) } else { serde_json::from_str(files) };
        match (status, cpu_us, peak_kib, files) {
            (Some(status), Some(cpu_us), Some(peak_kib), Ok(files)) => Ok(Ended {
                status: i32::try_from(status).unwrap_or(i32::MAX),
                cpu_ms: cpu_us.unsigned_abs() / 1_000,
                peak_memory_bytes: peak_kib.unsigned_abs() << 10,
                files,
            }),
            _ => Err(SandboxError::Harness(format!("not the end of a process: {line}"))),
        }
    }

    async fn line(&mut self) -> Result<String, SandboxError> {
        match tokio::time::timeout(START, self.control.receive()).await {
            Ok(Ok(Received::Line(line))) => Ok(String::from_utf8_lossy(&line).into_owned()),
            Ok(Ok(_)) => Err(SandboxError::Harness("a fork server ended".to_owned())),
            Ok(Err(error)) => Err(failed("talking to a fork server")(error)),
            Err(_) => Err(SandboxError::Harness("a fork server did not answer".to_owned())),
        }
    }
}

/// What a process reads that has nothing to read.
pub(super) fn nothing() -> Result<OwnedFd, SandboxError> {
    std::fs::File::open("/dev/null").map(OwnedFd::from).map_err(failed("opening /dev/null"))
}

/// Wraps an error of the system with what was being done.
pub(super) fn failed(during: &'static str) -> impl Fn(io::Error) -> SandboxError {
    move |source| SandboxError::Io { during, source }
}
