use std::fs;
use std::path::{Path, PathBuf};

use super::SandboxError;
use super::interpreter::Interpreter;
use super::sys;
use super::toolbox::{BUBBLEWRAP, ask, is_complete, look_for, on_path, place, prepared};
use crate::domain::{Language, Limits};
use crate::languages::{Tools, toolchain};

/// What this machine offers to any backend.
#[derive(Clone, Debug)]
pub struct MachineReport {
    /// Name and release of the kernel.
    pub kernel: String,
    /// Version of the kernel's Landlock interface; 0 where it has none.
    pub landlock_abi: i32,
    /// Whether the kernel filters system calls.
    pub seccomp: bool,
    /// Path and version of `bwrap`, where it is.
    pub bubblewrap: Option<(PathBuf, String)>,
}

impl MachineReport {
    /// Looks at this machine.
    pub async fn make() -> Self {
        let system = rustix::system::uname();
        let mut bubblewrap = None;
        if let Some(path) = on_path(Path::new(BUBBLEWRAP)) {
            let said = ask(&path, &["--version"]).await.map(|output| output.stdout).unwrap_or_default();
            bubblewrap = Some((path, String::from_utf8_lossy(&said).trim().to_owned()));
        }
        Self {
            kernel: format!("{} {}", system.sysname().to_string_lossy(), system.release().to_string_lossy()),
            landlock_abi: sys::landlock_version(),
            seccomp: Path::new("/proc/sys/kernel/seccomp/actions_avail").exists(),
            bubblewrap,
        }
    }
}

/// A tool of a language, or what keeps it from being one.
#[derive(Clone, Debug)]
pub struct ToolReport {
    /// As it is called on the path.
    pub name: &'static str,
    /// Its true path and the first line that it says of its version.
    pub found: Option<(PathBuf, String)>,
    /// Why it cannot be used, and how to get it.
    pub missing: Option<String>,
}

/// What is built once for a language's tools.
#[derive(Clone, Debug)]
pub struct PreparationReport {
    /// Where.
    pub folder: PathBuf,
    /// Whether it is there.
    pub built: bool,
    /// How large it is, in bytes.
    pub bytes: u64,
}

/// What this machine has for a language.
#[derive(Clone, Debug)]
pub struct LanguageReport {
    /// The language.
    pub language: Language,
    /// Its tools.
    pub tools: Vec<ToolReport>,
    /// What is prepared, where the language wants anything prepared and its tools are here.
    pub preparation: Option<PreparationReport>,
    /// Limits where no task says otherwise.
    pub limits: Limits,
}

impl LanguageReport {
    /// Whether programs of the language can be run.
    pub fn is_complete(&self) -> bool {
        self.tools.iter().all(|tool| tool.missing.is_none())
    }

    /// Looks for the tools of a language, and builds what they want prepared where `prepare` says so. `None` for a
    /// language that the sandbox does not run.
    ///
    /// # Errors
    /// Where the cache directory cannot be used, or preparing fails.
    pub async fn make(language: Language, prepare: bool) -> Result<Option<Self>, SandboxError> {
        let Some(toolchain) = toolchain(language) else { return Ok(None) };
        let (mut reports, mut tools) = (Vec::new(), Tools::default());
        for wanted in toolchain.wanted() {
            let found = if language == Language::Python { python().await } else { look_for(language, wanted).await };
            let (found, missing) = match found {
                Ok((path, version)) => {
                    tools.programs.insert(wanted.name, path.clone());
                    tools.versions.insert(wanted.name, version.clone());
                    (Some((path, version)), None)
                }
                Err(SandboxError::MissingTool { hint, .. }) => (None, Some(hint)),
                Err(error) => return Err(error),
            };
            reports.push(ToolReport { name: wanted.name, found, missing });
        }
        let is_complete = reports.iter().all(|tool| tool.missing.is_none());
        let wanted = toolchain.preparation(&tools).filter(|_| is_complete);
        let preparation = match wanted {
            Some(wanted) if prepare => {
                let folder = prepared(language, wanted).await?;
                Some(PreparationReport::of(folder))
            }
            Some(wanted) => Some(PreparationReport::of(place(language, &wanted)?)),
            None => None,
        };
        Ok(Some(Self { language, tools: reports, preparation, limits: toolchain.limits() }))
    }
}

/// The interpreter as slots use it, asked for more than its version.
async fn python() -> Result<(PathBuf, String), SandboxError> {
    let interpreter = Interpreter::find().await?;
    Ok((interpreter.path, interpreter.version))
}

impl PreparationReport {
    fn of(folder: PathBuf) -> Self {
        Self { built: is_complete(&folder), bytes: size(&folder), folder }
    }
}

/// Bytes of all files below a directory; what cannot be read counts as nothing.
fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let sizes = entries.map(|entry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => size(&entry.path()),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    });
    sizes.sum()
}
