//! `rolecall run`: a cast on tasks.

use std::{
    cell::RefCell,
    rc::Rc,
    sync::Arc,
    time::{Duration, Instant},
};

use tokio_util::sync::CancellationToken;

use super::{
    args::RunArgs,
    cast, events, examples,
    exit::{Exit, Failure},
    explain, interventions, machine, problems,
    progress::Progress,
    summary, terminal,
    watching::Watching,
};
use crate::{
    budget::RunBudget,
    config::model_capabilities,
    conversation::{Company, ConversationRecord, MemoryJournal, Outcome},
    domain::Problem,
    evaluation::{Selection, run_all, uncalibrated},
    ids::RunId,
    telemetry::{TraceOptions, TraceSummary, Traces},
    topology::{Checked, Overrides, SharedBudgets, TopologyRef, load_plan},
};

/// How long the end of a run waits for its traces to be delivered.
const DELIVERY: Duration = Duration::from_secs(15);

/// Why `--calibrate-limits` changes nothing where the arrangement sets the limit.
const FEEDBACK_DECIDES: &str = "`[feedback] test_cpu_ms` of the arrangement decides";

/// Carries out `rolecall run`.
///
/// # Errors
/// Everything that is wrong is found before anything starts: arrangement, tasks, models, machine.
pub async fn run(args: RunArgs) -> Result<Exit, Failure> {
    let checked = load(&args)?;
    if args.explain {
        explain::print(&args, &checked);
        return Ok(Exit::Ended);
    }
    let problems = problems::load(&args.source, &args.data, args.feedback().into())?;
    cast::refuse_what_cannot_start(&checked.plan, &problems)?;
    interventions::refuse_what_cannot_be_done(&checked.plan, &problems)?;
    cast::refuse_what_is_unset(&checked.plan)?;
    let examples = Arc::new(examples::load(&checked.plan, &problems)?);
    let limits = &checked.plan.feedback;
    let problems: Vec<Arc<Problem>> =
        problems.into_iter().map(|problem| problems::with_feedback_limits(problem, limits)).collect();
    let seed = args.seed.unwrap_or_else(draw_seed);
    let mut selection = Selection {
        run: RunId::new(),
        arm: checked.plan.name.clone(),
        problems,
        samples: args.samples(),
        seed,
        concurrency: args.concurrency.map_or_else(|| machine::cores() * 4, |number| number as usize),
    };
    let doubled = selection.doubled_ids();
    if !doubled.is_empty() {
        return Err(Failure::usage(format!("two tasks have the same id: {}", doubled.join(", "))));
    }
    let (models, mut warnings) = cast::models(&checked.plan, args.wait.unwrap_or(0.0)).await?;
    let prompts = cast::prompts(&checked.plan)?;
    // Before the first child process: from here on an interrupt is answered, not died of.
    let stop = CancellationToken::new();
    interrupts(stop.clone());
    let sandbox = machine::sandbox(&selection.problems, args.sandbox()).await?;
    if args.calibrate_limits {
        selection.problems = if checked.plan.feedback.test_cpu_ms.is_some() {
            let note = |problem: &Arc<Problem>| Arc::new(uncalibrated(problem, FEEDBACK_DECIDES));
            selection.problems.iter().map(note).collect()
        } else {
            machine::calibrated(selection.problems, sandbox.as_ref(), &stop).await?
        };
    }
    let file = args.diagnoses.as_deref();
    let placebos =
        interventions::shuffled(&checked.plan, &prompts, &selection.problems, file, sandbox.as_ref(), &stop).await?;
    let planned = selection.problems.len() * args.samples() as usize;
    let options = TraceOptions::from_env(args.traces(), machine::variable).map_err(Failure::usage)?;
    let named = machine::variable("TRACEPARENT").filter(|context| !context.is_empty());
    if let Some(context) = named.filter(|_| options.projection.context.is_none()) {
        warnings.push(format!(
            "TRACEPARENT is `{context}`, which names no span (00-TRACE-SPAN-FLAGS): no trace is linked to it"
        ));
    }
    let traces = Arc::new(Traces::open(selection.run, options));
    for warning in &warnings {
        terminal::talk(&format!("warning: {warning}"));
    }
    introduce(&checked, &selection, planned, sandbox.isolation());
    let progress = Arc::new(Progress::new(planned));
    let SharedBudgets { run, arm, task } = checked.plan.shared;
    let budgets = Arc::new(RunBudget::new(run).arm(&selection.arm, arm, task));
    let company = Arc::new(Company {
        budgets: budgets.clone(),
        plan: Arc::new(checked.plan),
        models,
        prompts,
        sandbox,
        journal: Arc::new(MemoryJournal::default()),
        watch: None,
        observer: Arc::new(Watching::new(traces.clone(), progress.clone())),
        placebos,
        examples,
    });
    let started = Instant::now();
    let records: Rc<RefCell<Vec<ConversationRecord>>> = Rc::default();
    let done = {
        let (records, progress, traces, json) = (records.clone(), progress.clone(), traces.clone(), args.json);
        move |record: ConversationRecord| {
            progress.finished(&record);
            if json {
                terminal::json(&events::ConversationFinished::of(&record, &traces.path(record.head.id)));
            }
            records.borrow_mut().push(record);
        }
    };
    let result = run_all(company, &selection, stop.clone(), done).await;
    progress.close();
    let turned_away = budgets.turned_away();
    let mut records = records.take();
    sort(&mut records, &selection);
    let wall = started.elapsed();
    // People read the table while the last spans are sent; the last line of JSON says what became of them.
    if !args.json {
        terminal::data(&summary::table(&records, |record| traces.path(record.head.id).display().to_string()));
        let more = [summary::error_types(&records), summary::patches(&records), summary::in_doubt(&records)];
        for more in more.into_iter().flatten() {
            terminal::data(&more);
        }
        terminal::data(&format!("run {}, seed {}, {:.1} s", selection.run, selection.seed, wall.as_secs_f64()));
    }
    let delivered = deliver(traces).await;
    if args.json {
        let names = (selection.run.to_string(), selection.arm.clone(), selection.seed);
        terminal::json(&events::RunFinished::of(names, &records, (planned, &turned_away), wall, &delivered));
    }
    if let Some(words) = summary::turned_away(&turned_away, planned) {
        terminal::talk(&words);
    }
    if stop.is_cancelled() {
        terminal::talk(&format!("interrupted: {} of {planned} conversations were begun", records.len()));
    }
    result.map_err(|error| Failure { exit: Exit::Bug, message: error.to_string() })?;
    Ok(exit_of(&records, stop.is_cancelled()))
}

