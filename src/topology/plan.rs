use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde::{Deserialize, Serialize};

use crate::{
    budget::{CallLimits, SharedLimits},
    domain::{Money, Slots, TimeoutPolicy},
    ids::ActorName,
    llm::Parameters,
    messages::{Intervention, Kind},
    runtime::RoleSpec,
};

use super::{ExampleSettings, Search, Stop};

/// Which judged messages an edge carries. Messages that are not judged pass in every case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum When {
    /// All.
    Always,
    /// Those whose candidate failed a test.
    Failed,
    /// Those whose candidate passed every test.
    Passed,
}

impl When {
    /// The word used in files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Always => "always",
            Self::Failed => "failed",
            Self::Passed => "passed",
        }
    }

    /// What the word means.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Always, Self::Failed, Self::Passed].into_iter().find(|when| when.word() == word)
    }
}

/// Where an edge begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Source {
    /// The conversation itself: the task, and the starter where an executor is the target.
    Task,
    /// The actor with this index in [`Plan::nodes`].
    Actor(usize),
}

/// The name of the conversation itself, where edges begin.
pub(super) const TASK: &str = "task";

/// What a role sends to another: the kinds that the one says and the other takes. `None` is the conversation itself,
/// which sends the task, or the starter to a role that runs programs.
pub(super) fn kinds_carried(from: Option<&RoleSpec>, to: &RoleSpec) -> Vec<Kind> {
    match from {
        Some(from) => from.emits.iter().copied().filter(|kind| to.accepts.contains(kind)).collect(),
        None if to.accepts.contains(&Kind::Task) => vec![Kind::Task],
        None if to.evaluates => vec![Kind::Candidate],
        None => Vec::new(),
    }
}

/// Who sends to whom.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edge {
    /// Where it begins.
    pub from: Source,
    /// The actor that receives, by index.
    pub to: usize,
    /// What it carries.
    pub when: When,
    /// What it does to what it carries.
    pub intervene: Option<Intervention>,
}

/// Whether a gathering actor may go on when one of its sources stayed silent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Requires {
    /// It takes what there is; the silent ones are listed as `missing`.
    #[default]
    Any,
    /// A silent source ends the conversation as `starved_join`.
    All,
}

/// A prompt of an actor: its reference as written, and its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptRef {
    /// Embedded name (`debugger/repair`) or path.
    pub reference: String,
    /// The template text.
    pub text: Arc<str>,
}

/// One actor of an arrangement, after all checks.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its name.
    pub name: ActorName,
    /// What its role is.
    pub spec: &'static RoleSpec,
    /// Settings of the role as they will be decoded: what the file says over the defaults.
    pub settings: serde_json::Map<String, serde_json::Value>,
    /// Name of its model (`templates`, `openai:ID`), for roles that ask one.
    pub model: Option<String>,
    /// Sampling.
    pub parameters: Parameters,
    /// What its calls may take in one conversation.
    pub budget: CallLimits,
    /// Its prompts by key.
    pub prompts: BTreeMap<String, PromptRef>,
    /// Whether it gathers: by its role, or by `gather = "generation"`.
    pub gathers: bool,
    /// What it does when a source stayed silent.
    pub requires: Requires,
    /// Programs that a turn wants to write, by the kind received.
    pub slots: BTreeMap<Kind, Slots>,
    /// The kinds on which it writes a share of the round's width, since the file gives it no number of its own.
    pub shares: BTreeSet<Kind>,
    /// Whether its prompts show the examples of [`Plan::examples`].
    pub examples: bool,
    /// Turns that write programs take place one after the other (see `ChatModel::avoids_repeats`).
    pub exclusive: bool,
    /// Place in the order in which waiting gathers go: topological without the edges that lead back, then by first
    /// reach from the task, then by the order of the file. No two actors have the same.
    pub rank: u32,
}

/// Budgets of one conversation; `None` is unlimited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BudgetLimits {
    /// Programs written by roles and given to an executor.
    pub programs: Option<u32>,
    /// Calls of models.
    pub model_calls: Option<u32>,
    /// Tokens of prompts and replies.
    pub tokens: Option<u64>,
    /// Money, in the currency of its models.
    pub cost: Option<Money>,
    /// Seconds by the wall: a safety cap; records of runs that it ended say `deterministic: false`.
    pub wall_secs: Option<f64>,
    /// GPU time in ms: servers take as long as they take, so that records of runs that it ended say `deterministic: false`.
    pub gpu_ms: Option<u64>,
    /// Rounds after the first drafts.
    pub generations: Option<u32>,
}

impl BudgetLimits {
    /// Those that calls of models take from.
    pub fn calls(&self) -> CallLimits {
        CallLimits { model_calls: self.model_calls, tokens: self.tokens, cost: self.cost, gpu_ms: self.gpu_ms }
    }
}

/// What conversations share: safety caps, which end conversations at other places in another run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SharedBudgets {
    /// All conversations of the run, of every arm.
    pub run: SharedLimits,
    /// All conversations of the arrangement.
    pub arm: SharedLimits,
    /// All samples of one task.
    pub task: SharedLimits,
}

