use std::future::Future;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::SandboxError;
use super::boxes::Launch;
use super::capture::{Capture, Flood};
use super::groups::Evidence;
use super::lines::{Lines, Received};
use super::probe::Probe;
use super::slot::{Ended, ForkServer, failed};
use super::usage::{Usage, own_cpu_ms};
use super::verdicts::Halt;
use crate::domain::{Limits, Verdict};

/// Longest line that a candidate may write on its answer channel, in bytes. Its harness keeps well below.
pub(super) const ANSWER_BYTES: usize = 5 << 20;

/// How often a running candidate's process tree is looked at.
const LOOK: Duration = Duration::from_millis(50);

/// How long a new process may take to give up its rights: only a broken machine takes longer.
const CONFINING: Duration = Duration::from_secs(60);

/// Processes that a control group counts beside the candidate's: the server.
const FORK_SERVERS: u32 = 1;

/// The same of a box: the server and the first process.
const BOX_SERVERS: u32 = 2;

/// The private directory's size as a multiple of the largest file.
const TMP_FILES: u64 = 4;

/// A candidate's process, in name spaces of its own. Its fork server must be asked how it ended.
pub(super) struct Process {
    pid: Pid,
    handle: OwnedFd,
    /// Whether it is the first process of a box, so that the program is what it started.
    boxed: bool,
    /// Its private channel.
    pub(super) channel: Lines,
    readers: Vec<JoinHandle<()>>,
    evidence: Evidence,
    others_cpu_ms: u64,
    peak_memory_bytes: u64,
}

impl Drop for Process {
    fn drop(&mut self) {
        for reader in &self.readers {
            reader.abort();
        }
    }
}

/// The first words of a new process.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Confined {
    Confined(#[expect(dead_code, reason = "the word alone counts")] bool),
    Fault(String),
}

/// What bounds one step of a candidate.
pub(super) struct Bounds<'a> {
    /// CPU time of the step, in ms.
    pub(super) cpu_ms: u64,
    /// The limits of the execution.
    pub(super) limits: &'a Limits,
    /// Raised when it prints too much.
    pub(super) flood: &'a Flood,
    /// The caller's wish to stop.
    pub(super) cancel: &'a CancellationToken,
}

/// What came of one step.
pub(super) enum Step<T> {
    /// It ended by itself after this much CPU time in ms.
    Done(T, u64),
    /// A limit ended it; the process must be retired.
    Halted(Halt),
}

