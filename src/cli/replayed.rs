//! `--model replay:RUN`: every model says what it said in a run that is kept.

use std::sync::Arc;

use super::{
    args::RunArgs,
    cast::Models,
    exit::Failure,
    keeping::RunFacts,
    store::{find, open_kept},
};
use crate::{
    conversation::recording,
    llm::replay::{Recording, Replay},
    topology::Plan,
};

/// What comes before the run in a model's name.
const PREFIX: &str = "replay:";

/// A run that is asked again.
pub struct Replayed {
    run: String,
    facts: RunFacts,
    recording: Arc<Recording>,
}

impl Replayed {
    /// The run that `--model replay:RUN` names, if it does.
    ///
    /// # Errors
    /// No such run; another `--model` beside it, since the models are those of that run.
    pub fn asked_for(args: &RunArgs) -> Result<Option<Self>, Failure> {
        let Some(word) = args.model.iter().find_map(|name| name.strip_prefix(PREFIX)) else {
            return match args.model.iter().find(|name| name.contains("=replay:")) {
                Some(one) => {
                    Err(Failure::usage(format!("--model {one}: a run is asked again as a whole: --model replay:RUN")))
                }
                None => Ok(None),
            };
        };
        if args.model.len() > 1 {
            return Err(Failure::usage(format!(
                "--model {PREFIX}{word} stands alone: every actor has the model that it had in that run"
            )));
        }
        let store = open_kept(&args.store)?;
        let row = find(&store, word)?;
        let facts = RunFacts::of(&row)?;
        let recording = recording(&store, &row.run).map_err(Failure::store)?;
        Ok(Some(Self { run: row.run, facts, recording: Arc::new(recording) }))
    }

    /// The run.
    pub fn run(&self) -> &str {
        &self.run
    }

    /// The names of its models, as `--model` takes them.
    pub fn overrides(&self) -> Vec<String> {
        self.facts.models.iter().map(|(actor, seated)| format!("{actor}={}", seated.name)).collect()
    }

    /// Its models, for the actors of `plan`.
    ///
    /// # Errors
    /// An actor that had no model in that run.
    pub fn models(&self, plan: &Plan) -> Result<Models, Failure> {
        let asking = plan.nodes.iter().filter(|node| node.model.is_some());
        asking
            .map(|node| {
                let seated = self.facts.models.get(&node.name).ok_or_else(|| {
                    Failure::usage(format!("run {} has no actor {} that asks a model", self.run, node.name))
                })?;
                let replay = Replay::new(&self.run, seated.model.clone(), self.recording.clone());
                Ok((node.name.clone(), Arc::new(replay) as _))
            })
            .collect()
    }
}
