//! `rolecall runs`: the runs that the store keeps.

use std::collections::BTreeMap;

use comfy_table::{ContentArrangement, Table, presets::NOTHING};
use serde::Serialize;

use super::{
    args::RunsVerb,
    exit::{Exit, Failure},
    keeping::{RunFacts, SeatedModel},
    store::{find, open_kept},
    terminal,
};
use crate::{
    evaluation::Shard,
    ids::{ActorName, RunId},
    store::{RunRow, RunState, Store},
};

/// `event = "run"`: one run of the store.
#[derive(Clone, Debug, Serialize)]
struct KeptRun {
    event: &'static str,
    run: String,
    state: &'static str,
    shard: Option<Shard>,
    shard_of: Option<RunId>,
    topology: String,
    seed: u64,
    planned: usize,
    begun: usize,
    ended: usize,
    begun_ns: u64,
    code_version: String,
    folder: String,
    arguments: Vec<String>,
    models: BTreeMap<ActorName, SeatedModel>,
}

impl KeptRun {
    fn of(store: &Store, row: &RunRow) -> Result<Self, Failure> {
        let facts = RunFacts::of(row)?;
        let conversations = store.conversations(&row.run)?;
        Ok(Self {
            event: "run",
            run: row.run.clone(),
            state: state(store, row),
            shard: facts.shard.as_ref().map(|facts| facts.shard),
            shard_of: facts.shard.as_ref().map(|facts| facts.of),
            topology: facts.topology,
            seed: facts.seed,
            planned: facts.planned,
            begun: conversations.len(),
            ended: conversations.iter().filter(|(_, ended)| *ended).count(),
            begun_ns: row.begun_ns,
            code_version: facts.code_version,
            folder: facts.folder.display().to_string(),
            arguments: facts.arguments,
            models: facts.models,
        })
    }
}

/// `running`, `ended`, `parked`, or `interrupted` where its process is gone.
fn state(store: &Store, row: &RunRow) -> &'static str {
    match row.state {
        RunState::Ended => "ended",
        _ if store.is_running(&row.run) => "running",
        RunState::Parked => "parked",
        RunState::Begun => "interrupted",
    }
}

/// Carries out `rolecall runs`.
///
/// # Errors
/// No such run; a run that goes on and is to be removed; the store.
pub async fn runs(verb: RunsVerb) -> Result<Exit, Failure> {
    match verb {
        RunsVerb::List { store, json } => {
            let store = open_kept(&store)?;
            let rows = store.runs()?;
            let runs = rows.iter().map(|row| KeptRun::of(&store, row)).collect::<Result<Vec<_>, _>>()?;
            if json {
                runs.iter().for_each(terminal::json);
            } else if runs.is_empty() {
                terminal::talk(&format!("no run in {}", store.folder().display()));
            } else {
                terminal::data(&table(&runs));
            }
        }
        RunsVerb::Show { run, store, json } => {
            let store = open_kept(&store)?;
            let run = KeptRun::of(&store, &find(&store, &run)?)?;
            if json {
                terminal::json(&run);
            } else {
                let KeptRun {
                    run: id,
                    state,
                    shard: run_shard,
                    shard_of,
                    topology,
                    seed,
                    planned,
                    begun,
                    ended,
                    folder,
                    arguments,
                    ..
                } = &run;
                terminal::data(&format!("run {id}: {state}\n{topology}, seed {seed}"));
                if let (Some(shard), Some(of)) = (run_shard, shard_of) {
                    terminal::data(&format!("shard {shard} of run {of}"));
                }
                terminal::data(&format!("{planned} conversations planned, {begun} begun, {ended} ended"));
                terminal::data(&format!("in {folder}: {}", arguments.join(" ")));
                for (actor, model) in &run.models {
                    let versions: Vec<&str> =
                        model.servers.iter().filter_map(|server| server.version.as_deref()).collect();
                    let version =
                        if versions.is_empty() { String::new() } else { format!(" ({})", versions.join(", ")) };
                    terminal::data(&format!("{actor}: {}{version}", model.name));
                }
            }
        }
        RunsVerb::Remove { runs, store } => {
            let store = open_kept(&store)?;
            let rows = runs.iter().map(|run| find(&store, run)).collect::<Result<Vec<_>, _>>()?;
            if let Some(row) = rows.iter().find(|row| store.is_running(&row.run)) {
                return Err(Failure::usage(format!("run {} goes on; it cannot be removed", row.run)));
            }
            for row in rows {
                store.remove_run(&row.run).await?;
                terminal::talk(&format!("run {} is removed", row.run));
            }
        }
    }
    Ok(Exit::Ended)
}

fn table(runs: &[KeptRun]) -> String {
    let mut table = Table::new();
    table.load_preset(NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(["run", "state", "arrangement", "seed", "ended"]);
    for run in runs {
        let shard = run.shard.map_or_else(String::new, |shard| format!(", shard {shard}"));
        let ended = format!("{} of {}{shard}", run.ended, run.planned);
        table.add_row([run.run.clone(), run.state.to_owned(), run.topology.clone(), run.seed.to_string(), ended]);
    }
    table.to_string()
}
