use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use super::assertions::Relay;
use super::backend::Backends;
use super::build::{Building, How, build};
use super::cache::Cache;
use super::checking::Desk;
use super::linked::LinkedRun;
use super::outcome::Outcome;
use super::pool::{Loan, Pool};
use super::probe::Probe;
use super::programs::{Programs, refused};
use super::python;
use super::self_test::choose;
use super::slot::failed;
use super::split::Boxed;
use super::{Job, Sandbox, SandboxError};
use crate::domain::{Isolation, Judgement, Language, OutputRule, Profile, Protocol, TestSuite, Verdict};
use crate::languages::Testing;

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
    /// program itself. Tests strict backends until one holds, then starts one for each of `languages`, to find out whether this machine has
    /// their tools; others are looked for when they are needed.
    ///
    /// # Errors
    /// [`SandboxError::MissingTool`] without a tool of one of the languages, [`SandboxError::Isolation`] where the machine
    /// refuses name spaces, else what kept a launcher from starting.
    pub async fn start(launcher: PathBuf, slots: usize, languages: &[Language]) -> Result<Self, SandboxError> {
        Self::start_with(launcher, slots, languages, &Backends::strict()).await
    }

    /// As [`LocalSandbox::start`], with the first of `backends` that passes its test on this machine.
    ///
    /// # Errors
    /// As [`LocalSandbox::start`].
    pub async fn start_with(
        launcher: PathBuf,
        slots: usize,
        languages: &[Language],
        backends: &Backends,
    ) -> Result<Self, SandboxError> {
        let (backend, isolation) = choose(&launcher, backends).await?;
        Self::open(Pool::new(launcher, backend, slots, true), isolation, languages).await
    }

    /// A sandbox without warm interpreters: what warm ones are compared with.
    ///
    /// # Errors
    /// As [`LocalSandbox::start`].
    pub async fn start_cold(launcher: PathBuf, slots: usize, languages: &[Language]) -> Result<Self, SandboxError> {
        let (backend, isolation) = choose(&launcher, &Backends::strict()).await?;
        Self::open(Pool::new(launcher, backend, slots, false), isolation, languages).await
    }

    async fn open(pool: Pool, isolation: Isolation, languages: &[Language]) -> Result<Self, SandboxError> {
        for language in languages {
            pool.borrow(*language).await?.give_back();
        }
        Ok(Self { pool, cache: Cache::default(), isolation })
    }

    async fn borrow(&self, language: Language, cancel: &CancellationToken) -> Result<Loan<'_>, SandboxError> {
        tokio::select! {
            () = cancel.cancelled() => Err(SandboxError::Cancelled),
            loan = self.pool.borrow(language) => loan,
        }
    }

    async fn trace(&self, job: &Job, cancel: &CancellationToken) -> Result<Profile, SandboxError> {
        if !self.pool.is_warm(job.program.language).await? {
            return Ok(Profile::default());
        }
        let mut loan = self.borrow(job.program.language, cancel).await?;
        let mut job = job.clone();
        job.limits.test_cpu_ms *= TRACED_FACTOR;
        job.limits.process_cpu_ms *= TRACED_FACTOR;
        let mut probe = Probe::new(job.tests.len()).map_err(failed("sharing memory"))?;
        let (outcome, probe) = match &*job.tests {
            TestSuite::Assertions { code, assertions } => {
                let relay = Relay::new(&mut loan.slot, &job, assertions, cancel).with_probe(probe);
                relay.run(code, assertions).await?
            }
            TestSuite::Io { cases, rule } => {
                let slot = &mut loan.slot;
                let probe_of = Some(&mut probe);
                let programs = Programs { slot, built: None, aside: None, job: &job, cancel, probe: probe_of };
                (programs.run(cases, rule).await?, Some(probe))
            }
        };
        if !outcome.spoiled {
            loan.give_back();
        }
        let verdicts = outcome.results.iter().map(|result| result.verdict);
        Ok(probe.map(|probe| probe.into_profile(verdicts)).unwrap_or_default())
    }

    /// Where the checker of a job runs that borrowed no interpreters itself.
    async fn aside(&self, loan: &Loan<'_>, job: &Job) -> Result<Option<Loan<'_>>, SandboxError> {
        match job.tests.output_rule() {
            Some(OutputRule::Checker(_)) if !loan.hall.is_warm() => self.pool.aside().await.map(Some),
            _ => Ok(None),
        }
    }

    async fn execute(&self, job: &Job, cancel: &CancellationToken) -> Result<Judgement, SandboxError> {
        let mut loan = self.borrow(job.program.language, cancel).await?;
        let started = Instant::now();
        let hidden = [loan.hall.tools.readable.as_slice(), &loan.slot.ready.directories].concat();
        let mut aside = self.aside(&loan, job).await?;
        let outcome = run(&mut loan, aside.as_mut(), job, cancel, &hidden).await?;
        let protocol = match (&*job.tests, loan.hall.toolchain.testing()) {
            (TestSuite::Assertions { .. }, Testing::Linked(_)) => Protocol::InProcess,
            _ => Protocol::Split,
        };
        let exits = match protocol {
            Protocol::InProcess => loan.hall.toolchain.exits(&job.program.text),
            Protocol::Split => Vec::new(),
        };
        if !outcome.spoiled {
            loan.give_back();
        }
        if let Some(aside) = aside {
            aside.give_back();
        }
        let verdict = Verdict::of_program(outcome.results.iter().map(|test| test.verdict));
        let cut = matches!(
            verdict,
            Verdict::OutputLimit | Verdict::TimeoutCpu | Verdict::TimeoutWall | Verdict::Memory | Verdict::Forbidden
        );
        Ok(Judgement {
            verdict,
            tests: outcome.results,
            compile_output: outcome.compile_output,
            stdout: outcome.streams.stdout.excerpt(cut, &hidden),
            stderr: outcome.streams.stderr.excerpt(cut, &hidden),
            cpu_ms: outcome.cpu_ms,
            wall_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
            peak_memory_bytes: Some(outcome.peak_memory_bytes),
            protocol,
            limits: job.limits.clone(),
            near_limit: outcome.near_limit,
            suspicious: exits.into_iter().map(|call| format!("line {}: {}", call.line, call.text)).collect(),
        })
    }
}

