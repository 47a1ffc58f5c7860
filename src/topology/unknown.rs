//! What is said of a key that does not belong where it stands.

use crate::{
    agents::ROLES,
    config::{Mistake, Place, did_you_mean, find_key, is_section, listed, quoted},
};

use super::schema::{ACTOR_KEYS, TOP_KEYS, TOP_SHAPES};

/// What belongs to the run rather than to the arrangement.
const OPTIONS: &[&str] = &["seed", "samples", "concurrency", "tasks", "task", "benchmark"];

/// The mistake that the key `name` stands in `table` (empty for the top level), which knows only `known`.
pub(super) fn unknown_key(name: &str, place: &Place, table: &str, known: &[&str]) -> Mistake {
    let what = match table {
        "" => format!("{} is not a top-level key", quoted(name)),
        table => format!("{} is not a key of {}", quoted(name), quoted(table)),
    };
    let advice = match home(name, table) {
        Some(home) => format!("; {home}"),
        None => did_you_mean(name, known),
    };
    let of = if table.is_empty() { "at the top level".to_owned() } else { format!("of {}", quoted(table)) };
    Mistake::at(place, format!("{what}{advice}")).hint(format!("keys {of}: {}", listed(known)))
}

/// Where a key that stands in the wrong table belongs.
fn home(name: &str, table: &str) -> Option<String> {
    if table.is_empty() {
        return option(name).or_else(|| home_in_section(name));
    }
    if let Some(actor) = table.strip_prefix("actors.").filter(|rest| !rest.contains('.')) {
        if find_key(ACTOR_KEYS, &format!("parameters.{name}")).is_some() && option(name).is_none() {
            return Some(format!("it is a parameter: write it in `[actors.{actor}.parameters]`"));
        }
        if ROLES.iter().any(|entry| entry.spec.settings.iter().any(|key| key.name == name)) {
            return Some(format!("it is a setting: write it in `[actors.{actor}.settings]`"));
        }
    }
    if let Some(actor) = table.strip_prefix("actors.").and_then(|rest| rest.strip_suffix(".settings"))
        && find_key(ACTOR_KEYS, name).is_some()
    {
        return Some(format!("it is a key of the actor: write it in `[actors.{actor}]`"));
    }
    if find_key(TOP_KEYS, name).is_some() || ["extends", "remove_actors", "replace_edges"].contains(&name) {
        return Some("it is a top-level key: move it above the first table".to_owned());
    }
    if is_section(TOP_KEYS, name) {
        return Some(format!("it is a table of the top level: write `[{name}]`"));
    }
    if TOP_SHAPES.contains(&name) && name != "actors" {
        return Some(format!("it is a list of the top level: write `[[{name}]]`"));
    }
    option(name).or_else(|| home_in_section(name))
}

fn home_in_section(name: &str) -> Option<String> {
    let paths = TOP_KEYS.iter().filter_map(|key| key.path.split_once('.'));
    let mut homes = paths.filter(|(_, last)| *last == name).map(|(section, _)| section);
    homes.next().map(|section| format!("it is a key of `[{section}]`"))
}

fn option(name: &str) -> Option<String> {
    OPTIONS.contains(&name).then(|| format!("it is an option of the command line: `--{name}`"))
}
