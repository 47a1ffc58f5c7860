//! `rolecall merge`: the shards of a run become one run.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::PathBuf,
};

use clap::Args;
use serde::Serialize;

use super::{
    args::StoreArgs,
    exit::{Exit, Failure},
    keeping::{RunFacts, plan_of},
    sharding::{ShardFacts, shards_of},
    store::open_kept,
    terminal,
};
use crate::{
    ids::RunId,
    store::{Merged, Part, RunRow, RunState, Source, Store, StoreError},
};

/// Parts that a message lists before it counts the rest.
const LISTED: usize = 8;

/// Arguments of `merge`.
#[derive(Args, Clone, Debug)]
pub struct MergeArgs {
    /// The stores that the shards are in: folders, or the files in them. They are only read.
    #[arg(value_name = "STORE", required = true)]
    pub sources: Vec<PathBuf>,
    /// Where there are shards of several runs: the run that is meant, by its id or the first digits of it.
    #[arg(long, value_name = "RUN")]
    pub run: Option<String>,
    /// Take what there is where shards are missing or have not ended; the run can be resumed, or merged again later.
    #[arg(long)]
    pub partial: bool,
    #[command(flatten)]
    pub store: StoreArgs,
    /// One JSON object on stdout, and nothing else.
    #[arg(long)]
    pub json: bool,
}

/// A shard and where it is.
struct Found {
    source: usize,
    row: RunRow,
    facts: RunFacts,
    shard: ShardFacts,
}

/// `event = "merged"`.
#[derive(Clone, Debug, Serialize)]
struct MergedRun {
    event: &'static str,
    run: String,
    shards: u32,
    missing: Vec<String>,
    planned: usize,
    ended: usize,
    added: usize,
    advanced: usize,
    known: usize,
    store: String,
}

/// Carries out `rolecall merge`: everything in one commit, or nothing.
///
/// # Errors
/// Stores without shards, shards of several runs, of different versions or models, the same shard twice, conversations that
/// were held twice; shards that are missing or have not ended, without `--partial`; a store.
pub async fn merge(args: MergeArgs) -> Result<Exit, Failure> {
    let sources = open_all(&args.sources)?;
    let found = only_one_run(find_all(&sources)?, args.run.as_deref(), &sources)?;
    let one = found.values().next().ok_or_else(|| Failure::usage("no store to merge"))?;
    see_that_they_agree(one, &found, &sources)?;
    let incomplete = incomplete(&one.shard, &found, &sources)?;
    if !incomplete.is_empty() && !args.partial {
        return Err(Failure {
            exit: Exit::Parked,
            message: format!(
                "run {} is not complete, and nothing was merged: {}\n  hint: run or resume these shards, or take what there is \
                 with --partial",
                one.shard.of,
                listed(&incomplete)
            ),
        });
    }
    let target = open_kept(&args.store)?;
    let (run, planned, shards) = (one.shard.of, one.shard.planned, one.shard.shard.of());
    refuse_target(&target, &sources, run)?;
    let Some(_lock) = target.hold_run(&run.to_string())? else {
        return Err(Failure::usage(format!("run {run} goes on in another process")));
    };
    let row = match target.run(&run.to_string())? {
        Some(row) => row,
        None => whole(&found, run, planned)?,
    };
    let merged = target.merge(row, planned, parts(sources, &found)).await.map_err(|error| match error {
        StoreError::Contrary { .. } => Failure::usage(error),
        error => error.into(),
    })?;
    tell(&args, &target, (run, planned, shards), &incomplete, merged);
    Ok(Exit::Ended)
}

/// Each store once, however often it was named.
fn open_all(paths: &[PathBuf]) -> Result<Vec<Source>, Failure> {
    let mut sources: Vec<Source> = Vec::new();
    for path in paths {
        let source = Source::open(path).map_err(|error| match error {
            StoreError::Unreadable(..) => Failure::usage(error),
            error => error.into(),
        })?;
        if sources.iter().all(|other| other.file() != source.file()) {
            sources.push(source);
        }
    }
    Ok(sources)
}

fn find_all(sources: &[Source]) -> Result<Vec<Found>, Failure> {
    let mut all = Vec::new();
    for (source, from) in sources.iter().enumerate() {
        for (row, shard) in shards_of(from.runs()?)? {
            all.push(Found { source, facts: RunFacts::of(&row)?, row, shard });
        }
    }
    Ok(all)
}

