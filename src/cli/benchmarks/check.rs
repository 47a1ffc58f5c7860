//! `rolecall benchmarks check`.

use std::{path::PathBuf, sync::Arc};

use futures_util::stream::{self, StreamExt};
use indicatif::ProgressBar;
use serde::Serialize;

use super::{
    args::CheckArgs,
    checking::{Finding, Which, Work},
};
use crate::{
    benchmarks::{BenchmarkError, benchmark},
    cli::{
        args::{DataArgs, SandboxChoice, TaskSource},
        exit::{Exit, Failure},
        judge::judgements,
        machine, problems,
        signals::Stop,
        terminal,
    },
    domain::{FeedbackSet, Isolation, Problem},
    sandbox::SandboxError,
};

/// `event = "benchmark_checked"`: the last object.
#[derive(Serialize)]
struct Checked<'a> {
    event: &'static str,
    benchmark: &'a str,
    tasks: usize,
    references: usize,
    references_passing: usize,
    starters: usize,
    starters_passing: usize,
    unexpected: usize,
    known: usize,
    not_judged: usize,
    isolation: &'a Isolation,
}

/// Judges the programs of a data set, several at once, and says what is not as it should be.
///
/// # Errors
/// Bad arguments and files; a machine that cannot isolate programs.
pub async fn check(args: &CheckArgs) -> Result<Exit, Failure> {
    let problems: Vec<Arc<Problem>> = load(args)?.into_iter().map(Arc::new).collect();
    let sandbox = machine::sandbox(&problems, args.sandbox.unwrap_or(SandboxChoice::Strict)).await?;
    let work: Vec<Work> = problems.iter().flat_map(Work::of).collect();
    let stop = Stop::listen_for("the check");
    let progress = Progress::new(work.len());
    let (mut findings, mut not_judged) = (Vec::new(), 0);
    let judging = stream::iter(&work)
        .map(|one| judgements(&one.problem, &one.program, sandbox.as_ref(), stop.token()))
        .buffered(machine::cores());
    let mut judging = std::pin::pin!(judging.enumerate());
    while let Some((index, judged)) = judging.next().await {
        let one = &work[index];
        match judged {
            Ok(judged) => {
                let finding = Finding::of(one, &judged);
                progress.hidden(|| say(&finding, args.json));
                findings.push(finding);
            }
            Err(SandboxError::Cancelled) => {
                progress.close();
                return Ok(stop.reason().unwrap_or(Exit::Interrupted));
            }
            Err(error) => {
                not_judged += 1;
                let (task, who) = (&one.problem.task.id, one.which.words());
                progress.hidden(|| terminal::talk(&format!("error: {task}: {who} was not judged: {error}")));
            }
        }
        progress.judged(index + 1);
    }
    progress.close();
    let checked = Checked::of(&args.name, problems.len(), &findings, not_judged, sandbox.isolation());
    if args.json {
        terminal::json(&checked)
    } else {
        terminal::data(&checked.words())
    }
    Ok(if checked.unexpected == 0 && not_judged == 0 { Exit::Ended } else { Exit::SomeFailed })
}

fn say(finding: &Finding, json: bool) {
    match finding.words() {
        _ if json => terminal::json(finding),
        Some(words) => terminal::data(&words),
        None => {}
    }
}

impl<'a> Checked<'a> {
    fn of(benchmark: &'a str, tasks: usize, findings: &[Finding], not_judged: usize, isolation: &'a Isolation) -> Self {
        let count = |is: &dyn Fn(&Finding) -> bool| findings.iter().filter(|finding| is(finding)).count();
        Self {
            event: "benchmark_checked",
            benchmark,
            tasks,
            references: count(&|one| one.program == Which::Reference),
            references_passing: count(&|one| one.program == Which::Reference && one.as_expected),
            starters: count(&|one| one.program == Which::Starter),
            starters_passing: count(&|one| one.program == Which::Starter && !one.as_expected),
            unexpected: count(&|one| one.is_news()),
            known: count(&|one| !one.as_expected && one.known_fault.is_some()),
            not_judged,
            isolation,
        }
    }

    fn words(&self) -> String {
        let references = match self.references {
            0 => "no reference programs".to_owned(),
            all => format!("{} of {all} references pass", self.references_passing),
        };
        let starters = match self.starters {
            0 => String::new(),
            all => format!(", {} of {all} starters pass already", self.starters_passing),
        };
        let known = if self.known > 0 { format!(", {} known faults", self.known) } else { String::new() };
        let not = if self.not_judged > 0 { format!(", {} not judged", self.not_judged) } else { String::new() };
        format!("{}: {} tasks, {references}{starters}{known}{not}", self.benchmark, self.tasks)
    }
}

/// The tasks, in every language that is asked for.
fn load(args: &CheckArgs) -> Result<Vec<Problem>, Failure> {
    let data = DataArgs {
        path: args.path.clone(),
        language: args.language.clone(),
        translate_from: None,
        split: args.split.clone(),
        task_id: args.task_id.clone(),
        task_ids: args.task_ids.clone(),
    };
    let is_file = args.path.as_ref().is_some_and(|path| path.is_file());
    if args.language.is_some() || is_file || problems::mapping(&args.name).is_some() {
        let source = TaskSource { task: Vec::new(), tasks: None, benchmark: Some(args.name.clone()) };
        return problems::load(&source, &data, FeedbackSet::Visible);
    }
    let loaded = in_every_language(&args.name, args.path.as_ref())?;
    let loaded = problems::in_split(&args.name, args.split.as_deref(), loaded)?;
    problems::select(loaded, &data)
}

/// The tasks in every language whose file is there.
fn in_every_language(name: &str, path: Option<&PathBuf>) -> Result<Vec<Problem>, Failure> {
    let benchmark = benchmark(name).map_err(Failure::usage)?;
    let path = problems::path(benchmark, path.map(PathBuf::as_path))?;
    let (mut loaded, mut missing): (Vec<Problem>, Option<BenchmarkError>) = (Vec::new(), None);
    for language in benchmark.languages() {
        match benchmark.load(&path, *language, FeedbackSet::Visible) {
            Ok(problems) => loaded.extend(problems),
            Err(error @ BenchmarkError::NoFile { .. }) => drop(missing.get_or_insert(error)),
            Err(error) => return Err(Failure::usage(error)),
        }
    }
    match missing {
        Some(error) if loaded.is_empty() => Err(Failure::usage(error)),
        _ => Ok(loaded),
    }
}

/// How far it is: a bar on a terminal, a line for each tenth elsewhere.
struct Progress {
    bar: Option<ProgressBar>,
    all: usize,
}

impl Progress {
    fn new(all: usize) -> Self {
        let bar = terminal::is_watched().then(|| ProgressBar::new(all as u64));
        Self { bar, all }
    }

    fn judged(&self, count: usize) {
        let tenth = |count: usize| count * 10 / self.all.max(1);
        match &self.bar {
            Some(bar) => bar.set_position(count as u64),
            None if count == 1 || tenth(count) > tenth(count - 1) => {
                terminal::talk(&format!("[{count}/{}] judged", self.all));
            }
            None => {}
        }
    }

    /// Says something where the bar is.
    fn hidden(&self, say: impl FnOnce()) {
        match &self.bar {
            Some(bar) => bar.suspend(say),
            None => say(),
        }
    }

    fn close(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
