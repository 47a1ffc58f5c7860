use std::path::PathBuf;
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use super::assertions::Relay;
use super::cache::Cache;
use super::interpreter::Interpreter;
use super::pool::{Loan, Pool};
use super::probe::Probe;
use super::process::Streams;
use super::programs::Programs;
use super::slot::{Slot, failed};
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

    async fn borrow(&self, cancel: &CancellationToken) -> Result<Loan<'_>, SandboxError> {
        tokio::select! {
            () = cancel.cancelled() => Err(SandboxError::Cancelled),
            loan = self.pool.borrow() => loan,
        }
    }

    async fn trace(&self, job: &Job, cancel: &CancellationToken) -> Result<Profile, SandboxError> {
        let mut loan = self.borrow(cancel).await?;
        let mut job = job.clone();
        job.limits.test_cpu_ms *= TRACED_FACTOR;
        job.limits.process_cpu_ms *= TRACED_FACTOR;
        let mut probe = Probe::new(job.tests.len()).map_err(failed("sharing memory"))?;
        match &*job.tests {
            TestSuite::Assertions { code, assertions } => {
                let relay = Relay::new(&mut loan.slot, &job, assertions, cancel).with_probe(probe);
                let outcome = relay.run(code, assertions).await?;
                if !outcome.spoiled {
                    loan.give_back();
                }
                let results = outcome.tally.into_results();
                let verdicts = results.iter().map(|result| result.verdict);
                Ok(outcome.probe.map(|probe| probe.into_profile(verdicts)).unwrap_or_default())
            }
            TestSuite::Io { cases, rule } => {
                let programs = Programs { slot: &mut loan.slot, job: &job, cancel, probe: Some(&mut probe) };
                let outcome = programs.run(cases, *rule).await?;
                loan.give_back();
                Ok(probe.into_profile(outcome.results.iter().map(|result| result.verdict)))
            }
        }
    }

    async fn execute(&self, job: &Job, cancel: &CancellationToken) -> Result<Judgement, SandboxError> {
        let mut loan = self.borrow(cancel).await?;
        let started = Instant::now();
        match &*job.tests {
            TestSuite::Assertions { code, assertions } => {
                let outcome = Relay::new(&mut loan.slot, job, assertions, cancel).run(code, assertions).await?;
                if !outcome.spoiled {
                    loan.give_back();
                }
                let mut judgement =
                    self.judgement(job, outcome.tally.into_results(), &outcome.streams, started.elapsed());
                judgement.cpu_ms = outcome.cpu_ms;
                judgement.peak_memory_bytes = Some(outcome.peak_memory_bytes);
                judgement.near_limit = outcome.near_limit;
                judgement.compile_output = outcome.compile_output;
                Ok(judgement)
            }
            TestSuite::Io { cases, rule } => {
                let outcome = Programs { slot: &mut loan.slot, job, cancel, probe: None }.run(cases, *rule).await?;
                loan.give_back();
                let mut judgement = self.judgement(job, outcome.results, &outcome.streams, started.elapsed());
                judgement.cpu_ms = outcome.cpu_ms;
                judgement.peak_memory_bytes = Some(outcome.peak_memory_bytes);
                judgement.near_limit = outcome.near_limit;
                judgement.compile_output = outcome.compile_output;
                Ok(judgement)
            }
        }
    }

    /// A judgement from its tests; what was measured is filled in by the caller.
    fn judgement(&self, job: &Job, tests: Vec<TestResult>, streams: &Streams, wall: Duration) -> Judgement {
        let verdict = Verdict::of_program(tests.iter().map(|test| test.verdict));
        let cut = matches!(
            verdict,
            Verdict::OutputLimit | Verdict::TimeoutCpu | Verdict::TimeoutWall | Verdict::Memory | Verdict::Forbidden
        );
        Judgement {
            verdict,
            tests,
            compile_output: None,
            stdout: streams.stdout.excerpt(cut, self.pool.machine_paths()),
            stderr: streams.stderr.excerpt(cut, self.pool.machine_paths()),
            cpu_ms: 0,
            wall_ms: u64::try_from(wall.as_millis()).unwrap_or(u64::MAX),
            peak_memory_bytes: None,
            protocol: Protocol::Split,
            limits: job.limits.clone(),
            near_limit: false,
            suspicious: Vec::new(),
        }
    }
}

/// What tracing multiplies CPU time by, at most: the tracer itself stops after so many events.
const TRACED_FACTOR: u64 = 2;

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
        Box::pin(self.trace(job, cancel))
    }
}
