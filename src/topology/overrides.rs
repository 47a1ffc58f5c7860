use std::sync::Arc;

use serde_json::Value;

use crate::{
    agents::role,
    config::{Located, Medium, Mistake, Place, TextSource, did_you_mean, find_key, listed, names_below, quoted},
};

use super::{draft::Draft, schema::TOP_KEYS};

/// A value given outside the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    /// The value as given.
    pub text: String,
    /// The environment variable that it comes from; `None` for an option of the command line.
    pub variable: Option<&'static str>,
}

/// What the command line and the environment say over the file. Options are stronger than variables; within each a
/// value for one actor is stronger than one for all, and else the later one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// `NAME` for every actor that asks a model, or `ACTOR=NAME` for one.
    pub model: Vec<Override>,
    /// `KEY=VALUE` pairs of `[budget]`, several separated by commas. Each replaces its key only.
    pub budget: Vec<Override>,
    /// The same of `[run.budget]`.
    pub run_budget: Vec<Override>,
    /// The same of `[arm.budget]`.
    pub arm_budget: Vec<Override>,
    /// The same of `[task.budget]`.
    pub task_budget: Vec<Override>,
    /// A value of `run.parallel_turns`.
    pub parallel_turns: Option<Override>,
    /// A value of `prompts_dir`.
    pub prompts: Option<Override>,
    /// Where examples are: a value of `examples.path` where they are of a data set, else of `examples.tasks`.
    pub examples: Option<Override>,
    /// A value of `examples.benchmark`; what the file says of its own source no longer holds.
    pub examples_benchmark: Option<Override>,
}

/// Options and variables come behind all files and prompts in the list of mistakes, in this order.
const MODEL_ORDER: usize = 1 << 20;
const BUDGET_ORDER: usize = 2 << 20;
const PARALLEL_TURNS_ORDER: usize = 3 << 20;
const PROMPTS_ORDER: usize = 4 << 20;
const EXAMPLES_ORDER: usize = 5 << 20;
const EXAMPLES_BENCHMARK_ORDER: usize = 6 << 20;
const RUN_BUDGET_ORDER: usize = 7 << 20;
const ARM_BUDGET_ORDER: usize = 8 << 20;
const TASK_BUDGET_ORDER: usize = 9 << 20;

const MODEL: (&str, &str) = ("--model", "ROLECALL_MODEL");
const BUDGET: (&str, &str) = ("--budget", "ROLECALL_BUDGET");
const PARALLEL_TURNS: (&str, &str) = ("--parallel-turns", "ROLECALL_PARALLEL_TURNS");