/// The shards of the run that is meant, each once, by their numbers.
fn only_one_run(all: Vec<Found>, run: Option<&str>, sources: &[Source]) -> Result<BTreeMap<u32, Found>, Failure> {
    let word = run.unwrap_or_default().to_ascii_lowercase();
    let runs: BTreeSet<RunId> = all.iter().map(|found| found.shard.of).collect();
    let meant: Vec<RunId> = runs.into_iter().filter(|run| run.to_string().starts_with(&word)).collect();
    let of_run = |of: Option<&RunId>| of.map_or_else(|| "a run".to_owned(), |of| format!("run {of}"));
    if let [_, _, ..] = meant.as_slice() {
        let runs: Vec<String> = meant.iter().map(ToString::to_string).collect();
        return Err(Failure::usage(format!(
            "there are shards of {} runs: {}\n  hint: name the one that is meant: --run RUN",
            runs.len(),
            listed(&runs)
        )));
    }
    let mut found: BTreeMap<u32, Found> = BTreeMap::new();
    for one in all.into_iter().filter(|one| meant.contains(&one.shard.of)) {
        if let Some(other) = found.get(&one.shard.shard.number()) {
            let (a, b) = (sources[other.source].file().display(), sources[one.source].file().display());
            let (this, that) = (one.shard.shard, other.shard.shard);
            return Err(Failure::usage(if this == that {
                format!("shard {this} is there twice: in {a} and in {b}")
            } else {
                divided_twice(other, &one, sources)
            }));
        }
        found.insert(one.shard.shard.number(), one);
    }
    let without = sources.iter().enumerate().find(|(index, _)| found.values().all(|one| one.source != *index));
    match without {
        Some((_, source)) => {
            let named =
                if meant.is_empty() && !word.is_empty() { format!("run {word}") } else { of_run(meant.first()) };
            Err(Failure::usage(format!("{} has no shard of {named}", source.file().display())))
        }
        None => Ok(found),
    }
}

fn divided_twice(a: &Found, b: &Found, sources: &[Source]) -> String {
    format!(
        "shard {} in {} and shard {} in {} do not fit: the run was divided twice",
        a.shard.shard,
        sources[a.source].file().display(),
        b.shard.shard,
        sources[b.source].file().display()
    )
}

/// All must be divided alike, and held by the same code with the same models.
fn see_that_they_agree(one: &Found, found: &BTreeMap<u32, Found>, sources: &[Source]) -> Result<(), Failure> {
    for other in found.values() {
        if other.shard.shard.of() != one.shard.shard.of() {
            return Err(Failure::usage(divided_twice(one, other, sources)));
        }
        let what = if other.facts.code_version != one.facts.code_version {
            format!("rolecall {} held the one and {} the other", one.facts.code_version, other.facts.code_version)
        // One that was killed before it knew its models has held nothing.
        } else if !one.facts.models.is_empty()
            && !other.facts.models.is_empty()
            && one.facts.models != other.facts.models
        {
            let differ = |(actor, model): &(_, _)| one.facts.models.get(*actor) != Some(*model);
            let actor =
                other.facts.models.iter().find(differ).map_or_else(String::new, |(actor, _)| format!(" of {actor}"));
            format!("the model{actor} is configured otherwise")
        } else {
            continue;
        };
        return Err(Failure::usage(format!("shards {} and {} do not fit: {what}", one.shard.shard, other.shard.shard)));
    }
    Ok(())
}

/// What is missing of the run, in words.
fn incomplete(one: &ShardFacts, found: &BTreeMap<u32, Found>, sources: &[Source]) -> Result<Vec<String>, Failure> {
    let of = one.shard.of();
    let mut words = Vec::new();
    for number in 1..=of {
        let Some(one) = found.get(&number) else {
            words.push(format!("shard {number}/{of} is missing"));
            continue;
        };
        let source = &sources[one.source];
        if source.is_running(&one.row.run) {
            return Err(Failure {
                exit: Exit::Parked,
                message: format!(
                    "shard {number}/{of} goes on in another process, and nothing was merged: {}",
                    one.row.run
                ),
            });
        }
        let ended = source.conversations(&one.row.run)?.iter().filter(|(_, ended)| *ended).count();
        if one.row.state != RunState::Ended || ended < one.facts.planned {
            words.push(format!("shard {number}/{of} has ended {ended} of {} conversations", one.facts.planned));
        }
    }
    Ok(words)
}

