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
    cast, events,
    exit::{Exit, Failure},
    explain, interventions,
    keeping::Keeping,
    machine,
    prepared::{self, Prepared},
    problems,
    progress::Progress,
    replayed::Replayed,
    sharding::{self, ShardFacts},
    signals::Stop,
    store, summary, terminal,
    watching::Watching,
};
use crate::{
    budget::RunBudget,
    conversation::{Company, ConversationRecord, HoldError, Outcome},
    domain::Problem,
    evaluation::{RunError, Selection, run_all, uncalibrated},
    ids::RunId,
    store::{RunRow, Store},
    telemetry::{Metrics, MetricsOptions, TraceOptions, TraceSummary, Traces},
    topology::{Checked, SharedBudgets},
};

/// How long the end of a run waits for its traces to be delivered.
const DELIVERY: Duration = Duration::from_secs(15);

/// Why `--calibrate-limits` changes nothing where the arrangement sets the limit.
const FEEDBACK_DECIDES: &str = "`[feedback] test_cpu_ms` of the arrangement decides";

/// Which run a command is to be.
pub enum Beginning {
    /// A new one.
    New,
    /// The newest of the same command, where that was interrupted; else a new one.
    Either,
    /// This one.
    Again(Arc<Store>, Box<RunRow>),
}

