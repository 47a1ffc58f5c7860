use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};

use super::SCHEMA;
use crate::{
    conversation::ConversationRecord,
    domain::{Isolation, Problem},
    ids::{ActorName, TaskId},
    llm::{ModelInfo, Parameters, openai::ServerFacts},
};

/// What a run was begun on. It is kept with the run, since later neither tasks nor machine are at hand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Groundwork {
    /// The tasks, in their order.
    pub tasks: Vec<TaskRow>,
    /// Conversations a task.
    pub samples: u32,
    /// The machine.
    pub machine: Machine,
}

impl Groundwork {
    /// Of these problems, on this machine.
    pub fn of(problems: &[Arc<Problem>], samples: u32) -> Self {
        let tasks = problems.iter().map(|problem| TaskRow {
            dataset: problem.task.dataset.clone(),
            task: problem.task.id.clone(),
            hash: problem.fingerprint(),
        });
        Self { tasks: tasks.collect(), samples, machine: Machine::this() }
    }
}

/// A task, and what it was made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskRow {
    /// Its data set.
    pub dataset: String,
    /// The task.
    pub task: TaskId,
    /// BLAKE3 of all that it is: statement, limits, tests, reference.
    pub hash: String,
}

/// The machine that a run was begun on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Its operating system.
    pub os: String,
    /// Release of its kernel.
    pub kernel: String,
    /// Its processor.
    pub arch: String,
    /// Cores that the process might use.
    pub cpus: usize,
    /// What each compiler and interpreter says of its version, by its name.
    #[serde(default)]
    pub tools: BTreeMap<String, String>,
}

impl Machine {
    fn this() -> Self {
        Self {
            os: std::env::consts::OS.to_owned(),
            kernel: rustix::system::uname().release().to_string_lossy().into_owned(),
            arch: std::env::consts::ARCH.to_owned(),
            cpus: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            tools: BTreeMap::new(),
        }
    }
}

/// What the rows of a run are rows of.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Manifest {
    /// [`SCHEMA`].
    pub schema: u32,
    /// What was held.
    pub result: ManifestResult,
    /// By whom, when and where.
    pub provenance: ManifestProvenance,
}

/// What was held. No time, id, path or machine is in it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ManifestResult {
    /// Seed of the run.
    pub seed: u64,
    /// Name of the arrangement.
    pub topology: String,
    /// BLAKE3 of the effective arrangement.
    pub topology_hash: Option<String>,
    /// BLAKE3 of every prompt file, by `ACTOR.KEY`.
    pub prompts: BTreeMap<String, String>,
    /// The model of each actor that asks one.
    pub models: BTreeMap<ActorName, ModelResult>,
    /// The data sets of the tasks, by name.
    pub datasets: BTreeMap<String, usize>,
    /// The tasks, in their order.
    pub tasks: Vec<TaskRow>,
    /// Conversations a task.
    pub samples: Option<u32>,
    /// Conversations that the run was to hold.
    pub planned: usize,
    /// Rows of conversations: those that have ended.
    pub conversations: usize,
    /// Rows of programs.
    pub programs: usize,
    /// Whether the rows of programs have the texts.
    pub texts: bool,
}

/// A model, as far as it decides what is said.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModelResult {
    /// `gen_ai.provider.name`.
    pub provider: String,
    /// The model id that requests carry.
    pub model: String,
    /// The sampling parameters of its file.
    pub settings: Option<Parameters>,
}

/// By whom, when and where a run was held.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ManifestProvenance {
    /// The run.
    pub run: String,
    /// Version of Rolecall that began it.
    pub code_version: String,
    /// Version of Rolecall that wrote these files.
    pub exported_by: String,
    /// The command, with the program's name.
    pub command: Vec<String>,
    /// Unix time in ns.
    pub begun_ns: u64,
    /// Where the model of each actor answers.
    pub models: BTreeMap<ActorName, ModelProvenance>,
    /// The machine that it was begun on.
    pub machine: Option<Machine>,
    /// How the programs of its first conversation were isolated; each row has its own.
    pub isolation: Option<Isolation>,
}

/// Where a model answers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModelProvenance {
    /// The name that it was asked for by: it can be the path of a file.
    pub name: String,
    /// Host of the server.
    pub server_address: Option<String>,
    /// Port of the server.
    pub server_port: Option<u16>,
    /// What its servers said of themselves when the run began, word for word.
    pub servers: Vec<ServerFacts>,
}

impl Manifest {
    /// Of a run before any of its rows is written.
    pub fn new(mut result: ManifestResult, provenance: ManifestProvenance) -> Self {
        for task in &result.tasks {
            *result.datasets.entry(task.dataset.clone()).or_default() += 1;
        }
        Self { schema: SCHEMA, result, provenance }
    }

    /// Counts a conversation that was written, and as many programs.
    pub fn count(&mut self, record: &ConversationRecord, programs: usize) {
        let result = &mut self.result;
        result.conversations += 1;
        result.programs += programs;
        result.prompts.extend(record.head.prompts.clone());
        self.provenance.isolation.get_or_insert_with(|| record.head.isolation.clone());
    }
}

impl ModelProvenance {
    /// Of a model that was asked for by this name, whose servers said this of themselves.
    pub fn of(name: &str, info: &ModelInfo, servers: &[ServerFacts]) -> Self {
        Self {
            name: name.to_owned(),
            server_address: info.server_address.clone(),
            server_port: info.server_port,
            servers: servers.to_vec(),
        }
    }
}
