//! `rolecall resume`: goes on with a run.

use std::fs;

use super::{
    args::ResumeArgs,
    bundle::command,
    exit::{Exit, Failure},
    keeping::RunFacts,
    run::{Beginning, run},
    store,
};
use crate::store::RunRow;

/// Carries out `rolecall resume`: the same command again, in the folder that it was given in.
///
/// # Errors
/// No such run; whatever is wrong with the files that the run was begun with by now.
pub async fn resume(args: ResumeArgs) -> Result<Exit, Failure> {
    let store = store::open_kept(&args.store)?;
    let row = match &args.run {
        Some(word) => store::find(&store, word)?,
        None => newest(store.runs()?)?,
    };
    let facts = RunFacts::of(&row)?;
    let folder = fs::canonicalize(store.folder()).map_err(Failure::store)?;
    facts.enter()?;
    let mut run_args = command(&facts.arguments)?;
    run_args.json = args.json;
    // Where a recorded run is asked again, that is read too; of a merged run, it need not be where the shards were.
    run_args.store.store = Some(folder);
    run_args.concurrency = args.concurrency.or(run_args.concurrency);
    run_args.stop_before = args.stop_before;
    run(run_args, Beginning::Again(store, Box::new(row))).await
}

fn newest(runs: Vec<RunRow>) -> Result<RunRow, Failure> {
    runs.into_iter().next().ok_or_else(|| Failure::usage("no run"))
}