fn load(args: &RunArgs) -> Result<Checked, Failure> {
    let overrides = Overrides::new(&args.model, &args.budget, args.parallel_turns.as_deref(), &machine::variable)
        .with_prompts(args.prompts.as_deref())
        .with_shared_budgets(&args.run_budget, &args.arm_budget, &args.task_budget)
        .with_examples(args.examples.as_deref(), args.examples_benchmark.as_deref());
    load_plan(&TopologyRef(args.topology.clone()), &overrides, &model_capabilities).map_err(Failure::usage)
}

/// 53 bits: exact in every JSON reader.
fn draw_seed() -> u64 {
    // The lower half of a UUIDv7 is random.
    uuid::Uuid::now_v7().as_u64_pair().1 & ((1 << 53) - 1)
}

fn introduce(checked: &Checked, selection: &Selection, planned: usize, isolation: &crate::domain::Isolation) {
    let budget = &checked.plan.budget;
    let programs = budget.programs.map_or_else(|| "unlimited".to_owned(), |programs| programs.to_string());
    terminal::talk(&format!(
        "run {}: {} on {} tasks, {planned} conversations, {programs} programs each, seed {}, sandbox {}",
        selection.run,
        checked.plan.name,
        selection.problems.len(),
        selection.seed,
        isolation.backend,
    ));
    problems::tell_notes(&selection.problems);
}

/// The first interrupt ends the run cleanly, the second at once.
fn interrupts(stop: CancellationToken) {
    actix::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            terminal::talk("interrupted: ending open conversations (once more to leave at once)");
            stop.cancel();
            if tokio::signal::ctrl_c().await.is_ok() {
                std::process::exit(i32::from(Exit::Interrupted.code()));
            }
        }
    });
}

/// In the order of tasks and samples, whatever ended first.
fn sort(records: &mut [ConversationRecord], selection: &Selection) {
    let place = |record: &ConversationRecord| {
        let task = selection.problems.iter().position(|problem| problem.task.id == record.head.task);
        (task, record.head.sample)
    };
    records.sort_by_key(place);
}

/// Waits for the delivery of the spans, within its limit, and says what became of them.
async fn deliver(traces: Arc<Traces>) -> TraceSummary {
    let waiting = traces.clone();
    // The wait blocks its thread.
    let summary = tokio::task::spawn_blocking(move || waiting.finish(DELIVERY)).await;
    let summary = summary.unwrap_or_else(|_| traces.summary());
    if let Some(words) = summary.words() {
        terminal::talk(&words);
    }
    summary
}

fn exit_of(records: &[ConversationRecord], interrupted: bool) -> Exit {
    if records.iter().any(|record| record.end.refused) {
        Exit::Refused
    } else if interrupted {
        Exit::Interrupted
    } else if records.iter().any(|record| record.end.outcome == Outcome::Failed || record.end.infrastructure_error) {
        Exit::SomeFailed
    } else {
        Exit::Ended
    }
}