/// Where the outputs of a process go.
pub(super) enum Outputs<'a> {
    /// stdout and stderr are kept.
    Captured([&'a Capture; 2]),
    /// stdout is somebody else's; stderr is kept.
    Given { stdout: OwnedFd, stderr: &'a Capture },
}

/// The writing end of a new pipe, and who reads it.
fn followed(capture: &Capture) -> Result<(OwnedFd, Option<JoinHandle<()>>), SandboxError> {
    let (reader, writer) = std::io::pipe().map_err(failed("opening a pipe"))?;
    let reader = capture.follow(reader.into()).map_err(failed("following a stream"))?;
    Ok((writer.into(), Some(reader)))
}

/// What a new process is given besides its streams.
enum Given<'a> {
    /// To a fork server: limits, and memory for tracing, where it is traced.
    Fork(&'a Limits, Option<BorrowedFd<'a>>),
    /// To a server of boxes: files, and room for what is kept.
    Box(&'a Launch<'a>),
}

impl Process {
    /// Forks a candidate; `job`, which tells it the same `limits`, is the first line on its channel.
    pub(super) async fn start(
        server: &mut ForkServer,
        (job, limits): (&Value, &Limits),
        stdin: OwnedFd,
        streams: [&Capture; 2],
        probe: Option<&Probe>,
    ) -> Result<Self, SandboxError> {
        let traced = probe.map(Probe::share).transpose().map_err(failed("sharing memory"))?;
        let more = traced.as_ref().map(OwnedFd::as_fd);
        let outputs = Outputs::Captured(streams);
        let mut process = Self::born(server, b"f", stdin, outputs, Given::Fork(limits, more)).await?;
        // The kernel ends it before any other process where memory is short; one that refuses is none the worse for it.
        let _ = std::fs::write(format!("/proc/{}/oom_score_adj", process.pid.as_raw_nonzero()), "1000");
        let channel = &mut process.channel;
        let mut text = serde_json::to_vec(job).map_err(|error| SandboxError::Harness(error.to_string()))?;
        text.push(b'\n');
        channel.send(&text).await.map_err(failed("handing over a job"))?;
        process.confined().await?;
        Ok(process)
    }

    /// Waits until the harness has said that no line of the program has run yet.
    pub(super) async fn confined(&mut self) -> Result<(), SandboxError> {
        // Said before any line of the program runs: a fault up to here is ours, and a later one cannot be claimed.
        match tokio::time::timeout(CONFINING, self.channel.receive()).await {
            Ok(Ok(Received::Line(line))) => match serde_json::from_slice(&line) {
                Ok(Confined::Confined(_)) => Ok(()),
                Ok(Confined::Fault(reason)) => Err(SandboxError::Harness(reason)),
                Err(error) => Err(SandboxError::Harness(format!("a new process said nonsense: {error}"))),
            },
            Ok(Ok(_)) => Err(SandboxError::Harness("a new process ended before it was confined".to_owned())),
            Ok(Err(error)) => Err(failed("reading from a new process")(error)),
            Err(_) => Err(SandboxError::Harness("a new process did not confine itself in time".to_owned())),
        }
    }

    /// Starts a command in a box of `server`.
    pub(super) async fn spawn(
        server: &mut ForkServer,
        launch: &Launch<'_>,
        stdin: OwnedFd,
        outputs: Outputs<'_>,
    ) -> Result<Self, SandboxError> {
        let order = launch.order()?;
        Self::born(server, &order, stdin, outputs, Given::Box(launch)).await
    }

    /// Asks a server for a process; its descriptors are stdin, stdout, stderr, and what kind of server it is says which more.
    async fn born(
        server: &mut ForkServer,
        request: &[u8],
        stdin: OwnedFd,
        outputs: Outputs<'_>,
        given: Given<'_>,
    ) -> Result<Self, SandboxError> {
        let (channel, theirs) = Lines::pair(ANSWER_BYTES).map_err(failed("opening a socket"))?;
        let ((for_out, out), (for_err, err)) = match outputs {
            Outputs::Captured([stdout, stderr]) => (followed(stdout)?, followed(stderr)?),
            Outputs::Given { stdout, stderr } => ((stdout, None), followed(stderr)?),
        };
        let readers = out.into_iter().chain(err).collect();
        let streams = [stdin.as_fd(), for_out.as_fd(), for_err.as_fd()];
        let descriptors = match &given {
            Given::Fork(_, traced) => [theirs.as_fd()].into_iter().chain(streams).chain(*traced).collect::<Vec<_>>(),
            Given::Box(launch) => {
                streams.into_iter().chain([launch.files.as_fd(), theirs.as_fd()]).chain(launch.kept()).collect()
            }
        };
        let evidence = match &given {
            Given::Fork(limits, _) => server.bound(limits, FORK_SERVERS)?,
            Given::Box(launch) => server.bound(launch.limits, BOX_SERVERS)?,
        };
        let pid = server.fork(request, &descriptors).await?;
        // It waits for its job, or its server for our word, so its id is still its own.
        let handle = pidfd_open(pid, PidfdFlags::empty()).map_err(|error| failed("opening a process")(error.into()))?;
        let boxed = matches!(given, Given::Box(_));
        if boxed {
            server.acknowledge().await?;
        }
        Ok(Self { pid, handle, boxed, channel, readers, evidence, others_cpu_ms: 0, peak_memory_bytes: 0 })
    }

    /// Runs one step of the exchange with the process under bounds. `work` gets the channel.
    ///
    /// # Errors
    /// [`SandboxError::Cancelled`] when the caller wants to stop.
    pub(super) async fn step<'p, T, F: Future<Output = T>>(
        &'p mut self,
        bounds: &Bounds<'_>,
        work: impl FnOnce(&'p mut Lines) -> F,
    ) -> Result<Step<T>, SandboxError> {
        let Self { pid, channel, boxed, evidence, others_cpu_ms, peak_memory_bytes, .. } = self;
        let before = own_cpu_ms(*pid);
        let others_before = *others_cpu_ms;
        let started = tokio::time::Instant::now();
        let wall = Duration::from_millis(bounds.limits.wall_ms(bounds.cpu_ms));
        let work = work(channel);
        tokio::pin!(work);
        loop {
            let verdict = tokio::select! {
                biased;
                () = bounds.cancel.cancelled() => return Err(SandboxError::Cancelled),
                () = bounds.flood.raised() => Halt::new(Verdict::OutputLimit, "output limit exceeded"),
                done = &mut work => {
                    // Met by children alone, it leaves no other trace.
                    if let Some(halt) = evidence.met() {
                        return Ok(Step::Halted(halt));
                    }
                    if *boxed {
                        *others_cpu_ms = Usage::of(*pid).others_cpu_ms.max(*others_cpu_ms);
                    }
                    let others = if *boxed { others_cpu_ms.saturating_sub(others_before) } else { 0 };
                    return Ok(Step::Done(done, own_cpu_ms(*pid).saturating_sub(before) + others));
                }
                () = tokio::time::sleep(LOOK) => {
                    let usage = Usage::of(*pid);
                    *others_cpu_ms = usage.others_cpu_ms.max(*others_cpu_ms);
                    *peak_memory_bytes = usage.resident_bytes.max(*peak_memory_bytes);
                    let cpu = own_cpu_ms(*pid).saturating_sub(before) + others_cpu_ms.saturating_sub(others_before);
                    // On a busy machine many processes that wait for a core may use up the wall first.
                    let is_over = cpu >= bounds.cpu_ms || started.elapsed() >= wall;
                    if let Some(halt) = evidence.met() {
                        halt
                    } else if is_over && usage.tasks >= bounds.limits.processes {
                        Halt::new(Verdict::ProcessLimit, "process limit exceeded")
                    } else if cpu >= bounds.cpu_ms {
                        Halt::new(Verdict::TimeoutCpu, "CPU time limit exceeded")
                    } else if !evidence.counts_memory && usage.exceeds(bounds.limits.memory_bytes) {
                        Halt::new(Verdict::Memory, "memory limit exceeded")
                    } else if started.elapsed() >= wall {
                        Halt::new(Verdict::TimeoutWall, "wall time limit exceeded")
                    } else {
                        continue;
                    }
                }
            };
            return Ok(Step::Halted(verdict));
        }
    }

    /// Kills the process and everything it started, and says how it ended. Its streams are read to their ends.
    pub(super) async fn retire(mut self, server: &mut ForkServer) -> Result<Ended, SandboxError> {
        // It may have ended by itself already.
        let _ = pidfd_send_signal(&self.handle, Signal::KILL);
        self.join(server).await
    }

    /// Waits for a process that seems to have ended by itself, since its channel has; ends it where it has not.
    pub(super) async fn bury(mut self, server: &mut ForkServer, limits: &Limits) -> Result<Ended, SandboxError> {
        if self.boxed {
            // Its last words are those of the box, which must not be killed while it speaks.
            let patience = Duration::from_millis(limits.wall_ms(0));
            if let Ok(ended) = tokio::time::timeout(patience, self.join(server)).await {
                return ended;
            }
        }
        self.retire(server).await
    }

    /// Waits for the end of a process that nobody bounds, and for that of its streams.
    pub(super) async fn finished(mut self, server: &mut ForkServer) -> Result<Ended, SandboxError> {
        self.join(server).await
    }

    /// Waits for the end of a process that ends by itself.
    async fn join(&mut self, server: &mut ForkServer) -> Result<Ended, SandboxError> {
        let mut ended = server.ended().await?;
        for reader in &mut self.readers {
            // A reader neither panics nor is aborted before here.
            let _ = reader.await;
        }
        ended.cpu_ms = ended.cpu_ms.max(self.others_cpu_ms);
        ended.peak_memory_bytes = ended.peak_memory_bytes.max(self.peak_memory_bytes);
        Ok(ended)
    }
}

/// What a candidate's process is told about its limits. `cpu_ms` bounds the whole process, as a second line of defence.
pub(super) fn process_limits(limits: &Limits, cpu_ms: u64) -> Value {
    let resources: Value = resources(limits, cpu_ms).into_iter().map(|(name, pair)| (name, json!(pair))).collect();
    json!({ "tmp_bytes": tmp_bytes(limits), "resources": resources })
}

/// Size of the private directory, in bytes.
pub(super) fn tmp_bytes(limits: &Limits) -> u64 {
    limits.file_bytes * TMP_FILES
}

/// Limits by the names of RLIMIT constants, soft and hard, for a native program.
pub(super) fn resources(limits: &Limits, cpu_ms: u64) -> Vec<(String, [u64; 2])> {
    let seconds = cpu_ms.div_ceil(1_000) + 1;
    let same = |name: &str, value: u64| (name.to_owned(), [value, value]);
    vec![
        ("CPU".to_owned(), [seconds, seconds + 1]),
        same("DATA", limits.memory_bytes),
        same("AS", limits.memory_bytes),
        same("FSIZE", limits.file_bytes),
        // One more than a control group allows where there is one, so that its refusal is counted.
        same("NPROC", u64::from(limits.processes) + 1),
        same("NOFILE", 256),
        same("STACK", 64 << 20),
        same("CORE", 0),
        same("MEMLOCK", 0),
        same("MSGQUEUE", 0),
    ]
}

/// Shared by all processes of one execution.
pub(super) struct Streams {
    pub(super) stdout: Capture,
    pub(super) stderr: Capture,
    pub(super) flood: Arc<Flood>,
}

impl Streams {
    pub(super) fn new(limits: &Limits) -> Self {
        let flood = Arc::new(Flood::default());
        Self { stdout: Capture::new(limits, flood.clone()), stderr: Capture::new(limits, flood.clone()), flood }
    }
}
