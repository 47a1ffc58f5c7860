//! Finds the tools of a language on this machine, and builds once what its toolchain wants prepared.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use tokio::process::Command;

use super::SandboxError;
use super::interpreter::outermost;
use super::slot::failed;
use crate::domain::Language;
use crate::languages::{Preparation, Toolchain, Tools, Wanted};

/// Where prepared things are kept; else `rolecall` below the user's cache directory.
const CACHE: &str = "ROLECALL_CACHE";

/// The directory that every program has for itself.
const PRIVATE: &str = "/tmp";

/// How long a tool may take to say its version or path.
const ASKING: Duration = Duration::from_secs(60);

/// What makes name spaces for users who may not.
pub(super) const BUBBLEWRAP: &str = "bwrap";

/// Says that a preparation is complete.
const COMPLETE: &str = "complete";

/// The tools of a language.
///
/// # Errors
/// [`SandboxError::MissingTool`] for the first that is absent, does not answer, or cannot prepare what is wanted of it.
pub(super) async fn find(toolchain: &dyn Toolchain) -> Result<Tools, SandboxError> {
    let language = toolchain.language();
    let mut tools = Tools::default();
    let mut readable = Vec::new();
    for wanted in toolchain.wanted() {
        let (path, version) = look_for(language, wanted).await?;
        readable.extend(path.ancestors().nth(wanted.levels).map(Path::to_path_buf));
        tools.programs.insert(wanted.name, path);
        tools.versions.insert(wanted.name, version);
    }
    readable.extend(toolchain.beside(&tools));
    tools.readable = outermost(readable);
    if let Some(preparation) = toolchain.preparation(&tools) {
        let optional = preparation.optional;
        tools.prepared = match prepared(language, preparation).await {
            Err(_) if optional => None,
            made => Some(made?),
        };
    }
    Ok(tools)
}

/// True path and version of one tool.
pub(super) async fn look_for(language: Language, wanted: &Wanted) -> Result<(PathBuf, String), SandboxError> {
    let named = std::env::var_os(wanted.variable);
    let name = named.clone().unwrap_or_else(|| wanted.name.into());
    let missing = |reason: String| SandboxError::MissingTool {
        language,
        tool: name.to_string_lossy().into_owned(),
        hint: format!("{reason}; {}, or name one in {}", wanted.hint, wanted.variable),
    };
    let mut path = on_path(Path::new(&name)).ok_or_else(|| missing("it is not on the path".to_owned()))?;
    if let (None, [resolver, arguments @ ..]) = (&named, wanted.resolve)
        && let Ok(output) = ask(Path::new(resolver), arguments).await
        && output.status.success()
    {
        path = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    }
    let path = fs::canonicalize(&path).map_err(|error| missing(error.to_string()))?;
    if is_private(&path) {
        return Err(missing(format!("{} lies below {PRIVATE}, which programs have for themselves", path.display())));
    }
    let output = ask(&path, wanted.version).await.map_err(|error| missing(error.to_string()))?;
    if !output.status.success() {
        return Err(missing(format!("asked for its version it ended with {}", output.status)));
    }
    let said = if output.stdout.is_empty() { output.stderr } else { output.stdout };
    let version = String::from_utf8_lossy(&said).lines().next().unwrap_or_default().trim().to_owned();
    Ok((path, version))
}

/// Where a program is, as a shell would find it.
pub(super) fn on_path(name: &Path) -> Option<PathBuf> {
    if name.components().count() > 1 {
        return name.exists().then(|| name.to_path_buf());
    }
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| path.is_file())
}

pub(super) async fn ask(program: &Path, arguments: &[&str]) -> io::Result<Output> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).kill_on_drop(true);
    tokio::time::timeout(ASKING, command.output()).await.map_err(|_| io::Error::other("it did not answer"))?
}