impl Overrides {
    /// The values of the command line over those of the environment (`ROLECALL_MODEL`, `ROLECALL_BUDGET`,
    /// `ROLECALL_PARALLEL_TURNS`, read by `variable`; empty ones count as absent).
    pub fn new(
        model: &[String],
        budget: &[String],
        parallel_turns: Option<&str>,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Self {
        let from_variable = |name: &'static str| {
            let text = variable(name).filter(|text| !text.is_empty())?;
            Some(Override { text, variable: Some(name) })
        };
        let both = |name: &'static str, options: &[String]| {
            from_variable(name).into_iter().chain(options.iter().map(|text| option(text))).collect()
        };
        Self {
            model: both(MODEL.1, model),
            budget: both(BUDGET.1, budget),
            parallel_turns: parallel_turns.map(option).or_else(|| from_variable(PARALLEL_TURNS.1)),
            ..Self::default()
        }
    }

    /// These, with the folder of `--prompts`.
    pub fn with_prompts(self, folder: Option<&str>) -> Self {
        Self { prompts: folder.map(option), ..self }
    }

    /// These, with what `--examples` and `--examples-benchmark` say.
    pub fn with_examples(self, path: Option<&str>, benchmark: Option<&str>) -> Self {
        Self { examples: path.map(option), examples_benchmark: benchmark.map(option), ..self }
    }

    /// These, with what `--run-budget`, `--arm-budget` and `--task-budget` say.
    pub fn with_shared_budgets(self, run: &[String], arm: &[String], task: &[String]) -> Self {
        let options = |texts: &[String]| texts.iter().map(|text| option(text)).collect();
        Self { run_budget: options(run), arm_budget: options(arm), task_budget: options(task), ..self }
    }

    /// Lays the values over the arrangement.
    pub(super) fn apply(&self, draft: &mut Draft, mistakes: &mut Vec<Mistake>) {
        self.apply_models(draft, mistakes);
        for (given, name, order, table) in [
            (&self.budget, BUDGET.0, BUDGET_ORDER, "budget"),
            (&self.run_budget, "--run-budget", RUN_BUDGET_ORDER, "run.budget"),
            (&self.arm_budget, "--arm-budget", ARM_BUDGET_ORDER, "arm.budget"),
            (&self.task_budget, "--task-budget", TASK_BUDGET_ORDER, "task.budget"),
        ] {
            for (index, given) in given.iter().enumerate() {
                let whole = given.located(name, order + index);
                pieces(&whole).iter().for_each(|pair| apply_budget(table, pair, draft, mistakes));
            }
        }
        if let Some(given) = &self.parallel_turns {
            set("run.parallel_turns", &given.located(PARALLEL_TURNS.0, PARALLEL_TURNS_ORDER), draft, mistakes);
        }
        if let Some(given) = &self.prompts {
            set_text("prompts_dir", &given.located("--prompts", PROMPTS_ORDER), draft, mistakes);
        }
        self.apply_examples(draft, mistakes);
    }

    fn apply_examples(&self, draft: &mut Draft, mistakes: &mut Vec<Mistake>) {
        if let Some(given) = &self.examples_benchmark {
            draft.values.forget(&["examples.tasks", "examples.path"]);
            let given = given.located("--examples-benchmark", EXAMPLES_BENCHMARK_ORDER);
            set_text("examples.benchmark", &given, draft, mistakes);
        }
        if let Some(given) = &self.examples {
            let of_data_set = draft.values.mentions("examples.benchmark");
            let key = if of_data_set { "examples.path" } else { "examples.tasks" };
            set_text(key, &given.located("--examples", EXAMPLES_ORDER), draft, mistakes);
        }
    }

    fn apply_models(&self, draft: &mut Draft, mistakes: &mut Vec<Mistake>) {
        for from_variable in [true, false] {
            let given = self.model.iter().enumerate().filter(|(_, given)| given.variable.is_some() == from_variable);
            let located: Vec<Located<String>> =
                given.map(|(index, given)| given.located(MODEL.0, MODEL_ORDER + index)).collect();
            for model in located.iter().filter(|model| actor_of(model).is_none()) {
                set_model_of_all(model, draft, mistakes);
            }
            for (actor, model) in located.iter().filter_map(actor_of) {
                set_model_of_one(&actor, &model, draft, mistakes);
            }
        }
    }
}

fn option(text: &str) -> Override {
    Override { text: text.to_owned(), variable: None }
}

impl Override {
    fn located(&self, option: &str, order: usize) -> Located<String> {
        let (name, medium) = match self.variable {
            Some(variable) => (variable, Medium::Environment),
            None => (option, Medium::Flag),
        };
        let source = Arc::new(TextSource::new(name, &self.text, medium, order));
        let place = Place::new(&source, 0..self.text.len());
        Located::new(self.text.clone(), place)
    }
}

fn part(of: &Located<String>, start: usize, end: usize) -> Located<String> {
    let offset = of.place.span().start;
    let text = of.value.get(start..end).unwrap_or_default().to_owned();
    Located::new(text, Place::new(of.place.source(), offset + start..offset + end))
}

fn pieces(of: &Located<String>) -> Vec<Located<String>> {
    let mut start = 0;
    let mut pieces = Vec::new();
    for text in of.value.split(',') {
        pieces.push(part(of, start, start + text.len()));
        start += text.len() + 1;
    }
    pieces
}

