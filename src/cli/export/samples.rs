//! A line for each program, as packages that run tests read them.

use std::{fs, path::Path};

use serde::Serialize;

use super::{
    command::{Format, Programs},
    independence::Independence,
};
use crate::{
    cli::{exit::Failure, terminal},
    conversation::{ConversationRecord, kept_records},
    domain::Language,
    evaluation::records::ProgramRow,
    store::Store,
};

/// A line of either form.
#[derive(Debug, PartialEq, Serialize)]
#[serde(untagged)]
enum Sample<'a> {
    HumanEval { task_id: &'a str, completion: String },
    Evalplus { task_id: &'a str, solution: &'a str },
}

impl<'a> Sample<'a> {
    /// What is no program is a line too, with an empty one: it counts as a failure and not as absent.
    fn of(task_id: &'a str, text: Option<&'a str>, format: Format) -> Self {
        let text = text.unwrap_or_default();
        match format {
            Format::Evalplus => Self::Evalplus { task_id, solution: text },
            // The package puts this behind the prompt, which ends within a function that has its description for a body:
            // the whole program, from a new line on, defines that function once more.
            _ => Self::HumanEval { task_id, completion: format!("\n{text}\n") },
        }
    }
}

/// Writes the lines of a run, to stdout where there is no file; gives the number of conversations.
///
/// # Errors
/// Programs that are not Python, or not independent where all are asked for; a file that cannot be written; the store.
pub fn write(
    store: &Store,
    run: &str,
    (format, programs): (Format, Option<Programs>),
    file: Option<&Path>,
) -> Result<usize, Failure> {
    let mut lines = Vec::new();
    let mut conversations = 0;
    let mut independence = Independence::default();
    for record in kept_records(store, run).map_err(Failure::store)? {
        let record = record.map_err(Failure::store)?;
        conversations += 1;
        if programs == Some(Programs::All) {
            independence.see(&record).map_err(Failure::usage)?;
            for row in ProgramRow::of(&record, true) {
                lines.push(line(&record, row.result.language.zip(row.result.text.as_deref()), format)?);
            }
        } else {
            let best = record.best_program().map(|program| (program.language, program.text.as_str()));
            lines.push(line(&record, best, format)?);
        }
    }
    independence.warnings().iter().for_each(|words| terminal::talk(&format!("warning: {words}")));
    match file {
        None => lines.iter().for_each(|line| terminal::data(line)),
        Some(file) => {
            let text: String = lines.iter().flat_map(|line| [line, "\n"]).collect();
            fs::write(file, text).map_err(|error| Failure::usage(format!("{}: {error}", file.display())))?;
        }
    }
    Ok(conversations)
}

fn line(record: &ConversationRecord, program: Option<(Language, &str)>, format: Format) -> Result<String, Failure> {
    let task = record.head.task.0.as_str();
    if let Some((language, _)) = program.filter(|(language, _)| *language != Language::Python) {
        return Err(Failure::usage(format!("task {task} is in {}: both forms are for Python alone", language.name())));
    }
    serde_json::to_string(&Sample::of(task, program.map(|(_, text)| text), format)).map_err(Failure::store)
}
