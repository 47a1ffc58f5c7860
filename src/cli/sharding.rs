//! What a run that is held in parts is, and what cannot be held in parts.

use serde::{Deserialize, Serialize};

use super::{args::RunArgs, exit::Failure, keeping::RunFacts};
use crate::{
    budget::SharedLimits,
    evaluation::Shard,
    ids::RunId,
    store::{RunRow, Store},
    topology::SharedBudgets,
};

/// The part of a run that a command asks for.
#[derive(Clone, Debug)]
pub struct ShardAsked {
    /// Which part.
    pub shard: Shard,
    /// What tells this run from others that do the same.
    pub name: String,
}

/// What a shard is part of, as its run keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardFacts {
    /// Which part.
    pub shard: Shard,
    /// The run that all parts make up: conversations are named by it, wherever they are held.
    pub of: RunId,
    /// Conversations of that run.
    pub planned: usize,
}

impl ShardAsked {
    /// What the command asks for, if it does.
    pub fn of(args: &RunArgs) -> Option<Self> {
        Some(Self { shard: args.shard?, name: args.run_name.clone().unwrap_or_default() })
    }

    /// The part of the run that `plan` is, which holds `planned` conversations as a whole.
    pub fn facts(&self, plan: &str, planned: usize) -> ShardFacts {
        ShardFacts { shard: self.shard, of: RunId::of_shards(plan, &self.name), planned }
    }
}

impl ShardFacts {
    /// The id that it is kept by.
    pub fn run(&self) -> RunId {
        self.of.shard(&self.shard.to_string())
    }
}

/// Refuses a shard of what cannot be held in parts.
///
/// # Errors
/// No seed; limits that each part would measure for itself; budgets that conversations share.
pub fn refuse_what_cannot_be_shared_out(args: &RunArgs, shared: &SharedBudgets) -> Result<(), Failure> {
    let Some(shard) = args.shard else { return Ok(()) };
    if args.seed.is_none() {
        return Err(Failure::usage(format!(
            "--shard {shard} needs --seed: each shard would draw another\n  hint: give all shards the same, as --seed 1"
        )));
    }
    if args.calibrate_limits {
        return Err(Failure::usage(format!(
            "--shard {shard} and --calibrate-limits: each shard would measure other limits\n  hint: set `test_cpu_ms` in the \
             arrangement's `[feedback]`"
        )));
    }
    let budgets = [("run", &shared.run), ("arm", &shared.arm), ("task", &shared.task)];
    let limited = budgets.into_iter().find(|(_, limits)| **limits != SharedLimits::default());
    if let Some((level, _)) = limited {
        return Err(Failure::usage(format!(
            "--shard {shard} and [{level}.budget] (--{level}-budget): no shard knows what the others spend\n  hint: limit each \
             conversation ([budget], --budget) or actor ([actors.NAME.budget]) instead"
        )));
    }
    Ok(())
}

/// A shard cannot be where another division of the same run is, or where the run is as a whole: its conversations are there.
///
/// # Errors
/// It is; the store.
pub fn refuse_where_it_cannot_be(store: &Store, facts: &ShardFacts) -> Result<(), Failure> {
    let whole = facts.of.to_string();
    if store.run(&whole)?.is_some() {
        return Err(Failure::usage(format!(
            "shards of run {whole} have been merged in the store {}\n  hint: go on with it: rolecall resume {whole}; or keep \
             shards in another store, or name another run with --run-name",
            store.folder().display()
        )));
    }
    match shards_of(store.runs()?)?.into_iter().find(|(_, other)| other.divides_otherwise(facts)) {
        Some((row, other)) => Err(Failure::usage(format!(
            "the store {} has shard {} of the same run, and a run is divided once\n  hint: keep shard {} in another store, name \
             another run with --run-name, or remove that one: rolecall runs remove {}",
            store.folder().display(),
            other.shard,
            facts.shard,
            row.run
        ))),
        None => Ok(()),
    }
}

impl ShardFacts {
    fn divides_otherwise(&self, other: &Self) -> bool {
        self.of == other.of && self.shard.of() != other.shard.of()
    }
}

/// Those of some runs that are shards.
///
/// # Errors
/// A row that does not read.
pub fn shards_of(rows: Vec<RunRow>) -> Result<Vec<(RunRow, ShardFacts)>, Failure> {
    let mut shards = Vec::new();
    for row in rows {
        if let Some(shard) = RunFacts::of(&row)?.shard {
            shards.push((row, shard));
        }
    }
    Ok(shards)
}
