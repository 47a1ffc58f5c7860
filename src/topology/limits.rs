//! Budgets and the other values of the whole arrangement.

use std::num::NonZeroU32;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{
    config::{Mistake, find_key, listed, quoted},
    domain::TimeoutPolicy,
};

use super::{BudgetLimits, Feedback, Parents, Search, Stop, draft::Values, member::Member, schema};

/// The value of a top-level key, or its default.
fn effective(values: &Values, path: &str) -> Option<Value> {
    let default = || find_key(schema::TOP_KEYS, path).and_then(|key| key.default).map(|default| default());
    values.get(path).map(|written| written.value.clone()).or_else(default)
}

fn count(values: &Values, path: &str) -> Option<u64> {
    effective(values, path).as_ref().and_then(Value::as_u64)
}

fn small(values: &Values, path: &str) -> Option<u32> {
    count(values, path).and_then(|number| number.try_into().ok())
}

/// The budgets; a word for "no limit" is `None`.
pub(super) fn budget(values: &Values) -> BudgetLimits {
    BudgetLimits {
        programs: small(values, "budget.programs"),
        model_calls: small(values, "budget.model_calls"),
        tokens: count(values, "budget.tokens"),
        wall_secs: effective(values, "budget.wall_secs").as_ref().and_then(Value::as_f64),
        generations: small(values, "budget.generations"),
    }
}

/// How many turns may be under way; a budget in tokens leaves one, so that it is never overspent.
pub(super) fn parallel_turns(values: &Values) -> u32 {
    if budget(values).tokens.is_some() { 1 } else { small(values, "run.parallel_turns").unwrap_or(u32::MAX) }
}

/// A value that is one of a list of words.
fn word<T: DeserializeOwned + Default>(values: &Values, path: &str) -> T {
    effective(values, path).and_then(|value| serde_json::from_value(value).ok()).unwrap_or_default()
}

/// How it searches; `drafting` is whether somebody writes first drafts, `ranked` whether a ranker chooses the parents.
pub(super) fn search(values: &Values, drafting: bool, ranked: bool) -> Search {
    let parents: Parents = word(values, "search.parents");
    let widths: Vec<u32> = word(values, "search.widths");
    let barrier = match values.text("search.barrier") {
        Some(barrier) => barrier == "generation",
        None => !ranked && (parents != Parents::Beam || !widths.is_empty()),
    };
    Search {
        parents,
        barrier,
        child_order: word(values, "search.child_order"),
        duplicates: word(values, "search.duplicates"),
        widths,
        first_round: u32::from(!drafting),
    }
}

/// What ends it.
pub(super) fn stop(values: &Values) -> Stop {
    let no_improvement = small(values, "stop.no_improvement").and_then(NonZeroU32::new);
    Stop { on: word(values, "stop.on"), no_improvement }
}

/// How tests feed back.
pub(super) fn feedback(values: &Values) -> Feedback {
    let timeouts = small(values, "feedback.timeouts").map_or(TimeoutPolicy::All, TimeoutPolicy::After);
    let faulty_lines = values.text("feedback.faulty_lines") == Some("marked");
    Feedback { timeouts, test_cpu_ms: count(values, "feedback.test_cpu_ms"), faulty_lines }
}

/// Budgets that cannot be kept are mistakes.
pub(super) fn check(values: &Values, members: &[Member<'_>], mistakes: &mut Vec<Mistake>) {
    let asking = || members.iter().filter(|member| member.part.as_ref().is_some_and(|part| part.asks));
    for (path, what) in [("budget.cost", "price"), ("budget.gpu_secs", "number of GPUs")] {
        let Some(written) = values.get(path).filter(|written| written.value.is_number()) else { continue };
        let mut models: Vec<String> = asking()
            .filter_map(|member| member.part.as_ref().and_then(|part| part.model.as_ref()))
            .map(|model| quoted(&model.name))
            .collect();
        models.sort_unstable();
        models.dedup();
        let of = if models.is_empty() { String::new() } else { format!(" of {}", listed(models)) };
        let message = format!("`{path}` cannot be kept: the {what}{of} is not known");
        mistakes.push(Mistake::at(&written.place, message).hint("set a budget in programs, model_calls or tokens"));
    }
    let Some(tokens) = values.get("budget.tokens").filter(|written| written.value.is_number()) else { return };
    let unbounded = asking().filter(|member| {
        let path = "parameters.max_output_tokens";
        let bounded = member.part.as_ref().is_some_and(|part| part.node.parameters.max_output_tokens.is_some());
        !bounded && !member.draft.values.mentions(path) && !values.mentions(path)
    });
    let names: Vec<&str> = unbounded.map(|member| member.draft.name.value.as_str()).collect();
    if !names.is_empty() {
        let message = format!("`budget.tokens` cannot be kept: no `max_output_tokens` for {}", listed(names));
        let hint = "set `max_output_tokens` in `[parameters]` or in the actors' own";
        mistakes.push(Mistake::at(&tokens.place, message).hint(hint));
    }
}
