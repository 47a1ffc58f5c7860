use std::collections::BTreeSet;

use minijinja::Environment;
use serde_json::Value;

use super::{
    data::{PromptData, Trial},
    error::PromptError,
    parts::Part,
};
use crate::{domain::Place, llm::Purpose};

/// Names in a part of a prompt that prompts of `purpose` do not have, in the order of their places.
pub fn check_names(
    templates: &Environment<'_>,
    purpose: Purpose,
    file: &str,
    text: &str,
    part: &Part,
) -> Vec<PromptError> {
    let Ok(template) = templates.get_template(part.role.name()) else {
        return Vec::new(); // its syntax error is reported already
    };
    let data = known(purpose);
    let globals: BTreeSet<String> = templates.globals().map(|(name, _)| name.to_owned()).collect();
    let names = template.undeclared_variables(true).into_iter();
    let mut found: Vec<PromptError> = names
        .filter(|name| !globals.contains(name.split('.').next().unwrap_or(name)))
        .filter_map(|name| {
            let known = instead(&data, &name)?;
            let offset = part.range.start + offset_of(&name, &text[part.range.clone()]);
            let nearest = nearest(&name, &known);
            Some(PromptError::UnknownName { place: Place::of(file, text, offset), name, purpose, nearest, known })
        })
        .collect();
    found.sort_by_key(|error| match error {
        PromptError::UnknownName { place, name, .. } => (place.line, place.column, name.clone()),
        PromptError::Syntax { place, .. } | PromptError::Render { place, .. } => {
            (place.line, place.column, String::new())
        }
    });
    found
}

/// The data that a prompt of `purpose` gets, with every field that it can have.
fn known(purpose: Purpose) -> Value {
    let mut data = serde_json::to_value(PromptData::example(purpose, Trial::Full)).unwrap_or_default();
    if let Value::Object(fields) = &mut data {
        fields.retain(|_, value| !value.is_null());
    }
    data
}

/// The names that there are where a dotted name leads nowhere; `None` where it leads somewhere. What lies in a list is
/// checked by rendering.
fn instead(data: &Value, name: &str) -> Option<Vec<String>> {
    let mut value = data;
    let mut path = String::new();
    for segment in name.split('.') {
        let Value::Object(fields) = value else {
            return if value.is_array() { None } else { Some(vec![path.trim_end_matches('.').to_owned()]) };
        };
        let Some(field) = fields.get(segment) else {
            return Some(fields.keys().map(|field| format!("{path}{field}")).collect());
        };
        path = format!("{path}{segment}.");
        value = field;
    }
    None
}

/// The known name that a wrong one most likely stands for, with what follows it.
fn nearest(name: &str, known: &[String]) -> Option<String> {
    let distance = |path: &str| {
        let depth = path.matches('.').count() + 1;
        let start: Vec<&str> = name.split('.').take(depth).collect();
        strsim::damerau_levenshtein(&start.join("."), path)
    };
    known.iter().map(|path| (distance(path), path)).filter(|(far, _)| *far <= 3).min().map(|(_, path)| path.clone())
}

/// Where a name first stands inside a tag of the template; the beginning, where it is written in another way.
fn offset_of(name: &str, template: &str) -> usize {
    let is_part_of_name = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    template
        .match_indices(name)
        .map(|(at, _)| at)
        .find(|at| {
            let (before, after) = (&template[..*at], &template[at + name.len()..]);
            let opened = before.rfind("{{").max(before.rfind("{%"));
            let closed = before.rfind("}}").max(before.rfind("%}"));
            let in_tag = opened.is_some() && opened > closed;
            in_tag && !before.ends_with(is_part_of_name) && !after.starts_with(|c| c != '.' && is_part_of_name(c))
        })
        .unwrap_or(0)
}
