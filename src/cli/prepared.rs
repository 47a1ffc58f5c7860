//! What a run works on: everything that its command names, read and found to be right.

use std::sync::Arc;

use super::{
    args::RunArgs,
    cast, examples,
    exit::Failure,
    interventions,
    keeping::{ARRANGEMENT, Undertaking},
    machine, problems,
    replayed::Replayed,
    sharding::ShardAsked,
};
use crate::{
    agents::asks_endpoint,
    config::model_capabilities,
    conversation::ExamplePool,
    domain::Problem,
    evaluation::records::Groundwork,
    topology::{Checked, Node, Overrides, Plan, TopologyRef, load_plan},
};

/// Tasks and examples, and how one tells whether all is as it was.
pub struct Prepared {
    /// The tasks.
    pub problems: Vec<Arc<Problem>>,
    /// What prompts show.
    pub examples: Arc<ExamplePool>,
    /// What the run is asked to do.
    pub undertaking: Undertaking,
}

impl Prepared {
    /// Of a command, whose arrangement is loaded.
    ///
    /// # Errors
    /// Whatever is wrong with the tasks, or with them under this arrangement.
    pub fn of(args: &RunArgs, checked: &Checked, replayed: Option<&Replayed>) -> Result<Self, Failure> {
        let problems = problems::load(&args.source, &args.data, args.feedback().into())?;
        cast::refuse_what_cannot_start(&checked.plan, &problems)?;
        interventions::refuse_what_cannot_be_done(&checked.plan, &problems)?;
        cast::refuse_what_is_unset(&checked.plan)?;
        let examples = Arc::new(examples::load(&checked.plan, &problems)?);
        let limits = &checked.plan.feedback;
        let problems: Vec<Arc<Problem>> =
            problems.into_iter().map(|problem| problems::with_feedback_limits(problem, limits)).collect();
        let mut undertaking = undertaking(args, &checked.plan, &problems, &examples);
        if let Some(replayed) = replayed {
            refuse_endpoints(&checked.plan)?;
            undertaking.parts.insert("the recorded run".to_owned(), replayed.run().to_owned());
        }
        Ok(Self { problems, examples, undertaking })
    }
}

/// Refuses an arrangement that is to be made again without a network and asks somebody for rewards.
///
/// # Errors
/// The first such actor.
pub fn refuse_endpoints(plan: &Plan) -> Result<(), Failure> {
    let asks = |node: &&Node| node.spec.name == "critic" && asks_endpoint(&node.settings);
    match plan.nodes.iter().find(asks) {
        Some(node) => Err(Failure::usage(format!(
            "{} asks an endpoint for rewards, and its answers are not replayed: this run cannot be made again without it",
            node.name
        ))),
        None => Ok(()),
    }
}

/// The arrangement that a command names, with all that it changes of it.
///
/// # Errors
/// Every mistake of its files.
pub fn load(args: &RunArgs, replayed: Option<&Replayed>) -> Result<Checked, Failure> {
    let models = replayed.map_or_else(|| args.model.clone(), Replayed::overrides);
    let overrides = Overrides::new(&models, &args.budget, args.parallel_turns.as_deref(), &machine::variable)
        .with_prompts(args.prompts.as_deref())
        .with_shared_budgets(&args.run_budget, &args.arm_budget, &args.task_budget)
        .with_examples(args.examples.as_deref(), args.examples_benchmark.as_deref());
    load_plan(&TopologyRef(args.topology.clone()), &overrides, &model_capabilities).map_err(Failure::usage)
}

/// What the run is asked to do, by what can change of it between two calls of the command.
fn undertaking(args: &RunArgs, plan: &Plan, problems: &[Arc<Problem>], examples: &ExamplePool) -> Undertaking {
    let hash = |text: String| blake3::hash(text.as_bytes()).to_hex().to_string();
    let groundwork = Groundwork::of(problems, args.samples());
    let tasks: Vec<&str> = groundwork.tasks.iter().map(|task| task.hash.as_str()).collect();
    let settings = format!("{:?}", (args.samples(), args.feedback(), args.sandbox(), args.calibrate_limits));
    let diagnoses = args.diagnoses.as_ref().and_then(|file| std::fs::read(file).ok());
    let parts = [
        (ARRANGEMENT, plan.hash.clone()),
        ("the tasks", hash(tasks.join(" "))),
        ("the settings", hash(settings)),
        ("the examples", examples.fingerprint()),
        ("the diagnoses", blake3::hash(&diagnoses.unwrap_or_default()).to_hex().to_string()),
    ];
    Undertaking {
        parts: parts.into_iter().map(|(part, hash)| (part.to_owned(), hash)).collect(),
        groundwork,
        seed: args.seed,
        topology: plan.name.clone(),
        planned: problems.len() * args.samples() as usize,
        shard: ShardAsked::of(args),
        data: problems::found(&args.source, &args.data),
    }
}