/// Carries out `rolecall run`.
///
/// # Errors
/// Everything that is wrong is found before anything starts: arrangement, tasks, models, machine.
pub async fn run(args: RunArgs, beginning: Beginning) -> Result<Exit, Failure> {
    let replayed = Replayed::asked_for(&args)?;
    let checked = prepared::load(&args, replayed.as_ref())?;
    sharding::refuse_what_cannot_be_shared_out(&args, &checked.plan.shared)?;
    if args.explain {
        explain::print(&args, &checked);
        return Ok(Exit::Ended);
    }
    let Prepared { problems, examples, undertaking } = Prepared::of(&args, &checked, replayed.as_ref())?;
    let store = match &beginning {
        Beginning::Again(..) => None,
        Beginning::New | Beginning::Either => store::open(&args.store)?,
    };
    let beginning = if args.new && matches!(beginning, Beginning::Either) { Beginning::New } else { beginning };
    let mut selection = Selection {
        run: RunId::default(),
        arm: checked.plan.name.clone(),
        problems,
        samples: args.samples(),
        shard: args.shard,
        seed: 0,
        concurrency: args.concurrency.map_or_else(|| machine::cores() * 4, |number| number as usize),
        stop_before: args.stop_before.map(|secs| Instant::now() + Duration::from_secs_f64(secs)),
    };
    let doubled = selection.doubled_ids();
    if !doubled.is_empty() {
        return Err(Failure::usage(format!("two tasks have the same id: {}", doubled.join(", "))));
    }
    let mut keeping = Keeping::begin(store, beginning, undertaking).await?;
    (selection.run, selection.seed) = (keeping.run, keeping.seed);
    let planned = keeping.planned;
    let (models, mut warnings) = match &replayed {
        Some(replayed) => (replayed.models(&checked.plan)?, Vec::new()),
        None => cast::models(&checked.plan, args.wait.unwrap_or(0.0)).await?,
    };
    keeping.models(&checked.plan, &models).await?;
    let prompts = cast::prompts(&checked.plan)?;
    // Before the first child process: from here on an interrupt is answered, not died of.
    let stop = Stop::listen();
    if let Some(secs) = args.stop_before {
        stop.after(secs);
    }
    let sandbox = machine::sandbox(&selection.problems, args.sandbox()).await?;
    keeping.keep_tools(sandbox.tools()).await?;
    if args.calibrate_limits {
        selection.problems = if checked.plan.feedback.test_cpu_ms.is_some() {
            let note = |problem: &Arc<Problem>| Arc::new(uncalibrated(problem, FEEDBACK_DECIDES));
            selection.problems.iter().map(note).collect()
        } else if let Some(measured) = keeping.measured(&selection.problems) {
            measured
        } else {
            let measured = machine::calibrated(selection.problems, sandbox.as_ref(), stop.token()).await?;
            keeping.keep_measured(&measured).await?;
            measured
        };
    }
    let file = args.diagnoses.as_deref();
    let placebos =
        interventions::shuffled(&checked.plan, &prompts, &selection.problems, file, sandbox.as_ref(), stop.token())
            .await?;
    let options = TraceOptions::from_env(args.traces(), machine::variable).map_err(Failure::usage)?;
    warnings.extend(options.warnings.iter().cloned());
    let named = machine::variable("TRACEPARENT").filter(|context| !context.is_empty());
    if let Some(context) = named.filter(|_| options.projection.context.is_none()) {
        warnings.push(format!(
            "TRACEPARENT is `{context}`, which names no span (00-TRACE-SPAN-FLAGS): no trace is linked to it"
        ));
    }
    let metrics = MetricsOptions::from_env(machine::variable).map_err(Failure::usage)?;
    let metrics = metrics.map(|metrics| Metrics::open(selection.run, metrics, &options.namespace, &options.resource));
    let metrics = metrics.map(Arc::new);
    let traces = Arc::new(Traces::open(selection.run, options));
    for warning in &warnings {
        terminal::talk(&format!("warning: {warning}"));
    }
    introduce(&checked, &selection, &keeping, sandbox.isolation());
    let progress = Arc::new(Progress::new(planned));
    let broken = CancellationToken::new();
    stop_when_broken(&broken, &stop);
    let SharedBudgets { run, arm, task } = checked.plan.shared;
    let budgets = Arc::new(RunBudget::new(run).arm(&selection.arm, arm, task));
    let company = Arc::new(Company {
        budgets: budgets.clone(),
        plan: Arc::new(checked.plan),
        models,
        prompts,
        sandbox,
        journal: keeping.journal(args.cache.into(), &broken),
        watch: None,
        observer: Arc::new(Watching::new(traces.clone(), progress.clone(), metrics.clone())),
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
    let result = run_all(company, &selection, stop.token().clone(), done).await;
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
        terminal::data(&format!("run {}, seed {}, {:.1} s", keeping.name(), selection.seed, wall.as_secs_f64()));
    }
    let delivered = deliver(traces, metrics).await;
    if args.json {
        let names = (keeping.name(), selection.arm.clone(), selection.seed);
        let finished = events::RunFinished::of(names, &records, (planned, &turned_away), wall, &delivered);
        terminal::json(&finished.of_shard(keeping.shard()));
    }
    if let Some(words) = summary::turned_away(&turned_away, planned) {
        terminal::talk(&words);
    }
    let ended = records.iter().filter(|record| record.end.outcome != Outcome::Cancelled).count();
    // Those that were turned away will not be held another time either.
    let to_hold = planned - turned_away.len();
    if ended < to_hold {
        let resume = keeping.folder().map(|_| format!("; go on with: rolecall resume {}", keeping.name()));
        terminal::talk(&format!(
            "{ended} of {planned} conversations have ended, {} were begun{}",
            records.len(),
            resume.unwrap_or_default()
        ));
    }
    if let Some(error) = keeping.failure() {
        return Err(error.into());
    }
    result.map_err(|error| match error {
        RunError::Hold(HoldError::Journal(error)) => Failure::store(error),
        other => Failure { exit: Exit::Bug, message: other.to_string() },
    })?;
    keeping.end(ended == to_hold).await?;
    let exit = exit_of(&records, to_hold, stop.reason());
    let is_delivered = delivered.lost == 0 && delivered.refused == 0 && delivered.waiting() == 0;
    Ok(if args.trace_strict && !is_delivered && exit == Exit::Ended { Exit::SomeFailed } else { exit })
}

/// A store that cannot be written ends the run: nothing may be bought that is not kept.
fn stop_when_broken(broken: &CancellationToken, stop: &Stop) {
    let (broken, stop) = (broken.clone(), stop.clone());
    actix::spawn(async move {
        broken.cancelled().await;
        stop.because(Exit::Store);
    });
}

fn introduce(checked: &Checked, selection: &Selection, keeping: &Keeping, isolation: &crate::domain::Isolation) {
    let shard = keeping.shard().map(|ShardFacts { shard, of, .. }| format!(", shard {shard} of run {of}"));
    let budget = &checked.plan.budget;
    let programs = budget.programs.map_or_else(|| "unlimited".to_owned(), |programs| programs.to_string());
    terminal::talk(&format!(
        "run {}{}: {} on {} tasks, {} conversations, {programs} programs each, seed {}, sandbox {}",
        keeping.name(),
        shard.unwrap_or_default(),
        checked.plan.name,
        selection.problems.len(),
        keeping.planned,
        selection.seed,
        isolation.backend,
    ));
    problems::tell_notes(&selection.problems);
}

/// In the order of tasks and samples, whatever ended first.
fn sort(records: &mut [ConversationRecord], selection: &Selection) {
    let place = |record: &ConversationRecord| {
        let task = selection.problems.iter().position(|problem| problem.task.id == record.head.task);
        (task, record.head.sample)
    };
    records.sort_by_key(place);
}

/// Waits for the delivery of spans and metrics, within its limit, and says what became of them.
async fn deliver(traces: Arc<Traces>, metrics: Option<Arc<Metrics>>) -> TraceSummary {
    let waiting = traces.clone();
    let until = Instant::now() + DELIVERY;
    // The wait blocks its thread.
    let waited = tokio::task::spawn_blocking(move || {
        let summary = waiting.finish(DELIVERY);
        let left = until.saturating_duration_since(Instant::now());
        let lost = metrics.and_then(|metrics| metrics.finish(&summary, left));
        (summary, lost)
    });
    let (summary, lost) = waited.await.unwrap_or_else(|_| (traces.summary(), None));
    for words in summary.words().into_iter().chain(lost) {
        terminal::talk(&words);
    }
    summary
}

fn exit_of(records: &[ConversationRecord], to_hold: usize, stopped: Option<Exit>) -> Exit {
    if records.iter().any(|record| record.end.refused) {
        Exit::Refused
    } else if let Some(reason) = stopped {
        reason
    } else if records.len() < to_hold {
        Exit::Parked
    } else if records.iter().any(|record| record.end.outcome == Outcome::Failed || record.end.infrastructure_error) {
        Exit::SomeFailed
    } else {
        Exit::Ended
    }
}
