use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use tokio::process::Command;

use super::SandboxError;
use super::toolbox::is_private;
use crate::domain::Language;

/// The Python interpreter that runs candidates.
pub(super) struct Interpreter {
    /// Its own path, never that of a shim.
    pub(super) path: PathBuf,
    /// What it says of its version, as `Python 3.11.7`.
    pub(super) version: String,
    /// What it needs to read besides the system's directories.
    pub(super) readable: Vec<PathBuf>,
}

/// Names another interpreter than the `python3` on the path.
const OVERRIDE: &str = "ROLECALL_PYTHON";

/// Directories that every program may read anyway.
const SYSTEM: [&str; 4] = ["/usr", "/bin", "/lib", "/lib64"];

/// Asks an interpreter who it is and which files it has mapped.
const QUESTION: &str = r#"
import sys, json, os
import _json, _socket, _ctypes, resource
mapped = {line.split(None, 5)[5].strip() for line in open("/proc/self/maps") if line.count("/")}
print(json.dumps({
    "executable": os.path.realpath(sys.executable),
    "version": list(sys.version_info[:3]),
    "prefixes": [sys.base_prefix, sys.base_exec_prefix, os.path.realpath(sys.base_prefix)],
    "mapped": sorted(os.path.realpath(path) for path in mapped if path.startswith("/") and os.path.exists(path)),
}))
"#;

#[derive(Deserialize)]
struct Answer {
    executable: PathBuf,
    version: (u32, u32, u32),
    prefixes: Vec<PathBuf>,
    mapped: Vec<PathBuf>,
}

impl Interpreter {
    /// Finds the interpreter: the one that `ROLECALL_PYTHON` names, else `python3` on the path.
    ///
    /// # Errors
    /// [`SandboxError::MissingTool`] when there is none, or one that is too old or lacks a module that the harness needs.
    pub(super) async fn find() -> Result<Self, SandboxError> {
        let name = std::env::var_os(OVERRIDE).unwrap_or_else(|| OsString::from("python3"));
        let missing = |hint: String| SandboxError::MissingTool {
            language: Language::Python,
            tool: name.to_string_lossy().into_owned(),
            hint,
        };
        let output = Command::new(&name)
            .args(["-S", "-c", QUESTION])
            .stdin(std::process::Stdio::null())
            .kill_on_drop(true)
            .output()
            .await
            .map_err(|error| missing(format!("{error}; install Python 3.8 or later, or name one in {OVERRIDE}")))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            let last = said.lines().last().unwrap_or("it said nothing").to_owned();
            return Err(missing(format!(
                "asked for its paths it failed ({last}); a complete Python 3.8 or later is needed"
            )));
        }
        let answer: Answer = serde_json::from_slice(&output.stdout)
            .map_err(|error| missing(format!("it answered nonsense ({error}); name a Python in {OVERRIDE}")))?;
        let (major, minor, micro) = answer.version;
        if (major, minor) < (3, 8) {
            return Err(missing(format!("it is Python {major}.{minor}; 3.8 or later is needed")));
        }
        if let Some(path) = answer.prefixes.iter().chain([&answer.executable]).find(|path| is_private(path)) {
            let reason = "programs have that directory for themselves; install one elsewhere";
            return Err(missing(format!("it lies in {}: {reason}", path.display())));
        }
        let mut wanted = answer.prefixes;
        wanted.extend(answer.executable.parent().map(Path::to_path_buf));
        wanted.extend(answer.mapped.iter().filter_map(|path| path.parent()).map(Path::to_path_buf));
        let version = format!("Python {major}.{minor}.{micro}");
        Ok(Self { path: answer.executable, version, readable: outermost(wanted) })
    }
}

/// The directories that are below no other of them and not the system's; the root itself is never one.
pub(super) fn outermost(mut wanted: Vec<PathBuf>) -> Vec<PathBuf> {
    wanted.sort();
    let mut kept: Vec<PathBuf> = Vec::new();
    for path in wanted {
        let known =
            SYSTEM.iter().any(|above| path.starts_with(above)) || kept.iter().any(|above| path.starts_with(above));
        if !known && path.is_absolute() && path.parent().is_some() {
            kept.push(path);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::outermost;

    #[test]
    fn only_outermost_directories_outside_of_the_system_are_bound() {
        let paths = ["/opt/py/bin", "/opt/py", "/usr/lib/x", "/", "/opt/python", "/opt/py"].map(PathBuf::from).to_vec();
        assert_eq!(outermost(paths), [PathBuf::from("/opt/py"), PathBuf::from("/opt/python")]);
    }
}