/// What is written to must not be what is read, and the shards' own conversations must not be there.
fn refuse_target(target: &Store, sources: &[Source], run: RunId) -> Result<(), Failure> {
    let file = fs::canonicalize(target.file()).unwrap_or_else(|_| target.file().to_path_buf());
    let is_source = sources.iter().any(|source| source.file() == file);
    if is_source || shards_of(target.runs()?)?.iter().any(|(_, shard)| shard.of == run) {
        return Err(Failure::usage(format!(
            "the store {} has shards of run {run}, and stays as it is\n  hint: merge into another store with --store DIR",
            target.folder().display()
        )));
    }
    Ok(())
}

/// The run that all shards make up, as one that was begun in one piece.
fn whole(found: &BTreeMap<u32, Found>, run: RunId, planned: usize) -> Result<RunRow, Failure> {
    let knows_models = |one: &&Found| !one.facts.models.is_empty();
    let one = found.values().find(knows_models).or_else(|| found.values().next());
    let one = one.ok_or_else(|| Failure::usage("no shard"))?;
    let arguments = without_options(&one.facts.arguments, &["--shard", "--run-name"]);
    let facts = RunFacts { planned, arguments, shard: None, ..one.facts.clone() };
    Ok(RunRow {
        run: run.to_string(),
        plan: plan_of(&facts.parts, Some(facts.seed)),
        begun_ns: found.values().map(|one| one.row.begun_ns).min().unwrap_or_default(),
        state: RunState::Parked,
        facts: serde_json::to_value(&facts).map_err(Failure::store)?,
    })
}

fn without_options(arguments: &[String], options: &[&str]) -> Vec<String> {
    let mut left = Vec::new();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        if options.contains(&argument.as_str()) {
            arguments.next();
        } else if !options.iter().any(|option| argument.strip_prefix(option).is_some_and(|rest| rest.starts_with('=')))
        {
            left.push(argument.clone());
        }
    }
    left
}

fn parts(sources: Vec<Source>, found: &BTreeMap<u32, Found>) -> Vec<Part> {
    let runs = |index: usize| found.values().filter(move |one| one.source == index).map(|one| one.row.run.clone());
    sources.into_iter().enumerate().map(|(index, source)| Part { source, runs: runs(index).collect() }).collect()
}

fn tell(
    args: &MergeArgs,
    target: &Store,
    (run, planned, shards): (RunId, usize, u32),
    incomplete: &[String],
    merged: Merged,
) {
    let Merged { added, advanced, known, ended } = merged;
    for words in incomplete {
        terminal::talk(&format!("warning: {words}"));
    }
    if args.json {
        let (event, run, missing) = ("merged", run.to_string(), incomplete.to_vec());
        let store = fs::canonicalize(target.folder()).unwrap_or_else(|_| target.folder().to_path_buf());
        let store = store.display().to_string();
        terminal::json(&MergedRun { event, run, shards, missing, planned, ended, added, advanced, known, store });
        return;
    }
    terminal::data(&format!(
        "run {run}: {ended} of {planned} conversations of {shards} shards have ended, in {}: {added} added, {advanced} \
         advanced, {known} there before",
        target.folder().display()
    ));
}

fn listed(words: &[String]) -> String {
    let listed = words.iter().take(LISTED).cloned().collect::<Vec<_>>().join(", ");
    if words.len() > LISTED { format!("{listed} and {} more", words.len() - LISTED) } else { listed }
}

#[cfg(test)]
mod tests {
    use super::{listed, without_options};

    #[test]
    fn the_whole_runs_command_is_the_shards_without_its_part() {
        let of = |words: &str| {
            let words: Vec<String> = words.split(' ').map(ToOwned::to_owned).collect();
            without_options(&words, &["--shard", "--run-name"]).join(" ")
        };
        assert_eq!(of("rolecall run --shard 1/3 --seed 1 --run-name a"), "rolecall run --seed 1");
        assert_eq!(of("rolecall run --shard=1/3 --run-name=--shard --shards 2"), "rolecall run --shards 2");
    }

    #[test]
    fn a_long_list_is_counted() {
        let words: Vec<String> = (0..10).map(|number| number.to_string()).collect();
        assert_eq!(listed(&words), "0, 1, 2, 3, 4, 5, 6, 7 and 2 more");
        assert_eq!(listed(&words[..2]), "0, 1");
    }
}
