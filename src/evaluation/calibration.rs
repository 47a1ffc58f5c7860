use std::sync::Arc;

use futures_util::stream::{self, StreamExt, TryStreamExt};
use tokio_util::sync::CancellationToken;

use crate::{
    domain::{Limits, Problem, Program, Verdict},
    sandbox::{Job, Sandbox, SandboxError},
};

/// What the slowest test of a program that passes is multiplied by.
const FACTOR: u64 = 20;

/// The least limit, in ms: below it a measured time is mostly noise.
const LEAST_MS: u64 = 500;

/// CPU time that a test may take while it is measured, in ms, where the task's own limit is lower.
const MEASURING_MS: u64 = 10_000;

/// `problems` with the CPU limit of a test measured on this machine: the larger of 0.5 s and 20 times the slowest test
/// of the reference, or of the starter where there is no reference and the starter passes. A problem without either
/// keeps its limits. A note says which it was. `at_once` are measured at once.
///
/// # Errors
/// Cancellation, and faults of this machine that come twice.
pub async fn calibrate(
    problems: Vec<Arc<Problem>>,
    sandbox: &dyn Sandbox,
    at_once: usize,
    cancel: &CancellationToken,
) -> Result<Vec<Arc<Problem>>, SandboxError> {
    let measured = stream::iter(problems).map(|problem| async move {
        let found = measure(&problem, sandbox, cancel).await?;
        Ok(Arc::new(with(&problem, found)))
    });
    measured.buffered(at_once.max(1)).try_collect().await
}

/// `problem` with a note on why its limits are not measured.
pub fn uncalibrated(problem: &Problem, reason: &str) -> Problem {
    let mut problem = problem.clone();
    problem.notes.push(format!("limits not calibrated: {reason}"));
    problem
}

/// The slowest test of a program that passes, in ms.
struct Slowest {
    whose: &'static str,
    cpu_ms: u64,
}

fn with(problem: &Problem, found: Result<Slowest, String>) -> Problem {
    let Slowest { whose, cpu_ms } = match found {
        Ok(slowest) => slowest,
        Err(reason) => return uncalibrated(problem, &reason),
    };
    let limit = LEAST_MS.max(FACTOR * cpu_ms);
    let mut task = (*problem.task).clone();
    task.limits = Limits { test_cpu_ms: limit, calibrated: true, ..task.limits };
    let mut problem = Problem { task: Arc::new(task), ..problem.clone() };
    let said = format!("limits calibrated: test_cpu_ms = {limit}, the slowest test of the {whose} took {cpu_ms} ms");
    problem.notes.push(said);
    problem
}

/// The reason in words where nothing can be measured.
async fn measure(
    problem: &Problem,
    sandbox: &dyn Sandbox,
    cancel: &CancellationToken,
) -> Result<Result<Slowest, String>, SandboxError> {
    let task = &problem.task;
    let (program, whose) = match (&problem.reference, &task.starter) {
        (Some(reference), _) => (reference, "reference"),
        (None, Some(starter)) => (starter, "starter"),
        (None, None) => return Ok(Err("there is no reference and no starter".to_owned())),
    };
    let withheld = [&problem.validation, &problem.hidden].into_iter().flatten().map(|tests| tests.reveal());
    let suites = [&task.feedback].into_iter().chain(withheld);
    let mut slowest = None;
    for tests in suites {
        let mut job = Job::of(task, Arc::<Program>::clone(program), tests.clone());
        job.limits.test_cpu_ms = job.limits.test_cpu_ms.max(MEASURING_MS);
        let judgement = match sandbox.judge(&job, cancel).await {
            Ok(judgement) => judgement,
            Err(SandboxError::Cancelled) => return Err(SandboxError::Cancelled),
            // A fault of the machine is retried once.
            Err(_) => match sandbox.judge(&job, cancel).await {
                Err(error @ SandboxError::Checker { .. }) => return Ok(Err(error.to_string())),
                again => again?,
            },
        };
        if judgement.verdict != Verdict::Passed {
            return Ok(Err(format!("the {whose} does not pass ({})", judgement.verdict.name())));
        }
        slowest = slowest.max(judgement.tests.iter().filter_map(|test| test.cpu_ms).max());
    }
    let cpu_ms = slowest.ok_or_else(|| format!("no test of the {whose} was timed"));
    Ok(cpu_ms.map(|cpu_ms| Slowest { whose, cpu_ms }))
}
