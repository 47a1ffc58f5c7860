//! What a command needs of this machine.

use std::{collections::BTreeSet, num::NonZero, path::PathBuf, sync::Arc};

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

/// A variable of the environment. What is not UTF-8 in it is shown, and refused, like any other value that is wrong.
pub fn variable(name: &str) -> Option<String> {
    std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
}
