//! What a command needs of this machine.

use std::{
    collections::{BTreeMap, BTreeSet},
    num::NonZero,
    path::PathBuf,
    sync::{Arc, OnceLock},
};

use tokio_util::sync::CancellationToken;

use super::{
    args::SandboxChoice,
    exit::{Exit, Failure},
    terminal,
};
use crate::{
    domain::{Language, OutputRule, Problem},
    evaluation::calibrate,
    sandbox::{LocalSandbox, Sandbox, SandboxError},
};

/// Cores that this process may use.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

/// This program, which sandboxes execute again.
///
/// # Errors
/// Where it cannot find itself.
pub fn launcher() -> Result<PathBuf, Failure> {
    std::env::current_exe()
        .map_err(|error| Failure { exit: Exit::Bug, message: format!("this program cannot find itself: {error}") })
}

/// The sandbox of this machine, launched by re-executing this binary, with the tools for `problems`.
///
/// # Errors
/// Where programs cannot be isolated or a tool is missing: exit code 69.
pub async fn sandbox(problems: &[Arc<Problem>], choice: SandboxChoice) -> Result<Arc<dyn Sandbox>, Failure> {
    let launcher = launcher()?;
    if choice == SandboxChoice::Reduced {
        terminal::talk(
            "warning: reduced isolation: programs run among the processes of this machine, without a file system, network \
             and process tree of their own; a program that gets past the filter of system calls or Landlock meets no \
             further wall, and one may outlive a killed Rolecall. Every record says so",
        );
    }
    let mut languages: BTreeSet<_> = problems.iter().map(|problem| problem.task.language).collect();
    let checked = |problem: &Arc<Problem>| matches!(problem.task.visible.output_rule(), Some(OutputRule::Checker(_)));
    if problems.iter().any(checked) {
        // Checkers are Python, whatever the language of the program.
        languages.insert(Language::Python);
    }
    let languages: Vec<_> = languages.into_iter().collect();
    match LocalSandbox::start_with(launcher, cores(), &languages, &choice.into()).await {
        Ok(sandbox) => Ok(Arc::new(sandbox)),
        Err(error @ (SandboxError::Isolation { .. } | SandboxError::MissingTool { .. })) => {
            Err(Failure::machine(error))
        }
        Err(error) => Err(Failure { exit: Exit::Machine, message: error.to_string() }),
    }
}

/// `problems` with limits measured on this machine.
///
/// # Errors
/// An interrupt; faults of this machine.
pub async fn calibrated(
    problems: Vec<Arc<Problem>>,
    sandbox: &dyn Sandbox,
    stop: &CancellationToken,
) -> Result<Vec<Arc<Problem>>, Failure> {
    calibrate(problems, sandbox, cores(), stop).await.map_err(|error| {
        let exit = if matches!(error, SandboxError::Cancelled) { Exit::Interrupted } else { Exit::Machine };
        Failure { exit, message: format!("calibrating limits: {error}") }
    })
}

/// Variables that decide what a run is.
const DECIDING: &[&str] = &["ROLECALL_MODEL", "ROLECALL_BUDGET", "ROLECALL_PARALLEL_TURNS"];

/// Those of the run that this process goes on with, or makes again.
static OF_RUN: OnceLock<BTreeMap<String, String>> = OnceLock::new();

/// The variables that decide what a run is, as far as they are set.
pub fn deciding_variables() -> BTreeMap<String, String> {
    DECIDING.iter().filter_map(|name| Some(((*name).to_owned(), variable(name)?))).collect()
}

/// From here on the variables that decide what a run is are those that a run was begun with, whatever the environment says by
/// now. The first that is told stays.
pub fn take_variables_of_run(variables: Option<&BTreeMap<String, String>>) {
    if let Some(variables) = variables {
        // Whoever told it before is the same command.
        let _ = OF_RUN.set(variables.clone());
    }
}

/// A variable of the environment. What is not UTF-8 in it is shown, and refused, like any other value that is wrong.
pub fn variable(name: &str) -> Option<String> {
    if let Some(variables) = OF_RUN.get().filter(|_| DECIDING.contains(&name)) {
        return variables.get(name).cloned();
    }
    std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
}
