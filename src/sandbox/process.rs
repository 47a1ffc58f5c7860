use std::future::Future;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::SandboxError;
use super::capture::{Capture, Flood};
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

/// The private directory's size as a multiple of the largest file.
const TMP_FILES: u64 = 4;

/// A candidate's process, in name spaces of its own. Its fork server must be asked how it ended.
pub(super) struct Process {
    pid: Pid,
    handle: OwnedFd,
    /// Its private channel.
    pub(super) channel: Lines,
    readers: [JoinHandle<()>; 2],
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

impl Process {
    /// Forks a candidate; `job` is the first line on its channel.
    pub(super) async fn start(
        server: &mut ForkServer,
        job: &Value,
        stdin: OwnedFd,
        [stdout, stderr]: [&Capture; 2],
        probe: Option<&Probe>,
    ) -> Result<Self, SandboxError> {
        let (mut channel, theirs) = Lines::pair(ANSWER_BYTES).map_err(failed("opening a socket"))?;
        let (out, for_out) = std::io::pipe().map_err(failed("opening a pipe"))?;
        let (err, for_err) = std::io::pipe().map_err(failed("opening a pipe"))?;
        let follow = failed("following a stream");
        let readers = [stdout.follow(out.into()).map_err(&follow)?, stderr.follow(err.into()).map_err(&follow)?];
        let traced = probe.map(Probe::share).transpose().map_err(failed("sharing memory"))?;
        let mut given = vec![theirs.as_fd(), stdin.as_fd(), for_out.as_fd(), for_err.as_fd()];
        given.extend(traced.as_ref().map(OwnedFd::as_fd));
        let pid = server.fork(b"f", &given).await?;
        // It waits for its job, so its id is still its own.
        let handle = pidfd_open(pid, PidfdFlags::empty()).map_err(|error| failed("opening a process")(error.into()))?;
        let mut text = serde_json::to_vec(job).map_err(|error| SandboxError::Harness(error.to_string()))?;
        text.push(b'\n');
        channel.send(&text).await.map_err(failed("handing over a job"))?;
        // Said before any line of the program runs: a fault up to here is ours, and a later one cannot be claimed.
        match tokio::time::timeout(CONFINING, channel.receive()).await {
            Ok(Ok(Received::Line(line))) => match serde_json::from_slice(&line) {
                Ok(Confined::Confined(_)) => {}
                Ok(Confined::Fault(reason)) => return Err(SandboxError::Harness(reason)),
                Err(error) => return Err(SandboxError::Harness(format!("a new process said nonsense: {error}"))),
            },
            Ok(Ok(_)) => return Err(SandboxError::Harness("a new process ended before it was confined".to_owned())),
            Ok(Err(error)) => return Err(failed("reading from a new process")(error)),
            Err(_) => return Err(SandboxError::Harness("a new process did not confine itself in time".to_owned())),
        }
        Ok(Self { pid, handle, channel, readers, others_cpu_ms: 0, peak_memory_bytes: 0 })
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
        let Self { pid, channel, others_cpu_ms, peak_memory_bytes, .. } = self;
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
                done = &mut work => return Ok(Step::Done(done, own_cpu_ms(*pid).saturating_sub(before))),
                () = tokio::time::sleep(LOOK) => {
                    let usage = Usage::of(*pid);
                    *others_cpu_ms = usage.others_cpu_ms.max(*others_cpu_ms);
                    *peak_memory_bytes = usage.resident_bytes.max(*peak_memory_bytes);
                    let cpu = own_cpu_ms(*pid).saturating_sub(before) + others_cpu_ms.saturating_sub(others_before);
                    if cpu >= bounds.cpu_ms && usage.tasks >= bounds.limits.processes {
                        Halt::new(Verdict::ProcessLimit, "process limit exceeded")
                    } else if cpu >= bounds.cpu_ms {
                        Halt::new(Verdict::TimeoutCpu, "CPU time limit exceeded")
                    } else if usage.exceeds(bounds.limits.memory_bytes) {
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

    /// Waits for the end of a process that ends by itself.
    pub(super) async fn join(&mut self, server: &mut ForkServer) -> Result<Ended, SandboxError> {
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
    let seconds = cpu_ms.div_ceil(1_000) + 1;
    let same = |value: u64| [value, value];
    json!({
        "tmp_bytes": limits.file_bytes * TMP_FILES,
        "resources": {
            "CPU": [seconds, seconds + 1],
            "DATA": same(limits.memory_bytes),
            "AS": same(limits.memory_bytes),
            "FSIZE": same(limits.file_bytes),
            "NPROC": same(u64::from(limits.processes)),
            "NOFILE": same(256),
            "STACK": same(64 << 20),
            "CORE": same(0),
            "MEMLOCK": same(0),
            "MSGQUEUE": same(0),
        },
    })
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
