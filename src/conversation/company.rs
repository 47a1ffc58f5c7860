use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use futures_util::future::BoxFuture;

use super::{ConversationEnd, ConversationHead, ExamplePool, Journal, Placebo};
use crate::{
    budget::ArmBudget,
    domain::{Example, Problem, Task},
    ids::{ActorName, ConversationId, RunId},
    llm::ChatModel,
    prompts::Prompt,
    runtime::{Scene, Seat, TurnRecord, Watch},
    sandbox::Sandbox,
    topology::{Node, Plan},
};

/// Watches conversations: traces and progress are made of what it is told. Called on the actors' thread: be quick.
pub trait Observer: Send + Sync {
    /// A conversation begins.
    fn started(&self, head: &Arc<ConversationHead>);
    /// A turn has taken effect.
    fn retired(&self, head: &ConversationHead, turn: &Arc<TurnRecord>);
    /// It is over and graded. It counts as over, and is stored as such, when the observer is done with it.
    fn ended<'a>(&'a self, head: &'a ConversationHead, end: &'a ConversationEnd) -> BoxFuture<'a, ()>;
}

/// Everything that the conversations of one arrangement share.
pub struct Company {
    /// The arrangement.
    pub plan: Arc<Plan>,
    /// The model of each actor that asks one.
    pub models: BTreeMap<ActorName, Arc<dyn ChatModel>>,
    /// The prompts of each actor, by key.
    pub prompts: BTreeMap<ActorName, BTreeMap<String, Arc<Prompt>>>,
    /// Runs programs.
    pub sandbox: Arc<dyn Sandbox>,
    /// Where finished turns are written down.
    pub journal: Arc<dyn Journal>,
    /// Told when a turn begins.
    pub watch: Option<Watch>,
    /// Who watches.
    pub observer: Arc<dyn Observer>,
    /// Diagnoses of tasks, for edges with `intervene = "shuffle"`.
    pub placebos: Arc<[Placebo]>,
    /// Solved tasks for the prompts of actors that show examples.
    pub examples: Arc<ExamplePool>,
    /// What its conversations share; without limits where nothing is said.
    pub budgets: Arc<ArmBudget>,
}

/// One conversation to be held.
#[derive(Clone)]
pub struct Assignment {
    /// The run.
    pub run: RunId,
    /// The arm of an experiment; the arrangement's name elsewhere.
    pub arm: String,
    /// What is to be solved.
    pub problem: Arc<Problem>,
    /// Sample of the task, from 0.
    pub sample: u32,
    /// Seed of the run.
    pub seed: u64,
    /// What it took from shared budgets in an earlier life is booked already.
    pub is_booked: bool,
}

impl Assignment {
    /// The conversation's identity.
    pub fn id(&self) -> ConversationId {
        ConversationId::derive(self.run, &self.arm, &self.problem.task.id, self.sample)
    }
}

impl Company {
    /// The task as the roles of this arrangement may see it.
    pub(super) fn task(&self, problem: &Problem) -> Arc<Task> {
        let mut task = problem.task.clone();
        if !self.plan.feedback.faulty_lines && !task.faulty_lines.is_empty() {
            Arc::make_mut(&mut task).faulty_lines.clear();
        }
        task
    }

    /// The hash of every prompt, by actor and key.
    pub(super) fn prompt_hashes(&self) -> BTreeMap<String, String> {
        let prompts = self.prompts.iter().flat_map(|(actor, prompts)| prompts.iter().map(move |it| (actor, it)));
        prompts.map(|(actor, (key, prompt))| (format!("{actor}.{key}"), prompt.hash().0.clone())).collect()
    }

    /// The examples that actors of this conversation show.
    pub(super) fn examples(&self, assignment: &Assignment) -> Vec<Arc<Example>> {
        if self.plan.nodes.iter().any(|node| self.shows_examples(node)) {
            self.examples.choose(&assignment.problem, assignment.sample, assignment.seed)
        } else {
            Vec::new()
        }
    }

    fn shows_examples(&self, node: &Node) -> bool {
        node.examples && self.models.get(&node.name).is_some_and(|model| model.reads_prompt())
    }

    /// The seats of one conversation, in the order of the plan's actors.
    pub(super) fn seats(
        &self,
        head: &ConversationHead,
        problem: &Problem,
        examples: Vec<Arc<Example>>,
    ) -> Vec<Arc<Seat>> {
        let examples: Arc<[Arc<Example>]> = examples.into();
        let scene = Arc::new(Scene {
            conversation: head.id,
            task: self.task(problem),
            sample: head.sample,
            seed: head.seed,
            sandbox: self.sandbox.clone(),
            answers: self.journal.clone().answers(),
            watch: self.watch.clone(),
            purse: self.budgets.of_task(&head.task.0),
            profiles: Mutex::default(),
        });
        let nodes = self.plan.nodes.iter();
        nodes
            .map(|node| {
                Arc::new(Seat {
                    actor: node.name.clone(),
                    model: self.models.get(&node.name).cloned(),
                    parameters: node.parameters.clone(),
                    prompts: self.prompts.get(&node.name).cloned().unwrap_or_default(),
                    examples: if self.shows_examples(node) { examples.clone() } else { Arc::default() },
                    scene: scene.clone(),
                })
            })
            .collect()
    }
}
