//! Which run this is, and where it is kept: a new one, or one that goes on.

use std::{
    collections::BTreeMap,
    env,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::{
    cast::Models,
    exit::Failure,
    machine,
    run::Beginning,
    sharding::{ShardAsked, ShardFacts, refuse_where_it_cannot_be},
    terminal,
};
use crate::{
    conversation::{CacheMode, Journal, MemoryJournal, StoreJournal},
    domain::Problem,
    evaluation::records::Groundwork,
    ids::{ActorName, RunId, TaskId},
    llm::{openai::ServerFacts, replay::RecordedModel},
    runtime::now_unix_nanos,
    store::{RunLock, RunRow, RunState, Store, StoreError},
    topology::Plan,
};

/// What the hash of the effective arrangement goes by among a run's parts.
pub const ARRANGEMENT: &str = "the arrangement";

/// What the store keeps of a run beside its conversations.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunFacts {
    /// The version that began it.
    pub code_version: String,
    /// The command, with the program's name.
    pub arguments: Vec<String>,
    /// The folder that it was given in.
    pub folder: PathBuf,
    /// Variables of the environment that it was begun with and that decide what it is; unknown of runs of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<BTreeMap<String, String>>,
    /// The seed, drawn where none was given.
    pub seed: u64,
    /// The arrangement's name.
    pub topology: String,
    /// Conversations planned; of a shard, its own.
    pub planned: usize,
    /// What it is part of, where it is a shard.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<ShardFacts>,
    /// Hashes of what it was asked to do, by what they are of.
    pub parts: BTreeMap<String, String>,
    /// Its tasks and machine; `None` of a run that an earlier version kept.
    #[serde(default)]
    pub groundwork: Option<Groundwork>,
    /// The model of each actor.
    #[serde(default)]
    pub models: BTreeMap<ActorName, SeatedModel>,
    /// CPU limits of a test that were measured, in ms, with the note on each.
    #[serde(default)]
    pub measured: BTreeMap<TaskId, Measured>,
}

/// A model of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeatedModel {
    /// The name that it is asked for by.
    pub name: String,
    /// What it is, for runs that ask this one again.
    pub model: RecordedModel,
    /// What its servers said of themselves when the run began.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<ServerFacts>,
}

impl SeatedModel {
    /// Whether it is configured alike, whatever its servers say of themselves.
    fn is_alike(&self, other: &Self) -> bool {
        (&self.name, &self.model) == (&other.name, &other.model)
    }
}

/// A limit that was measured, or why it was not.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Measured {
    /// CPU time of a test, in ms.
    pub test_cpu_ms: u64,
    /// Whether it was measured.
    pub calibrated: bool,
    /// What the task's notes say of it.
    pub notes: Vec<String>,
}

impl RunFacts {
    /// Those of a row.
    ///
    /// # Errors
    /// A row that another version wrote in a way that is not understood here.
    pub fn of(row: &RunRow) -> Result<Self, Failure> {
        serde_json::from_value(row.facts.clone())
            .map_err(|error| Failure::store(format!("what is stored of run {} does not read: {error}", row.run)))
    }

    /// What is other than when the run was begun, of all that it was asked to do; `None` where nothing is.
    pub fn changed(&self, parts: &BTreeMap<String, String>) -> Option<String> {
        let changed = parts.iter().filter(|(part, hash)| self.parts.get(*part) != Some(*hash));
        let changed: Vec<&str> = changed.map(|(part, _)| part.as_str()).collect();
        (!changed.is_empty()).then(|| changed.join(" and "))
    }

    /// Goes to where the run was begun: its folder, and the variables that decided what it is.
    ///
    /// # Errors
    /// The folder is not there any more.
    pub fn enter(&self) -> Result<(), Failure> {
        machine::take_variables_of_run(self.environment.as_ref());
        env::set_current_dir(&self.folder)
            .map_err(|error| Failure::usage(format!("the run was begun in {}: {error}", self.folder.display())))
    }
}

/// The run that this process is.
pub struct Keeping {
    /// The identity that its conversations are named by: of a shard, that of the whole run.
    pub run: RunId,
    /// Its seed.
    pub seed: u64,
    /// Conversations that are held here.
    pub planned: usize,
    kept: Option<Kept>,
}

