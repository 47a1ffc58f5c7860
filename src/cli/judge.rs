//! `rolecall judge`: programs that exist, against visible, validation and hidden tests.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use comfy_table::{ContentArrangement, Table, presets::NOTHING};
use futures_util::stream::{self, StreamExt};
use tokio_util::sync::CancellationToken;

use super::{
    args::{JudgeArgs, SandboxChoice},
    events::{Judged, suspicious},
    exit::{Exit, Failure},
    machine, problems, terminal,
};
use crate::{
    benchmarks::load_samples,
    domain::{FeedbackSet, Isolation, Judgement, Problem, Program, Verdict, read_regular_file},
    ids::TaskId,
    sandbox::{Job, Sandbox, SandboxError},
};

/// Longest program that is read.
const MAX_PROGRAM_BYTES: u64 = 16 << 20;

/// A program to be judged and what it is called.
struct Entry {
    name: String,
    problem: Arc<Problem>,
    program: Arc<Program>,
}

/// Judges every program and prints each verdict as it comes.
///
/// # Errors
/// Bad arguments and files; a machine that cannot isolate programs.
pub async fn judge(args: &JudgeArgs) -> Result<Exit, Failure> {
    let problems = problems::load(&args.source, &args.data, FeedbackSet::Visible)?;
    let problems: Vec<Arc<Problem>> = problems.into_iter().map(Arc::new).collect();
    let mut entries = match &args.samples_file {
        Some(file) => from_samples(file, &problems)?,
        None => from_files(&args.programs, &problems)?,
    };
    let sandbox = machine::sandbox(&problems, args.sandbox.unwrap_or(SandboxChoice::Strict)).await?;
    let mut judged: BTreeMap<TaskId, Arc<Problem>> =
        entries.iter().map(|entry| (entry.problem.task.id.clone(), entry.problem.clone())).collect();
    if args.calibrate_limits {
        let fixed = judged.into_values().collect();
        let measured = machine::calibrated(fixed, sandbox.as_ref(), &CancellationToken::new()).await?;
        judged = measured.into_iter().map(|problem| (problem.task.id.clone(), problem)).collect();
        for entry in &mut entries {
            if let Some(problem) = judged.get(&entry.problem.task.id) {
                entry.problem = problem.clone();
            }
        }
    }
    problems::tell_notes(judged.values());
    let (mut passed, mut failed) = (0, 0);
    // Several at once, reported in the order in which they were given.
    let judged = stream::iter(&entries).map(|entry| judge_one(entry, sandbox.as_ref())).buffered(machine::cores());
    let mut judged = std::pin::pin!(judged.enumerate());
    while let Some((index, result)) = judged.next().await {
        let entry = &entries[index];
        match result {
            Ok(judgements) => {
                passed += usize::from(
                    report(entry, index, &judgements, args.json.then_some(sandbox.isolation())) == Verdict::Passed,
                )
            }
            Err(error) => {
                failed += 1;
                terminal::talk(&format!("error: {}: {error}", entry.name));
            }
        }
    }
    if !args.json && entries.len() > 1 {
        terminal::data(&format!("{passed} of {} passed", entries.len()));
    }
    Ok(if failed == 0 { Exit::Ended } else { Exit::SomeFailed })
}

fn from_files(programs: &[PathBuf], problems: &[Arc<Problem>]) -> Result<Vec<Entry>, Failure> {
    let [problem] = problems else {
        return Err(Failure::usage(format!(
            "{} tasks are selected: programs are judged against one\n  hint: name it with --task-id, or give --samples-file",
            problems.len()
        )));
    };
    if programs.is_empty() {
        return Err(Failure::usage("no program to judge: name files, or give --samples-file"));
    }
    let mut entries = Vec::new();
    for path in programs {
        let bytes = read_regular_file(path, MAX_PROGRAM_BYTES)
            .map_err(|error| Failure::usage(format!("{}: {error}", path.display())))?;
        let text = String::from_utf8(bytes)
            .map_err(|error| Failure::usage(format!("{}: not UTF-8: {error}", path.display())))?;
        // A byte order mark says how the file is encoded; it is no part of the program.
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned();
        let program = Arc::new(Program::new(problem.task.language, text));
        entries.push(Entry { name: path.display().to_string(), problem: problem.clone(), program });
    }
    Ok(entries)
}