fn split_at_equals(of: &Located<String>) -> Option<(Located<String>, Located<String>)> {
    let at = of.value.find('=')?;
    Some((part(of, 0, at), part(of, at + 1, of.value.len())))
}

/// `ACTOR=NAME`, where what stands before the sign can name an actor: ids of models may hold one too.
fn actor_of(given: &Located<String>) -> Option<(Located<String>, Located<String>)> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    split_at_equals(given).filter(|(actor, _)| !actor.value.is_empty() && actor.value.chars().all(fits))
}

fn set_model_of_all(model: &Located<String>, draft: &mut Draft, mistakes: &mut Vec<Mistake>) {
    if model.value.trim().is_empty() {
        return mistakes.push(Mistake::at(&model.place, "the name of a model is missing"));
    }
    for actor in &mut draft.actors {
        let asks = actor.values.text("role").and_then(role).is_some_and(|entry| !entry.spec.asks.is_empty());
        if asks {
            let value = Located::new(Value::String(model.value.clone()), model.place.clone());
            actor.values.set("model", &model.place, value);
        }
    }
}

fn set_model_of_one(actor: &Located<String>, model: &Located<String>, draft: &mut Draft, mistakes: &mut Vec<Mistake>) {
    if model.value.trim().is_empty() {
        return mistakes.push(Mistake::at(&model.place, "the name of a model is missing"));
    }
    let known: Vec<String> = draft.actors.iter().map(|actor| actor.name.value.clone()).collect();
    match draft.actors.iter_mut().find(|other| other.name.value == actor.value) {
        Some(found) => {
            let value = Located::new(Value::String(model.value.clone()), model.place.clone());
            found.values.set("model", &actor.place, value);
        }
        None => {
            let message = format!("there is no actor {}{}", quoted(&actor.value), did_you_mean(&actor.value, &known));
            mistakes.push(Mistake::at(&actor.place, message).hint(format!("actors: {}", listed(known))));
        }
    }
}

fn apply_budget(table: &str, pair: &Located<String>, draft: &mut Draft, mistakes: &mut Vec<Mistake>) {
    let known = names_below(TOP_KEYS, table);
    let hint = format!("budgets: {}", listed(&known));
    let Some((key, value)) = split_at_equals(pair) else {
        let message = format!("{} is not KEY=VALUE", quoted(&pair.value));
        return mistakes.push(Mistake::at(&pair.place, message).hint(hint));
    };
    let name = key.value.trim();
    if known.contains(&name) {
        set(&format!("{table}.{name}"), &value, draft, mistakes);
    } else {
        let message = format!("{} is not a budget{}", quoted(name), did_you_mean(name, &known));
        mistakes.push(Mistake::at(&key.place, message).hint(hint));
    }
}

/// Sets a top-level key that takes a number or a word.
fn set(path: &str, given: &Located<String>, draft: &mut Draft, mistakes: &mut Vec<Mistake>) {
    let Some(key) = find_key(TOP_KEYS, path) else { return };
    let text = given.value.trim();
    let number = text.parse::<u64>().map(Value::from).or_else(|_| text.parse::<f64>().map(Value::from));
    let value = number.unwrap_or_else(|_| Value::String(text.to_owned()));
    if key.form.accepts(&value) {
        draft.values.set(path, &given.place, Located::new(value, given.place.clone()));
    } else {
        draft.values.set_broken(path);
        let message = format!("`{path}` must be {}, not {}", key.form.words(), quoted(text));
        mistakes.push(Mistake::at(&given.place, message));
    }
}

/// Sets a top-level key that takes a text.
fn set_text(path: &str, given: &Located<String>, draft: &mut Draft, mistakes: &mut Vec<Mistake>) {
    if given.value.trim().is_empty() {
        let option = given.place.source().name();
        return mistakes.push(Mistake::at(&given.place, format!("the value of {option} is empty")));
    }
    draft.values.set(path, &given.place, Located::new(Value::String(given.value.clone()), given.place.clone()));
}