struct Kept {
    store: Arc<Store>,
    row: RunRow,
    facts: RunFacts,
    resumed: bool,
    _lock: RunLock,
}

/// What a run is asked to do.
pub struct Undertaking {
    /// Hashes, by what they are of: runs of equal parts do the same.
    pub parts: BTreeMap<String, String>,
    /// Its tasks and machine.
    pub groundwork: Groundwork,
    /// The seed, if one was given.
    pub seed: Option<u64>,
    /// The arrangement's name.
    pub topology: String,
    /// Conversations, of all shards together.
    pub planned: usize,
    /// The part of it that is asked for.
    pub shard: Option<ShardAsked>,
    /// Where its data set was found, where the command does not say where that is.
    pub data: Option<PathBuf>,
}

impl Undertaking {
    fn shard(&self) -> Option<ShardFacts> {
        self.shard.as_ref().map(|asked| asked.facts(&self.plan(), self.planned))
    }

    /// How many conversations are held here.
    fn planned_here(&self) -> usize {
        self.shard.as_ref().map_or(self.planned, |asked| asked.shard.share(self.planned))
    }

    fn plan(&self) -> String {
        plan_of(&self.parts, self.seed)
    }
}

/// The identity of what a run is asked to do: equal for equal commands on equal files.
pub fn plan_of(parts: &BTreeMap<String, String>, seed: Option<u64>) -> String {
    blake3::hash(serde_json::json!([parts, seed]).to_string().as_bytes()).to_hex().to_string()
}

impl Keeping {
    /// Begins a run, or goes on with one: that which was asked for, or else the newest of the same command where it was
    /// interrupted. The run's row is the first thing that is written.
    ///
    /// # Errors
    /// A run that goes on in another process, or whose files have changed since; the store.
    pub async fn begin(store: Option<Arc<Store>>, beginning: Beginning, what: Undertaking) -> Result<Self, Failure> {
        let (store, again) = match (beginning, store) {
            (Beginning::Again(store, row), _) => (store, Some(*row)),
            (_, None) => {
                if let Some(ShardAsked { shard, .. }) = &what.shard {
                    let no_use = format!("--shard {shard}: --store memory keeps nothing that could be merged");
                    return Err(Failure::usage(no_use));
                }
                let seed = what.seed.unwrap_or_else(draw_seed);
                return Ok(Self { run: RunId::new(), seed, planned: what.planned, kept: None });
            }
            (Beginning::New, Some(store)) => (store, None),
            (Beginning::Either, Some(store)) => {
                if let Some(shard) = what.shard() {
                    refuse_where_it_cannot_be(&store, &shard)?;
                    // One that has ended is told again: the same shard is not held twice.
                    let begun = store.run(&shard.run().to_string())?;
                    return match begun {
                        Some(row) => Self::go_on(store, row, &what),
                        None => Self::begin_new(store, what).await,
                    };
                }
                let newest = store.newest_of(&what.plan())?;
                let open = newest.filter(|row| row.state != RunState::Ended && !store.is_running(&row.run));
                (store, open)
            }
        };
        match again {
            Some(row) => Self::go_on(store, row, &what),
            None => Self::begin_new(store, what).await,
        }
    }

    async fn begin_new(store: Arc<Store>, what: Undertaking) -> Result<Self, Failure> {
        let (shard, seed) = (what.shard(), what.seed.unwrap_or_else(draw_seed));
        let kept_as = shard.as_ref().map_or_else(RunId::new, ShardFacts::run);
        let (run, planned) = (shard.as_ref().map_or(kept_as, |shard| shard.of), what.planned_here());
        let facts = RunFacts {
            code_version: env!("CARGO_PKG_VERSION").to_owned(),
            arguments: arguments(what.data.as_deref()),
            environment: Some(machine::deciding_variables()),
            folder: env::current_dir().map_err(|error| Failure::usage(format!("the current folder: {error}")))?,
            seed,
            topology: what.topology.clone(),
            planned,
            shard,
            parts: what.parts.clone(),
            groundwork: Some(what.groundwork.clone()),
            models: BTreeMap::new(),
            measured: BTreeMap::new(),
        };
        let row = RunRow {
            run: kept_as.to_string(),
            // A shard is no run that the command without --shard could go on with.
            plan: facts.shard.as_ref().map_or_else(|| what.plan(), |_| kept_as.to_string()),
            begun_ns: now_unix_nanos(),
            state: RunState::Begun,
            facts: serde_json::Value::Null,
        };
        let lock = store.hold_run(&row.run)?.ok_or_else(|| running(&row.run))?;
        let mut kept = Kept { store, row, facts, resumed: false, _lock: lock };
        kept.write().await?;
        Ok(Self { run, seed, planned, kept: Some(kept) })
    }

