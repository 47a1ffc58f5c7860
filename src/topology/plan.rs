use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::{
    domain::{Slots, TimeoutPolicy},
    ids::ActorName,
    llm::Parameters,
    messages::Kind,
    runtime::RoleSpec,
};

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

/// Which report is handed to a role that diagnoses or writes, in arrangements without a ranker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Parents {
    /// The one that was just made.
    #[default]
    Last,
    /// The best so far: highest visible score, earliest on ties, the starter included.
    Best,
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
    /// Its prompts by key.
    pub prompts: BTreeMap<String, PromptRef>,
    /// Whether it gathers: by its role, or by `gather = "generation"`.
    pub gathers: bool,
    /// What it does when a source stayed silent.
    pub requires: Requires,
    /// Programs that a turn wants to write, by the kind received.
    pub slots: BTreeMap<Kind, Slots>,
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
    /// Seconds by the wall: a safety cap; records of runs that it ended say `deterministic: false`.
    pub wall_secs: Option<f64>,
    /// Rounds after the first drafts.
    pub generations: Option<u32>,
}

/// How tests feed back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Feedback {
    /// When to stop after timeouts.
    pub timeouts: TimeoutPolicy,
    /// CPU limit of one test in ms, where the file sets one.
    pub test_cpu_ms: Option<u64>,
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
    /// Which parents repair starts from without a ranker.
    pub parents: Parents,
    /// Budgets.
    pub budget: BudgetLimits,
    /// Feedback.
    pub feedback: Feedback,
    /// BLAKE3 of the whole effective arrangement, prompts included.
    pub hash: String,
}

impl Plan {
    /// The actors that write first drafts: those that could and are sent the task, by index.
    pub fn drafting(&self) -> impl Iterator<Item = usize> + '_ {
        let drafts = |index: &usize| self.nodes.get(*index).is_some_and(|node| node.spec.drafts());
        let mut indices: Vec<usize> = self.edges_from(Source::Task).map(|edge| edge.to).filter(drafts).collect();
        indices.sort_unstable();
        indices.into_iter()
    }

    /// The edges that begin at `from`, in the order of the file.
    pub fn edges_from(&self, from: Source) -> impl Iterator<Item = &Edge> {
        self.edges.iter().filter(move |edge| edge.from == from)
    }

    /// The kinds of messages that an edge carries.
    pub fn kinds(&self, edge: &Edge) -> Vec<Kind> {
        let spec = |index: usize| self.nodes.get(index).map(|node| node.spec);
        match (edge.from, spec(edge.to)) {
            (_, None) => Vec::new(),
            (Source::Task, Some(to)) => kinds_carried(None, to),
            (Source::Actor(from), Some(to)) => spec(from).map_or_else(Vec::new, |from| kinds_carried(Some(from), to)),
        }
    }

    /// The name of where an edge begins: an actor's, or `task`.
    pub fn source_name(&self, source: Source) -> &str {
        match source {
            Source::Task => TASK,
            Source::Actor(index) => self.nodes.get(index).map_or("", |node| node.name.0.as_str()),
        }
    }

    /// The index of the actor with this name.
    pub fn index_of(&self, name: &str) -> Option<usize> {
        self.nodes.iter().position(|node| node.name.0 == name)
    }
}
