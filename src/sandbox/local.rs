use std::path::PathBuf;
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use super::assertions::Relay;
use super::cache::Cache;
use super::interpreter::Interpreter;
use super::pool::Pool;
use super::process::Streams;
use super::programs::Programs;
use super::slot::Slot;
use super::{Job, Sandbox, SandboxError};
use crate::domain::{Isolation, Judgement, Profile, Protocol, TestResult, TestSuite, Verdict};

/// The sandbox of this machine: resident launchers, one execution in each at a time.
///
/// A judgement is made once for identical jobs. Dropping the sandbox, or the future of an execution, kills what runs.
pub struct LocalSandbox {
    pool: Pool,
    cache: Cache,
    isolation: Isolation,
}

impl LocalSandbox {
    /// A sandbox of `slots` executions at once, whose launchers are started by executing `launcher`: the `rolecall`
    /// program itself. Starts the first one, to find out whether this machine can isolate at all.
    ///
    /// # Errors
    /// [`SandboxError::MissingTool`] without a usable Python, [`SandboxError::Isolation`] where the machine refuses name
    /// spaces, else what kept the launcher from starting.
    pub async fn start(launcher: PathBuf, slots: usize) -> Result<Self, SandboxError> {
        let interpreter = Interpreter::find().await?;
        let first = Slot::start(&launcher, &interpreter).await?;
        let isolation = Isolation { backend: first.ready.backend.clone(), memory: "rlimit".to_owned(), network: true };
        Ok(Self { pool: Pool::new(launcher, interpreter, slots, first), cache: Cache::default(), isolation })
    }

    async fn execute(&self, job: &Job, cancel: &CancellationToken) -> Result<Judgement, SandboxError> {
        let mut loan = tokio::select! {
            () = cancel.cancelled() => return Err(SandboxError::Cancelled),
            loan = self.pool.borrow() => loan?,
        };
        let started = Instant::now();
        match &*job.tests {
            TestSuite::Assertions { code, assertions } => {
                let outcome = Relay::new(&mut loan.slot, job, assertions, cancel).run(code, assertions).await?;
                if !outcome.spoiled {
                    loan.give_back();
                }
                let mut judgement = judgement(job, outcome.tally.into_results(), &outcome.streams, started.elapsed());
                judgement.cpu_ms = outcome.cpu_ms;
                judgement.peak_memory_bytes = Some(outcome.peak_memory_bytes);
                judgement.near_limit = outcome.near_limit;
                judgement.compile_output = outcome.compile_output;
                Ok(judgement)
            }
            TestSuite::Io { cases, rule } => {
                let outcome = Programs { slot: &mut loan.slot, job, cancel }.run(cases, *rule).await?;
                loan.give_back();
                let mut judgement = judgement(job, outcome.results, &outcome.streams, started.elapsed());
                judgement.cpu_ms = outcome.cpu_ms;
                judgement.peak_memory_bytes = Some(outcome.peak_memory_bytes);
                judgement.near_limit = outcome.near_limit;
                judgement.compile_output = outcome.compile_output;
                Ok(judgement)
            }
        }
    }
}

/// A judgement from its tests; what was measured is filled in by the caller.
fn judgement(job: &Job, tests: Vec<TestResult>, streams: &Streams, wall: Duration) -> Judgement {
    let verdict = Verdict::of_program(tests.iter().map(|test| test.verdict));
    let cut = matches!(
        verdict,
        Verdict::OutputLimit | Verdict::TimeoutCpu | Verdict::TimeoutWall | Verdict::Memory | Verdict::Forbidden
    );
    Judgement {
        verdict,
        tests,
        compile_output: None,
        stdout: streams.stdout.excerpt(cut),
        stderr: streams.stderr.excerpt(cut),
        cpu_ms: 0,
        wall_ms: u64::try_from(wall.as_millis()).unwrap_or(u64::MAX),
        peak_memory_bytes: None,
        protocol: Protocol::Split,
        limits: job.limits.clone(),
        near_limit: false,
    }
}

impl Sandbox for LocalSandbox {
    fn isolation(&self) -> &Isolation {
        &self.isolation
    }

    fn judge<'a>(
        &'a self,
        job: &'a Job,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Judgement, SandboxError>> {
        Box::pin(self.cache.judgement(job, || self.execute(job, cancel)))
    }

    fn profile<'a>(
        &'a self,
        job: &'a Job,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Profile, SandboxError>> {
        let _ = (job, cancel);
        Box::pin(async { Ok(Profile::default()) })
    }
}
