use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use super::{Answers, Fault};
use crate::{
    budget::Purse,
    domain::{Example, Profile, ProgramHash, Task},
    ids::{ActorName, ConversationId, Seq},
    llm::{ChatModel, Parameters},
    prompts::Prompt,
    sandbox::Sandbox,
};

/// Is told who begins which turn, inside the turn's own task: a panic here is a panic of the turn.
pub type Watch = Arc<dyn Fn(&ActorName, Seq) + Send + Sync>;

/// What all actors of one conversation share.
pub struct Scene {
    /// Which conversation.
    pub conversation: ConversationId,
    /// The problem as roles see it.
    pub task: Arc<Task>,
    /// Sample of the task, from 0.
    pub sample: u32,
    /// Seed of the run.
    pub seed: u64,
    /// Runs programs.
    pub sandbox: Arc<dyn Sandbox>,
    /// Keeps what models answer, where something does.
    pub answers: Option<Arc<dyn Answers>>,
    /// Told when a turn begins: progress displays listen here, and tests inject panics.
    pub watch: Option<Watch>,
    /// What its calls take from, beside the conversation's own budget: those that other conversations share.
    pub purse: Purse,
    /// Profiles by program, so that each parent is profiled once.
    pub profiles: Mutex<BTreeMap<ProgramHash, Arc<Profile>>>,
}

/// An actor's place in a conversation: what it needs beyond its settings.
pub struct Seat {
    /// Its name in the arrangement.
    pub actor: ActorName,
    /// The model that it asks; `None` for roles that ask none.
    pub model: Option<Arc<dyn ChatModel>>,
    /// How it samples.
    pub parameters: Parameters,
    /// Its prompts by key.
    pub prompts: BTreeMap<String, Arc<Prompt>>,
    /// Solved tasks that its prompts show; none for a model that reads no prompts.
    pub examples: Arc<[Arc<Example>]>,
    /// What all actors share.
    pub scene: Arc<Scene>,
}

impl Seat {
    /// The prompt under this key.
    ///
    /// # Errors
    /// [`Fault::Setup`] where the seat has none.
    pub fn prompt(&self, key: &str) -> Result<&Prompt, Fault> {
        let prompt = self.prompts.get(key).map(Arc::as_ref);
        prompt.ok_or_else(|| Fault::Setup(format!("{} has no prompt `{key}`", self.actor)))
    }
}