/// The directory of a preparation, made now if it is not there yet. Processes that want the same one wait for each other.
pub(super) async fn prepared(language: Language, preparation: Preparation) -> Result<PathBuf, SandboxError> {
    let folder = place(language, &preparation)?;
    let lock = folder.with_extension("lock");
    tokio::task::spawn_blocking(move || make(language, &preparation, &folder, &lock))
        .await
        .map_err(|error| SandboxError::Harness(format!("preparing {language}: {error}")))?
}

/// Where a preparation is, or will be.
pub(super) fn place(language: Language, preparation: &Preparation) -> Result<PathBuf, SandboxError> {
    Ok(cache()?.join(format!("{language}-{}", short_key(&preparation.key))))
}

/// Whether a preparation is complete in its place.
pub(super) fn is_complete(folder: &Path) -> bool {
    folder.join(COMPLETE).exists()
}

fn short_key(key: &str) -> String {
    blake3::hash(key.as_bytes()).to_hex().chars().take(16).collect()
}

fn cache() -> Result<PathBuf, SandboxError> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let none = || io::Error::other(format!("name one outside of {PRIVATE} in {CACHE}"));
    let folder = variable(CACHE)
        .or_else(|| variable("XDG_CACHE_HOME").map(|folder| folder.join("rolecall")))
        .or_else(|| variable("HOME").map(|folder| folder.join(".cache/rolecall")))
        .ok_or_else(|| failed("looking for a cache directory")(none()))?;
    if is_private(&folder) {
        return Err(failed("looking for a cache directory")(none()));
    }
    fs::create_dir_all(&folder).map_err(failed("making the cache directory"))?;
    fs::canonicalize(&folder).map_err(failed("making the cache directory"))
}

/// Whether every program has another directory of its own in this place, so that it would not see what is there.
pub(super) fn is_private(path: &Path) -> bool {
    path.starts_with(PRIVATE)
}

fn make(language: Language, preparation: &Preparation, folder: &Path, lock: &Path) -> Result<PathBuf, SandboxError> {
    let lock = File::create(lock).map_err(failed("locking the cache directory"))?;
    flock(&lock, FlockOperation::LockExclusive).map_err(|error| failed("locking the cache directory")(error.into()))?;
    if is_complete(folder) {
        return Ok(folder.to_path_buf());
    }
    if folder.exists() {
        // What an interrupted preparation left behind.
        fs::remove_dir_all(folder).map_err(failed("clearing the cache directory"))?;
    }
    fs::create_dir_all(folder).map_err(failed("making the cache directory"))?;
    for file in &preparation.files {
        let path = folder.join(&file.path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(failed("making the cache directory"))?;
        }
        fs::write(path, &file.text).map_err(failed("filling the cache directory"))?;
    }
    for command in &preparation.commands {
        run(language, preparation, command, folder)?;
    }
    File::create(folder.join(COMPLETE)).map_err(failed("filling the cache directory"))?;
    Ok(folder.to_path_buf())
}

fn run(language: Language, preparation: &Preparation, command: &[String], folder: &Path) -> Result<(), SandboxError> {
    let Some((program, arguments)) = command.split_first() else { return Ok(()) };
    let mut child = std::process::Command::new(program);
    child.args(arguments).current_dir(folder).stdin(Stdio::null()).env_clear();
    child.envs(["PATH", "HOME"].into_iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
    child.envs(preparation.env.iter().map(|(name, value)| (name, value)));
    let output = child.output().map_err(failed("preparing a toolchain"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing").to_owned();
    Err(SandboxError::MissingTool {
        language,
        tool: program.clone(),
        hint: format!("preparing it once for this machine ended with {} ({last})", output.status),
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::is_private;

    #[test]
    fn what_lies_below_the_private_directory_is_seen_by_no_program() {
        assert!(is_private(Path::new("/tmp/cache")) && is_private(Path::new("/tmp")));
        assert!(!is_private(Path::new("/tmpfiles")) && !is_private(Path::new("/var/tmp/cache")));
    }
}