/// How tests feed back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Feedback {
    /// When to stop after timeouts.
    pub timeouts: TimeoutPolicy,
    /// CPU limit of one test in ms, where the file sets one.
    pub test_cpu_ms: Option<u64>,
    /// Whether prompts mark the lines that the task says are faulty.
    pub faulty_lines: bool,
}

/// An arrangement that was found right. The ledger runs it; `topology show` draws it.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Its name: `name` in the file, else the file's stem.
    pub name: String,
    /// The actors, in the order of the file.
    pub nodes: Vec<Node>,
    /// The edges, in the order of the file.
    pub edges: Vec<Edge>,
    /// How many turns of one conversation may be under way; `u32::MAX` for unlimited.
    pub parallel_turns: u32,
    /// How it searches.
    pub search: Search,
    /// What ends it.
    pub stop: Stop,
    /// Budgets of each conversation.
    pub budget: BudgetLimits,
    /// Budgets that conversations share.
    pub shared: SharedBudgets,
    /// Feedback.
    pub feedback: Feedback,
    /// Which solved tasks prompts show.
    pub examples: ExampleSettings,
    /// BLAKE3 of the whole effective arrangement, prompts included.
    pub hash: String,
}

impl Plan {
    /// The actors that write first drafts: those that could and are sent the task, by the conversation or by
    /// an analyst or tester on the way; by index.
    pub fn drafting(&self) -> impl Iterator<Item = usize> + '_ {
        let said = self.said();
        let sends_task = |edge: &Edge| match edge.from {
            Source::Task => true,
            Source::Actor(from) => said.get(from).is_some_and(|kinds| kinds.contains(&Kind::Task)),
        };
        let sent = |index: usize| self.edges.iter().any(|edge| edge.to == index && sends_task(edge));
        let nodes = self.nodes.iter().enumerate();
        let drafting: Vec<usize> =
            nodes.filter(|(index, node)| node.spec.drafts() && sent(*index)).map(|(index, _)| index).collect();
        drafting.into_iter()
    }

    /// The first actor that chooses among judged programs, by index.
    pub fn ranker(&self) -> Option<usize> {
        self.nodes.iter().position(|node| node.spec.chooses())
    }

    /// Whether rewards say which program is the best: a critic takes part.
    pub fn rewards(&self) -> bool {
        self.nodes.iter().any(|node| node.spec.assesses())
    }

    /// The edges that begin at `from`, in the order of the file.
    pub fn edges_from(&self, from: Source) -> impl Iterator<Item = &Edge> {
        self.edges.iter().filter(move |edge| edge.from == from)
    }

    /// The kinds of messages that an edge carries. An actor that says again what it takes says only what it is sent.
    pub fn kinds(&self, edge: &Edge) -> Vec<Kind> {
        let Some(to) = self.nodes.get(edge.to).map(|node| node.spec) else { return Vec::new() };
        match edge.from {
            Source::Task => kinds_carried(None, to),
            Source::Actor(from) => {
                let said = self.said().get(from).cloned().unwrap_or_default();
                said.into_iter().filter(|kind| to.accepts.contains(kind)).collect()
            }
        }
    }

    /// What each actor can come to say.
    fn said(&self) -> Vec<BTreeSet<Kind>> {
        let own = |node: &Node| -> BTreeSet<Kind> {
            node.spec.emits.iter().copied().filter(|kind| !node.spec.accepts.contains(kind)).collect()
        };
        let mut said: Vec<BTreeSet<Kind>> = self.nodes.iter().map(own).collect();
        // What an edge brings to an actor that passes it on is said again; nothing is ever unsaid, so this ends.
        loop {
            let before = said.clone();
            for edge in &self.edges {
                let Some(to) = self.nodes.get(edge.to) else { continue };
                let brought: BTreeSet<Kind> = match edge.from {
                    Source::Task => kinds_carried(None, to.spec).into_iter().collect(),
                    Source::Actor(from) => said.get(from).cloned().unwrap_or_default(),
                };
                let again = |kind: &Kind| to.spec.accepts.contains(kind) && to.spec.emits.contains(kind);
                said[edge.to].extend(brought.into_iter().filter(again));
            }
            if said == before {
                return said;
            }
        }
    }

    /// The name of where an edge begins: an actor's, or `task`.
    pub fn source_name(&self, source: Source) -> &str {
        match source {
            Source::Task => TASK,
            Source::Actor(index) => self.nodes.get(index).map_or("", |node| node.name.0.as_str()),
        }
    }

    /// The edges that change what they carry, in words.
    pub fn interventions(&self) -> Vec<String> {
        let named = self.edges.iter().filter_map(|edge| edge.intervene.map(|intervene| (edge, intervene.word())));
        let (from, to) =
            (|edge: &Edge| self.source_name(edge.from), |edge: &Edge| self.source_name(Source::Actor(edge.to)));
        named.map(|(edge, word)| format!("{} -> {}: {word}", from(edge), to(edge))).collect()
    }

    /// The index of the actor with this name.
    pub fn index_of(&self, name: &str) -> Option<usize> {
        self.nodes.iter().position(|node| node.name.0 == name)
    }
}
