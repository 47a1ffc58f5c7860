//! `rolecall trace list`: one line a conversation.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::{args::ListArgs, columns, files};
use crate::{
    cli::{
        exit::{Exit, Failure},
        terminal,
    },
    conversation::Outcome,
    telemetry::{Listed, State, list as read, trace_files},
};

/// States that can be asked for like outcomes.
const STATES: [State; 3] = [State::Running, State::Interrupted, State::Open];

/// Carries out `rolecall trace list`. Damaged files are told and never end it.
///
/// # Errors
/// A folder that cannot be read, an outcome that there is not.
pub fn list(args: &ListArgs) -> Result<Exit, Failure> {
    refuse_unknown_outcomes(&args.outcome)?;
    let found = match args.folder.is_file() {
        true => Ok(vec![args.folder.clone()]),
        false => trace_files(&args.folder).map_err(|error| files::unreadable(&args.folder, &error)),
    }?;
    let mut rows: Vec<(PathBuf, Listed)> = Vec::new();
    for file in found {
        match read(&file) {
            Ok(listed) if listed.spans == 0 => tell_unreadable(args, &file, &files::no_span(&file, &listed.damage)),
            Ok(listed) if is_wanted(args, &listed) => rows.push((file, listed)),
            Ok(_) => {}
            Err(error) => tell_unreadable(args, &file, &format!("{}: {error}", file.display())),
        }
    }
    rows.sort_by(|(file_a, a), (file_b, b)| (a.start, file_a).cmp(&(b.start, file_b)));
    for (file, listed) in &rows {
        if args.json {
            terminal::json(&listed.to_json(file));
        } else {
            tell_damage(file, listed);
        }
    }
    if !args.json {
        if rows.is_empty() {
            terminal::talk(&format!("no such conversations below {}", args.folder.display()));
        } else {
            files::print(&columns::table(&rows, files::look().width));
        }
    }
    Ok(Exit::Ended)
}

fn is_wanted(args: &ListArgs, listed: &Listed) -> bool {
    let begins = |wanted: &String| listed.run.as_ref().is_some_and(|run| run.starts_with(wanted.as_str()));
    let ended = |wanted: &String| listed.outcome.as_ref() == Some(wanted) || listed.state_name() == wanted.as_str();
    args.run.as_ref().is_none_or(begins)
        && (args.task.is_empty() || args.task.iter().any(|task| listed.task.as_ref() == Some(task)))
        && (args.outcome.is_empty() || args.outcome.iter().any(ended))
        && !(args.unsolved && listed.solved == Some(true))
}

fn refuse_unknown_outcomes(wanted: &[String]) -> Result<(), Failure> {
    let outcomes = Outcome::ALL.iter().map(|outcome| outcome.name());
    let known: Vec<&str> = outcomes.chain(STATES.map(State::name)).collect();
    match wanted.iter().find(|word| !known.contains(&word.as_str())) {
        Some(word) => Err(Failure::usage(format!("unknown outcome `{word}`\n  hint: {}", known.join(", ")))),
        None => Ok(()),
    }
}

fn tell_unreadable(args: &ListArgs, file: &Path, words: &str) {
    if args.json {
        terminal::json(&json!({"event": "unreadable", "file": file.to_string_lossy(), "reason": words}));
    } else {
        terminal::talk(&format!("note: {words}"));
    }
}

fn tell_damage(file: &Path, listed: &Listed) {
    if let Some(words) = files::damage(file, &listed.damage) {
        terminal::talk(&format!("note: {words}"));
    }
    if listed.cut {
        terminal::talk(&format!("note: {}: the last line is cut off", file.display()));
    }
}
