//! Solved tasks for prompts: loaded as `[examples]` and `--examples` say, and kept apart from what is scored.

use std::{collections::BTreeSet, path::Path};

use super::exit::Failure;
use crate::{
    benchmarks::{BenchmarkError, Split, benchmark, load_dir, load_task},
    conversation::ExamplePool,
    domain::{FeedbackSet, Language, Problem},
    topology::{ExampleSource, Plan},
};

/// The examples of a run that scores `problems`; an empty pool where the arrangement shows none.
///
/// # Errors
/// Nothing says where they are; whatever is wrong with their files; a split that holds a task of the run, or too few.
pub fn load(plan: &Plan, problems: &[Problem]) -> Result<ExamplePool, Failure> {
    let settings = &plan.examples;
    if settings.count == 0 {
        return Ok(ExamplePool::default());
    }
    let (mut tasks, split) = match &settings.source {
        Some(ExampleSource::Tasks(path)) => (load_tasks(path).map_err(Failure::usage)?, &Split::ALL),
        Some(ExampleSource::Benchmark { name, path: Some(path) }) => {
            let benchmark = benchmark(name).map_err(Failure::usage)?;
            let languages: BTreeSet<Language> = problems.iter().map(|problem| problem.task.language).collect();
            let mut tasks = Vec::new();
            for language in languages {
                tasks.extend(benchmark.load(path, language, FeedbackSet::Visible).map_err(Failure::usage)?);
            }
            (tasks, benchmark.split(&settings.split).map_err(Failure::usage)?)
        }
        Some(ExampleSource::Benchmark { name, path: None }) => {
            return Err(Failure::usage(format!(
                "examples come from {name}, and nothing says where that is\n  hint: give --examples PATH, or set `examples.path`"
            )));
        }
        None => {
            return Err(Failure::usage(format!(
                "`examples.count` is {}, and nothing says where they come from\n  hint: give --examples PATH, or set `examples.tasks` or `examples.benchmark`",
                settings.count
            )));
        }
    };
    tasks.retain(|problem| (split.holds)(&problem.task));
    ExamplePool::new(split.name, tasks, settings.count, problems).map_err(Failure::usage)
}

fn load_tasks(path: &Path) -> Result<Vec<Problem>, BenchmarkError> {
    if path.is_dir() { load_dir(path) } else { load_task(path).map(|problem| vec![problem]) }
}
