//! What edges with `intervene` need beyond the arrangement: diagnoses of other tasks, references.

use std::{path::Path, sync::Arc};

use tokio_util::sync::CancellationToken;

use super::{
    cast::Prompts,
    exit::{Exit, Failure},
    machine,
};
use crate::{
    conversation::Placebo,
    domain::{Problem, read_regular_file},
    evaluation::placebos,
    messages::Intervention,
    sandbox::Sandbox,
    topology::{Plan, Source},
};

/// Largest file of diagnoses, in bytes.
const MAX_BYTES: u64 = 64 << 20;

/// Whether an edge of the arrangement does this.
fn has(plan: &Plan, intervention: Intervention) -> bool {
    plan.edges.iter().any(|edge| edge.intervene == Some(intervention))
}

/// Refuses tasks for which an edge cannot do what it is told to, as far as that is known before anything starts.
///
/// # Errors
/// A task without a reference program where an edge gives the differences from it.
pub fn refuse_what_cannot_be_done(plan: &Plan, problems: &[Problem]) -> Result<(), Failure> {
    let without = problems.iter().find(|problem| problem.reference.is_none());
    match without {
        Some(problem) if has(plan, Intervention::Oracle) => Err(Failure::usage(format!(
            "`intervene = \"oracle\"` needs the reference program of every task: task {} has none",
            problem.task.id
        ))),
        _ => Ok(()),
    }
}

/// Diagnoses of other tasks, where an edge shuffles them: from `file`, else what the static template of the actor before
/// that edge says of the starters of this run.
///
/// # Errors
/// A file that cannot be read, with the line; a task for which there is no diagnosis of another task.
pub async fn shuffled(
    plan: &Plan,
    prompts: &Prompts,
    problems: &[Arc<Problem>],
    file: Option<&Path>,
    sandbox: &dyn Sandbox,
    cancel: &CancellationToken,
) -> Result<Arc<[Placebo]>, Failure> {
    let Some(edge) = plan.edges.iter().find(|edge| edge.intervene == Some(Intervention::Shuffle)) else {
        return match file {
            Some(_) => Err(Failure::usage("--diagnoses has no use: no edge has `intervene = \"shuffle\"`")),
            None => Ok(Arc::default()),
        };
    };
    let all = match (file, edge.from) {
        (Some(file), _) => read(file)?,
        (None, Source::Task) => Vec::new(),
        (None, Source::Actor(from)) => {
            let name = &plan.nodes[from].name;
            let template = prompts.get(name).and_then(|prompts| prompts.get("static"));
            let template = template.ok_or_else(|| {
                Failure::usage(format!("{name} has no prompt `static` to write placebos with: give --diagnoses FILE"))
            })?;
            let written = placebos(problems, template, sandbox, machine::cores(), cancel).await;
            written.map_err(|error| Failure { exit: Exit::SomeFailed, message: format!("placebos: {error}") })?
        }
    };
    let lonely = problems.iter().find(|problem| all.iter().all(|placebo| placebo.task == problem.task.id));
    if let Some(problem) = lonely {
        return Err(Failure::usage(format!(
            "`intervene = \"shuffle\"` needs a diagnosis of another task for {}: run more tasks with starters, or give --diagnoses FILE",
            problem.task.id
        )));
    }
    Ok(all.into())
}

fn read(file: &Path) -> Result<Vec<Placebo>, Failure> {
    let wrong = |message: String| Failure::usage(format!("{}: {message}", file.display()));
    let bytes = read_regular_file(file, MAX_BYTES).map_err(|error| wrong(error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|_| wrong("not UTF-8".to_owned()))?;
    let lines = text.trim_start_matches('\u{feff}').lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(index, line)| {
            serde_json::from_str(line).map_err(|error| {
                let message = format!("{}: {error}; a line is {{\"task\": ID, \"text\": WORDS}}", index + 1);
                Failure::usage(format!("{}:{message}", file.display()))
            })
        })
        .collect()
}
