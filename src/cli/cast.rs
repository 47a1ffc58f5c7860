//! Models and prompts for the actors of a plan, and what must be refused before anything starts.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    exit::{Exit, Failure},
    machine,
};
use crate::{
    agents,
    config::load_model,
    domain::Problem,
    ids::ActorName,
    llm::{
        ChatModel, ModelError,
        openai::{OpenAi, OpenAiSettings},
        templates::Templates,
    },
    prompts::Prompt,
    topology::Plan,
};

/// The name of the built-in model.
pub const TEMPLATES: &str = "templates";

/// A model of each actor that asks one.
pub type Models = BTreeMap<ActorName, Arc<dyn ChatModel>>;

/// The prompts of each actor, by key.
pub type Prompts = BTreeMap<ActorName, BTreeMap<String, Arc<Prompt>>>;

/// Refuses tasks that the arrangement cannot begin: without a starter where nobody drafts, or where the drafting model
/// needs one.
///
/// # Errors
/// Every such task, by actor and model.
pub fn refuse_what_cannot_start(plan: &Plan, problems: &[Problem]) -> Result<(), Failure> {
    let without: Vec<&str> = problems
        .iter()
        .filter(|problem| problem.task.starter.is_none())
        .map(|problem| problem.task.id.0.as_str())
        .collect();
    let Some(first) = without.first() else { return Ok(()) };
    let drafting: Vec<_> = plan.drafting().map(|index| &plan.nodes[index]).collect();
    let tasks = if without.len() == 1 {
        format!("task {first} has none")
    } else {
        format!("{} tasks, {first} first, have none", without.len())
    };
    if drafting.is_empty() {
        return Err(Failure::usage(format!(
            "{} has no role that drafts, so a starter program is needed: {tasks}",
            plan.name
        )));
    }
    for node in drafting {
        if node.model.as_deref() == Some("templates") {
            return Err(Failure::usage(format!(
                "{} drafts with `templates`, which changes a starter program: {tasks}\n  hint: choose another model with --model {}=NAME",
                node.name, node.name
            )));
        }
    }
    Ok(())
}

/// Refuses an arrangement whose roles read variables of the environment that are not set.
///
/// # Errors
/// Every such variable, by the key that names it.
pub fn refuse_what_is_unset(plan: &Plan) -> Result<(), Failure> {
    let mut mistakes = Vec::new();
    for node in &plan.nodes {
        let variables = agents::role(node.spec.name).map_or_else(Vec::new, |role| role.variables(&node.settings));
        for (key, variable) in variables {
            if machine::variable(&variable).is_none_or(|value| value.trim().is_empty()) {
                mistakes.push(format!(
                    "`actors.{}.settings.{key}` names the environment variable {variable}, which is not set",
                    node.name
                ));
            }
        }
    }
    if mistakes.is_empty() { Ok(()) } else { Err(Failure::usage(mistakes.join("\n"))) }
}

/// Connects every model once, and seats it with each actor that asks it. Servers that load are waited for, up to `wait_secs`.
/// Warnings come beside.
///
/// # Errors
/// A model that cannot be connected, by its name.
pub async fn models(plan: &Plan, wait_secs: f64) -> Result<(Models, Vec<String>), Failure> {
    let mut connected: BTreeMap<String, Arc<dyn ChatModel>> = BTreeMap::new();
    let (mut seated, mut warnings) = (Models::new(), Vec::new());
    for node in &plan.nodes {
        let Some(name) = &node.model else { continue };
        let model = match connected.get(name) {
            Some(model) => model.clone(),
            None => {
                let (model, more) = connect(name, wait_secs).await?;
                warnings.extend(more);
                connected.insert(name.clone(), model.clone());
                model
            }
        };
        seated.insert(node.name.clone(), model);
    }
    Ok((seated, warnings))
}

/// How to reach the server of a model of this name.
///
/// # Errors
/// A model file that is not there or has mistakes.
pub fn settings(name: &str) -> Result<OpenAiSettings, Failure> {
    match name.split_once(':').map_or((name, None), |(kind, id)| (kind, Some(id))) {
        ("openai", id) => Ok(OpenAiSettings::from_environment(id.filter(|id| !id.is_empty()), machine::variable)),
        _ => load_model(name, None, machine::variable).map_err(Failure::usage),
    }
}

async fn connect(name: &str, wait_secs: f64) -> Result<(Arc<dyn ChatModel>, Vec<String>), Failure> {
    if name == TEMPLATES {
        return Ok((Arc::new(Templates::new()), Vec::new()));
    }
    let settings = settings(name)?;
    let (model, warnings) = OpenAi::connect(OpenAiSettings { wait_secs, ..settings }).await.map_err(|error| {
        let exit = if matches!(error, ModelError::Refused { .. }) { Exit::Refused } else { Exit::Usage };
        Failure { exit, message: format!("model {name}: {error}") }
    })?;
    Ok((Arc::new(model), warnings))
}

/// Parses every prompt of every actor.
///
/// # Errors
/// Every mistake in a prompt, located.
pub fn prompts(plan: &Plan) -> Result<Prompts, Failure> {
    let (mut prompts, mut mistakes) = (Prompts::new(), Vec::new());
    for node in &plan.nodes {
        for (key, reference) in &node.prompts {
            let Some(prompt) = node.spec.prompts.iter().find(|prompt| prompt.key == key) else { continue };
            match Prompt::load(prompt.purpose, &reference.reference, &reference.text) {
                Ok(prompt) => {
                    prompts.entry(node.name.clone()).or_default().insert(key.clone(), Arc::new(prompt));
                }
                Err(errors) => mistakes.extend(errors.iter().map(ToString::to_string)),
            }
        }
    }
    if mistakes.is_empty() { Ok(prompts) } else { Err(Failure::usage(mistakes.join("\n"))) }
}
