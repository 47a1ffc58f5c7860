//! `rolecall bundle`: a run as one file.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use clap::{Args, Parser};
use serde::Serialize;

use super::{
    args::{Cli, RunArgs, StoreArgs, Verb},
    carried::{Carried, HOME},
    exit::{Exit, Failure},
    keeping::RunFacts,
    prepared::{self, Prepared},
    replayed::Replayed,
    store::{find, open_kept},
    terminal,
};
use crate::{
    domain::{read_regular_file, with_files_read},
    evaluation::{
        bundle::{ArchiveError, Bundle, BundleError, BundledConversation, Input, hash},
        records::TaskRow,
    },
    store::RunState,
    topology::{ExampleSource, Plan},
};

/// The most bytes of a file of diagnoses.
const MOST_BYTES: u64 = 64 << 20;

/// Arguments of `bundle`.
#[derive(Args, Clone, Debug)]
pub struct BundleArgs {
    /// The run; the first digits of its id are enough where no other begins with them.
    pub run: String,
    /// The file to write [default: RUN.rolecall.tar.gz in the current folder].
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Put the files of public data sets into it as well: mind their licences.
    #[arg(long)]
    pub with_data: bool,
    #[command(flatten)]
    pub store: StoreArgs,
    /// JSON on stdout: one object, and nothing else.
    #[arg(long)]
    pub json: bool,
}

/// `event = "bundle"`
#[derive(Serialize)]
struct Written {
    event: &'static str,
    run: String,
    file: String,
    conversations: usize,
    files: usize,
    left_out: Vec<String>,
}

impl From<ArchiveError> for Failure {
    fn from(error: ArchiveError) -> Self {
        Self::usage(error)
    }
}

impl From<BundleError> for Failure {
    fn from(error: BundleError) -> Self {
        match error {
            BundleError::Store(error) => error.into(),
            error => Self::usage(error),
        }
    }
}

/// Carries out `rolecall bundle`.
///
/// # Errors
/// No such run; one that has not ended, or is a shard; files that have changed since; a file that cannot be written.
pub fn bundle(args: &BundleArgs) -> Result<Exit, Failure> {
    let store = open_kept(&args.store)?;
    let row = find(&store, &args.run)?;
    let facts = RunFacts::of(&row)?;
    if row.state != RunState::Ended || store.is_running(&row.run) {
        let hint = format!("hint: rolecall resume {}", row.run);
        return Err(Failure::usage(format!("run {} has not ended\n  {hint}", row.run)));
    }
    if facts.shard.is_some() {
        return Err(Failure::usage(format!(
            "run {} is a shard\n  hint: rolecall merge makes one run of all shards",
            row.run
        )));
    }
    let out = args.out.clone().unwrap_or_else(|| format!("{}.rolecall.tar.gz", row.run).into());
    let out = std::path::absolute(&out).map_err(|error| Failure::usage(format!("{}: {error}", out.display())))?;
    let store_folder = std::path::absolute(store.folder()).map_err(Failure::store)?;
    facts.enter()?;
    let (read, files) = with_files_read(|| Read::again(&facts, &store_folder));
    let Read { tasks, plan, run_args } = read?;
    let carried = Carried::new(&facts.folder, &facts.arguments, files.keys());
    let data = data_sets(&run_args, &plan);
    let is_data = |path: &Path| data.iter().any(|folder| carried.absolute(path).starts_with(carried.absolute(folder)));
    let (mut inputs, mut included, mut left_out) = (Vec::new(), BTreeMap::new(), Vec::new());
    for (path, bytes) in &files {
        let Some(name) = carried.name(path) else {
            return Err(Failure::usage(format!(
                "{} was read by the run, and stands neither below the folder that it was begun in nor below what its command \
                 names: it cannot be put into a bundle",
                path.display()
            )));
        };
        let takes = args.with_data || !is_data(path);
        inputs.push(Input { name: name.clone(), hash: hash(bytes), included: takes });
        match takes {
            true => drop(included.insert(name, bytes.clone())),
            false => left_out.push(path.display().to_string()),
        }
    }
    inputs.sort_by(|a, b| a.name.cmp(&b.name));
    let own = RunFacts { folder: HOME.into(), arguments: carried.arguments(&facts.arguments), ..facts };
    let bundle = Bundle {
        run: row.run.clone(),
        begun_ns: row.begun_ns,
        facts: serde_json::to_value(&own).map_err(Failure::store)?,
        folder: HOME.to_owned(),
        inputs,
        tasks,
        conversations: BundledConversation::of_run(&store, &row.run)?,
        files: included,
        altered: Vec::new(),
    };
    bundle.pack()?.write(&out)?;
    let (conversations, count) = (bundle.conversations.len(), bundle.files.len());
    if args.json {
        let file = out.display().to_string();
        terminal::json(&Written { event: "bundle", run: row.run, file, conversations, files: count, left_out });
    } else {
        if !left_out.is_empty() {
            let list = left_out.join(", ");
            terminal::talk(&format!(
                "left out, since it belongs to a public data set: {list} (--with-data puts it in)"
            ));
        }
        terminal::data(&format!("{}: {conversations} conversations, {count} files", out.display()));
    }
    Ok(Exit::Ended)
}

/// What the run's command names, read again.
struct Read {
    tasks: Vec<TaskRow>,
    plan: Plan,
    run_args: RunArgs,
}

impl Read {
    fn again(facts: &RunFacts, store: &Path) -> Result<Self, Failure> {
        let mut run_args = command(&facts.arguments)?;
        // A run that replays another one finds it where it was found before.
        run_args.store = StoreArgs { store: Some(store.to_path_buf()) };
        let replayed = Replayed::asked_for(&run_args)?;
        let checked = prepared::load(&run_args, replayed.as_ref())?;
        prepared::refuse_endpoints(&checked.plan)?;
        let Prepared { undertaking, .. } = Prepared::of(&run_args, &checked, replayed.as_ref())?;
        if let Some(changed) = facts.changed(&undertaking.parts) {
            return Err(Failure::usage(format!(
                "{changed} changed since the run was begun: it cannot be made again from that"
            )));
        }
        if let Some(file) = &run_args.diagnoses {
            read_regular_file(file, MOST_BYTES)
                .map_err(|error| Failure::usage(format!("{}: {error}", file.display())))?;
        }
        Ok(Self { tasks: undertaking.groundwork.tasks, plan: checked.plan, run_args })
    }
}

/// The command of a run, parsed again.
///
/// # Errors
/// One that this version does not understand any more.
pub fn command(arguments: &[String]) -> Result<RunArgs, Failure> {
    let cli = Cli::try_parse_from(arguments)
        .map_err(|error| Failure::usage(format!("the run's own command is not understood any more: {error}")))?;
    match cli.verb {
        Verb::Run(args) => Ok(*args),
        _ => Err(Failure::usage("the run was begun by another command")),
    }
}

/// Where public data sets were read from.
fn data_sets(args: &RunArgs, plan: &Plan) -> Vec<PathBuf> {
    let examples = match &plan.examples.source {
        Some(ExampleSource::Benchmark { path, .. }) => path.clone(),
        _ => None,
    };
    args.data.path.iter().cloned().chain(examples).collect()
}