    fn go_on(store: Arc<Store>, row: RunRow, what: &Undertaking) -> Result<Self, Failure> {
        let facts = RunFacts::of(&row)?;
        let run = Uuid::parse_str(&row.run).map(|own| facts.shard.as_ref().map_or(RunId(own), |shard| shard.of));
        let run = run.map_err(|error| Failure::store(format!("what is stored of run {}: {error}", row.run)))?;
        let lock = store.hold_run(&row.run)?.ok_or_else(|| running(&row.run))?;
        if let Some(changed) = facts.changed(&what.parts) {
            return Err(changed_since(&row.run, &changed));
        }
        if facts.code_version != env!("CARGO_PKG_VERSION") {
            terminal::talk(&format!(
                "warning: run {} was begun by rolecall {}, and this is {}",
                row.run,
                facts.code_version,
                env!("CARGO_PKG_VERSION")
            ));
        }
        let ended = store.conversations(&row.run)?.iter().filter(|(_, ended)| *ended).count();
        terminal::talk(&format!(
            "run {} goes on: {ended} of {} conversations have ended{}",
            row.run,
            facts.planned,
            if facts.shard.is_none() { " (--new begins another)" } else { "" }
        ));
        let (seed, planned) = (facts.seed, facts.planned);
        Ok(Self { run, seed, planned, kept: Some(Kept { store, row, facts, resumed: true, _lock: lock }) })
    }

    /// Writes down how the models are configured, or sees that they still are.
    ///
    /// # Errors
    /// A model of a run that goes on is configured otherwise by now; the store.
    pub async fn models(&mut self, plan: &Plan, models: &Models) -> Result<(), Failure> {
        let Some(kept) = &mut self.kept else { return Ok(()) };
        let seated = plan.nodes.iter().filter_map(|node| Some((node, node.model.clone()?, models.get(&node.name)?)));
        let mut facts: BTreeMap<String, Vec<ServerFacts>> = BTreeMap::new();
        let mut models: BTreeMap<ActorName, SeatedModel> = BTreeMap::new();
        let known = &kept.facts.models;
        // A run that was killed before it knew them has none.
        let is_first = !kept.resumed || known.is_empty();
        for (node, name, model) in seated {
            let mut seated = SeatedModel { name, model: RecordedModel::of(model.as_ref()), servers: Vec::new() };
            if is_first {
                seated.servers = match facts.get(&seated.name) {
                    Some(servers) => servers.clone(),
                    None => facts.entry(seated.name.clone()).or_insert(model.servers().await).clone(),
                };
            } else if !known.get(&node.name).is_some_and(|known| known.is_alike(&seated)) {
                return Err(changed_since(&kept.row.run, &format!("the model of {}", node.name)));
            }
            models.insert(node.name.clone(), seated);
        }
        if !is_first {
            return match known.len() == models.len() {
                true => Ok(()),
                false => Err(changed_since(&kept.row.run, "the model of an actor")),
            };
        }
        kept.facts.models = models;
        kept.write().await
    }

    /// Writes down with which tools programs are run, the first time that these are known.
    ///
    /// # Errors
    /// The store.
    pub async fn keep_tools(&mut self, tools: BTreeMap<String, String>) -> Result<(), Failure> {
        let Some(kept) = &mut self.kept else { return Ok(()) };
        match &mut kept.facts.groundwork {
            Some(groundwork) if groundwork.machine.tools.is_empty() => groundwork.machine.tools = tools,
            _ => return Ok(()),
        }
        kept.write().await
    }