fn from_samples(file: &Path, problems: &[Arc<Problem>]) -> Result<Vec<Entry>, Failure> {
    let mut entries = Vec::new();
    for sample in load_samples(file).map_err(Failure::usage)? {
        let problem = problems.iter().find(|problem| problem.task.id == sample.task).ok_or_else(|| {
            Failure::usage(format!("{}: no task of the data set has the id `{}`", sample.place, sample.task))
        })?;
        let program = Arc::new(sample.program(&problem.task));
        entries.push(Entry { name: sample.place.to_string(), problem: problem.clone(), program });
    }
    Ok(entries)
}

/// The judgement of each suite, by its name.
async fn judge_one(entry: &Entry, sandbox: &dyn Sandbox) -> Result<Vec<(&'static str, Judgement)>, SandboxError> {
    judgements(&entry.problem, &entry.program, sandbox, &CancellationToken::new()).await
}

/// The judgement of a program by each suite of a task, by the suite's name.
///
/// # Errors
/// A fault of the machine that comes twice; `stop` fires.
pub async fn judgements(
    problem: &Problem,
    program: &Arc<Program>,
    sandbox: &dyn Sandbox,
    stop: &CancellationToken,
) -> Result<Vec<(&'static str, Judgement)>, SandboxError> {
    let task = &problem.task;
    let withheld = [("validation", &problem.validation), ("hidden", &problem.hidden)];
    let withheld = withheld.into_iter().filter_map(|(set, tests)| Some((set, tests.as_ref()?.reveal().clone())));
    let mut judgements = Vec::new();
    for (set, tests) in [("visible", task.visible.clone())].into_iter().chain(withheld) {
        let job = Job::of(task, program.clone(), tests);
        let judgement = match sandbox.judge(&job, stop).await {
            Err(SandboxError::Cancelled) => return Err(SandboxError::Cancelled),
            // A fault of the machine is retried once.
            Err(_) => sandbox.judge(&job, stop).await?,
            Ok(judgement) => judgement,
        };
        judgements.push((set, judgement));
    }
    Ok(judgements)
}

/// Prints it, as JSON where the isolation that belongs to it is given.
fn report(entry: &Entry, index: usize, judgements: &[(&'static str, Judgement)], json: Option<&Isolation>) -> Verdict {
    let tests = judgements.iter().flat_map(|(_, judgement)| judgement.tests.iter().map(|test| test.verdict));
    let verdict = Verdict::of_program(tests);
    let task = entry.problem.task.id.0.as_str();
    if let Some(isolation) = json {
        let suites: Vec<(&'static str, &Judgement)> = judgements.iter().map(|(set, one)| (*set, one)).collect();
        terminal::json(&Judged::of(&entry.problem, index, (verdict.name(), isolation), &suites));
        return verdict;
    }
    terminal::data(&format!("{} ({task}): {}", entry.name, verdict.name()));
    let mut table = Table::new();
    table.load_preset(NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_header(["tests", "verdict", "test", "expected", "actual", "message"]);
    // The same for every suite, since the messages about tests are not in it.
    if let Some(output) = judgements.iter().find_map(|(_, judgement)| judgement.compile_output.as_ref()) {
        terminal::data(output);
    }
    for (set, judgement) in judgements {
        for test in &judgement.tests {
            let optional = |text: &Option<String>| text.clone().unwrap_or_default();
            let cells = [optional(&test.expected), optional(&test.actual), optional(&test.message)];
            let [expected, actual, message] = cells;
            table.add_row([
                (*set).to_owned(),
                test.verdict.name().to_owned(),
                test.test.clone(),
                expected,
                actual,
                message,
            ]);
        }
    }
    terminal::data(&table.to_string());
    let calls = suspicious(judgements.iter().map(|(_, judgement)| judgement));
    if !calls.is_empty() {
        terminal::data(&format!("calls that end, replace or start processes: {}", calls.join("; ")));
    }
    verdict
}
