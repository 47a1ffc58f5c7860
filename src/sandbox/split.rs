use std::os::fd::{AsFd, OwnedFd};

use serde_json::Value;

use super::boxes::Launch;
use super::capture::Capture;
use super::lines::Lines;
use super::pack::Pack;
use super::process::{Outputs, Process, Streams};
use super::slot::{Ended, ForkServer, failed, nothing};
use super::{Job, SandboxError};
use crate::domain::Limits;
use crate::languages::{Toolchain, Tools, Unit};

/// Memory of the process that runs tests, in bytes.
const TESTS_MEMORY_BYTES: u64 = 2 << 30;

/// CPU time of the process that runs tests, in ms: only a value of the candidate can keep it busy.
const TESTS_CPU_MS: u64 = 60_000;

/// Two texts of a language that talk through the judge, each in a box of its own.
pub(super) struct Boxed<'a> {
    pub(super) toolchain: &'a dyn Toolchain,
    pub(super) tools: &'a Tools,
    /// The candidate's server.
    pub(super) candidate: &'a str,
    /// The tests' server.
    pub(super) tests: &'a str,
}

/// The process that runs the tests.
pub(super) enum Tests {
    /// Forked by a warm interpreter; it ends when its channel does.
    Forked(Lines),
    /// In a box.
    Boxed(Process),
    /// Ended.
    Gone,
}

impl Tests {
    /// Starts it with its first line: as a command in a box where `boxed` says so, else forked by a warm interpreter, whose
    /// lines may be `line_bytes` long.
    pub(super) async fn start(
        server: &mut ForkServer,
        boxed: Option<&Boxed<'_>>,
        request: &[u8],
        line_bytes: usize,
    ) -> Result<Self, SandboxError> {
        if let Some(boxed) = boxed {
            return boxed.start_tests(server, request).await.map(Self::Boxed);
        }
        let (channel, theirs) = Lines::pair(line_bytes).map_err(failed("opening a socket"))?;
        server.fork(request, &[theirs.as_fd()]).await?;
        Ok(Self::Forked(channel))
    }

    /// Where it talks; a channel of nobody once it is gone.
    pub(super) fn channel(&mut self) -> Option<&mut Lines> {
        match self {
            Self::Forked(lines) => Some(lines),
            Self::Boxed(process) => Some(&mut process.channel),
            Self::Gone => None,
        }
    }

    /// How it ended, now that its channel has.
    pub(super) async fn bury(self, server: &mut ForkServer, limits: &Limits) -> Result<Ended, SandboxError> {
        match self {
            Self::Boxed(process) => process.bury(server, limits).await,
            Self::Forked(_) | Self::Gone => server.ended().await,
        }
    }

    /// Ends it, whatever it does.
    pub(super) async fn end(self, server: &mut ForkServer) -> Result<(), SandboxError> {
        match self {
            Self::Boxed(process) => process.retire(server).await.map(|_: Ended| ()),
            Self::Forked(_) | Self::Gone => Ok(()),
        }
    }
}

impl Boxed<'_> {
    /// Starts the candidate's server and hands it its job.
    pub(super) async fn start_candidate(
        &self,
        server: &mut ForkServer,
        job: &Job,
        line: &Value,
        stdin: OwnedFd,
        streams: [&Capture; 2],
    ) -> Result<Process, SandboxError> {
        let cpu_ms = job.limits.whole_cpu_ms(job.tests.len());
        let mut process = self.start(server, self.candidate, &job.limits, cpu_ms, stdin, streams).await?;
        let line = format!("{line}\n");
        process.channel.send(line.as_bytes()).await.map_err(failed("handing over a job"))?;
        process.confined().await?;
        Ok(process)
    }

    /// Starts the tests' server and hands it the tests.
    pub(super) async fn start_tests(&self, server: &mut ForkServer, request: &[u8]) -> Result<Process, SandboxError> {
        let limits = Limits { memory_bytes: TESTS_MEMORY_BYTES, ..self.toolchain.limits() };
        let streams = Streams::new(&limits);
        let streams = [&streams.stdout, &streams.stderr];
        let mut process = self.start(server, self.tests, &limits, TESTS_CPU_MS, nothing()?, streams).await?;
        process.channel.send(request).await.map_err(failed("handing over tests"))?;
        Ok(process)
    }

    async fn start(
        &self,
        server: &mut ForkServer,
        text: &str,
        limits: &Limits,
        cpu_ms: u64,
        stdin: OwnedFd,
        streams: [&Capture; 2],
    ) -> Result<Process, SandboxError> {
        let unit = Unit::of_one("server", text);
        let recipe = self.toolchain.recipe(&unit, self.tools);
        let files = Pack::of(&unit.files).map_err(failed("packing files"))?;
        let launch =
            Launch { command: &recipe.run, attempt: None, files: &files, keep: None, talks: true, limits, cpu_ms };
        Process::spawn(server, &launch, stdin, Outputs::Captured(streams)).await
    }
}