    /// The problems with the limits that were measured when the run began; `None` where they are still to be measured.
    pub fn measured(&self, problems: &[Arc<Problem>]) -> Option<Vec<Arc<Problem>>> {
        let measured = &self.kept.as_ref()?.facts.measured;
        problems.iter().map(|problem| measured.get(&problem.task.id).map(|limit| limit.put(problem))).collect()
    }

    /// Writes down the limits that were measured.
    ///
    /// # Errors
    /// The store.
    pub async fn keep_measured(&mut self, problems: &[Arc<Problem>]) -> Result<(), Failure> {
        let Some(kept) = &mut self.kept else { return Ok(()) };
        kept.facts.measured = problems.iter().map(|problem| (problem.task.id.clone(), Measured::of(problem))).collect();
        kept.write().await
    }

    /// Where its conversations are written down. `broken` fires when they cannot be.
    pub fn journal(&self, cache: CacheMode, broken: &CancellationToken) -> Arc<dyn Journal> {
        match &self.kept {
            Some(kept) => {
                let journal = StoreJournal::new(kept.store.clone(), cache, broken.clone());
                Arc::new(journal.of_run(kept.row.run.clone()))
            }
            None => Arc::new(MemoryJournal::default()),
        }
    }

    /// The id that it is kept by, and resumed.
    pub fn name(&self) -> String {
        self.kept.as_ref().map_or_else(|| self.run.to_string(), |kept| kept.row.run.clone())
    }

    /// What it is part of, where it is a shard.
    pub fn shard(&self) -> Option<&ShardFacts> {
        self.kept.as_ref()?.facts.shard.as_ref()
    }

    /// The folder of its store, if it is kept.
    pub fn folder(&self) -> Option<&std::path::Path> {
        self.kept.as_ref().map(|kept| kept.store.folder())
    }

    /// Why something could not be written down, the first time that it could not.
    pub fn failure(&self) -> Option<StoreError> {
        self.kept.as_ref().and_then(|kept| kept.store.failure())
    }

    /// The run is over, or parked where not every conversation has ended.
    ///
    /// # Errors
    /// The store.
    pub async fn end(&mut self, all_ended: bool) -> Result<(), Failure> {
        let Some(kept) = &mut self.kept else { return Ok(()) };
        kept.row.state = if all_ended { RunState::Ended } else { RunState::Parked };
        kept.write().await
    }
}

impl Kept {
    async fn write(&mut self) -> Result<(), Failure> {
        self.row.facts = serde_json::to_value(&self.facts).map_err(Failure::store)?;
        Ok(self.store.put_run(&self.row).await?)
    }
}

impl Measured {
    fn of(problem: &Problem) -> Self {
        let limits = &problem.task.limits;
        Self { test_cpu_ms: limits.test_cpu_ms, calibrated: limits.calibrated, notes: problem.notes.clone() }
    }

    fn put(&self, problem: &Problem) -> Arc<Problem> {
        let mut problem = problem.clone();
        let limits = &mut Arc::make_mut(&mut problem.task).limits;
        (limits.test_cpu_ms, limits.calibrated) = (self.test_cpu_ms, self.calibrated);
        problem.notes.clone_from(&self.notes);
        Arc::new(problem)
    }
}

/// 53 bits: exact in every JSON reader.
fn draw_seed() -> u64 {
    // The lower half of a UUIDv7 is random.
    Uuid::now_v7().as_u64_pair().1 & ((1 << 53) - 1)
}

fn running(run: &str) -> Failure {
    Failure::usage(format!("run {run} goes on in another process"))
}

fn changed_since(run: &str, what: &str) -> Failure {
    Failure::usage(format!(
        "run {run} cannot go on: {what} changed since it was begun\n  hint: put it back as it was, or begin another run \
         with --new"
    ))
}

/// The command as it was given, and where its data set was found: it must be the same one when the run goes on.
fn arguments(data: Option<&Path>) -> Vec<String> {
    let given = env::args_os().map(|argument| argument.to_string_lossy().into_owned());
    let path = data.map(|folder| ["--path".to_owned(), folder.to_string_lossy().into_owned()]);
    given.chain(path.into_iter().flatten()).collect()
}