/// Runs a job in the way of its language.
async fn run(
    loan: &mut Loan<'_>,
    aside: Option<&mut Loan<'_>>,
    job: &Job,
    cancel: &CancellationToken,
    hidden: &[PathBuf],
) -> Result<Outcome, SandboxError> {
    let (hall, slot) = (loan.hall, &mut loan.slot);
    let aside = aside
        .map(|Loan { hall, slot, .. }| Desk { server: &mut slot.tests, boxed: (!hall.is_warm()).then_some(*hall) });
    let (toolchain, tools) = (hall.toolchain, &hall.tools);
    match (&*job.tests, toolchain.testing()) {
        (TestSuite::Assertions { code, assertions }, Testing::Forked) if hall.is_warm() => {
            Ok(Relay::new(slot, job, assertions, cancel).run(code, assertions).await?.0)
        }
        (TestSuite::Assertions { code, assertions }, Testing::Split { candidate, tests }) => {
            let boxed = Boxed { toolchain, tools, candidate, tests };
            Ok(Relay::new(slot, job, assertions, cancel).in_boxes(boxed).run(code, assertions).await?.0)
        }
        (TestSuite::Assertions { code, assertions }, Testing::Linked(harness)) => {
            LinkedRun { slot, job, tools, toolchain, cancel, hidden }.run(harness, code, assertions).await
        }
        (TestSuite::Assertions { code, assertions }, Testing::Forked) => {
            let (candidate, tests) = (python::candidate_in_a_box(), python::tests_in_a_box());
            let boxed = Boxed { toolchain, tools, candidate: &candidate, tests: &tests };
            Ok(Relay::new(slot, job, assertions, cancel).in_boxes(boxed).run(code, assertions).await?.0)
        }
        (TestSuite::Io { cases, rule }, Testing::Forked) if hall.is_warm() => {
            Programs { slot, built: None, aside, job, cancel, probe: None }.run(cases, rule).await
        }
        (TestSuite::Io { cases, rule }, _) => {
            let unit = toolchain.program(&job.program.text);
            let how = How { toolchain, tools, limits: &job.limits, hidden };
            match build(slot, &unit, &how, cancel).await? {
                Building::Built(built) => {
                    let programs = Programs { slot, built: Some(&built), aside, job, cancel, probe: None };
                    let mut outcome = programs.run(cases, rule).await?;
                    outcome.compile_output = built.output;
                    Ok(outcome)
                }
                Building::Refused(halt, said) => {
                    let mut outcome = Outcome::new(&job.limits);
                    outcome.results = cases.iter().map(|case| refused(case, &halt)).collect();
                    outcome.compile_output = Some(said);
                    Ok(outcome)
                }
            }
        }
    }
}

/// What tracing multiplies CPU time by, at most: the tracer itself stops after so many events.
const TRACED_FACTOR: u64 = 2;

impl Sandbox for LocalSandbox {
    fn isolation(&self) -> &Isolation {
        &self.isolation
    }

    fn tools(&self) -> BTreeMap<String, String> {
        self.pool.versions()
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
