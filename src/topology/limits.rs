//! The values of the whole arrangement, but for budgets.

use std::num::NonZeroU32;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{config::find_key, domain::TimeoutPolicy};

use super::{
    Feedback, Parents, Search, Stop, budgets,
    draft::{Draft, Values},
    schema,
};

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

/// How many turns may be under way.
pub(super) fn parallel_turns(draft: &Draft) -> u32 {
    if budgets::in_order(draft).is_some() { 1 } else { small(&draft.values, "run.parallel_turns").unwrap_or(u32::MAX) }
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
