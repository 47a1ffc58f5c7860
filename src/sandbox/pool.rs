use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use tokio::sync::{OnceCell, Semaphore, SemaphorePermit};

use super::SandboxError;
use super::backend::Backend;
use super::interpreter::Interpreter;
use super::slot::{Kit, Slot};
use super::toolbox;
use crate::domain::Language;
use crate::languages::{Testing, Toolchain, Tools, toolchain};

/// The slots of one sandbox: at most so many executions at once. Tools of a language are looked for, and a slot is
/// started, when it is first needed.
pub(super) struct Pool {
    launcher: PathBuf,
    backend: Backend,
    warm: bool,
    permits: Semaphore,
    halls: BTreeMap<Language, OnceCell<Hall>>,
}

/// What the slots of one language share.
pub(super) struct Hall {
    /// The language.
    pub(super) toolchain: &'static dyn Toolchain,
    /// Its tools on this machine; of Python, the interpreter alone.
    pub(super) tools: Tools,
    kit: Kit,
    idle: Mutex<Vec<Slot>>,
}

/// A slot on loan. Dropped without being given back, it ends with all its processes, and another takes its place.
pub(super) struct Loan<'a> {
    /// Where it belongs.
    pub(super) hall: &'a Hall,
    /// The slot.
    pub(super) slot: Slot,
    serves_again: bool,
    _permit: Option<SemaphorePermit<'a>>,
}

impl Pool {
    /// A pool of `slots` slots of one backend, with warm interpreters where a language has them, the backend parts the
    /// processes that they fork, and `warm` says so.
    pub(super) fn new(launcher: PathBuf, backend: Backend, slots: usize, warm: bool) -> Self {
        let halls = Language::ALL.iter().map(|language| (*language, OnceCell::new())).collect();
        let warm = warm && backend.parts_programs();
        Self { launcher, backend, warm, permits: Semaphore::new(slots.max(1)), halls }
    }

    /// Waits for a slot.
    ///
    /// # Errors
    /// [`SandboxError::MissingTool`] where this machine lacks a tool of the language; what keeps a slot from starting.
    pub(super) async fn borrow(&self, language: Language) -> Result<Loan<'_>, SandboxError> {
        let hall = self.hall(language).await?;
        let permit = self
            .permits
            .acquire()
            .await
            .map_err(|_| SandboxError::Harness("the pool of slots is closed".to_owned()))?;
        self.lend(hall, Some(permit)).await
    }

    /// A slot of Python beside the one that an execution has on loan already, for its checker.
    ///
    /// # Errors
    /// As [`Pool::borrow`].
    pub(super) async fn aside(&self) -> Result<Loan<'_>, SandboxError> {
        self.lend(self.hall(Language::Python).await?, None).await
    }

    /// Whether programs of a language are given to warm interpreters. Starts no slot.
    ///
    /// # Errors
    /// [`SandboxError::MissingTool`] where this machine lacks a tool of the language.
    pub(super) async fn is_warm(&self, language: Language) -> Result<bool, SandboxError> {
        self.hall(language).await.map(Hall::is_warm)
    }

    async fn lend<'a>(&'a self, hall: &'a Hall, permit: Option<SemaphorePermit<'a>>) -> Result<Loan<'a>, SandboxError> {
        let idle = hall.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let slot = match idle {
            Some(slot) => slot,
            None => Slot::start(&self.launcher, self.backend, &hall.kit).await?,
        };
        Ok(Loan { hall, slot, serves_again: self.backend.parts_programs(), _permit: permit })
    }

    /// The versions of the tools that were found, by their names.
    pub(super) fn versions(&self) -> BTreeMap<String, String> {
        let found = self.halls.values().filter_map(OnceCell::get).flat_map(|hall| &hall.tools.versions);
        found.map(|(tool, version)| ((*tool).to_owned(), version.clone())).collect()
    }

    async fn hall(&self, language: Language) -> Result<&Hall, SandboxError> {
        let none = || SandboxError::Harness(format!("{language} cannot be run"));
        let toolchain = toolchain(language).ok_or_else(none)?;
        let cell = self.halls.get(&language).ok_or_else(none)?;
        cell.get_or_try_init(|| Hall::open(toolchain, self.warm)).await
    }
}

impl Hall {
    async fn open(toolchain: &'static dyn Toolchain, warm: bool) -> Result<Self, SandboxError> {
        let (tools, kit) = match toolchain.testing() {
            Testing::Forked if warm => {
                let interpreter = Interpreter::find().await?;
                let versions = BTreeMap::from([("python3", interpreter.version.clone())]);
                let tools = Tools { readable: interpreter.readable.clone(), versions, ..Tools::default() };
                (tools, Kit::python(interpreter))
            }
            Testing::Forked | Testing::Split { .. } | Testing::Linked(_) => {
                let tools = toolbox::find(toolchain).await?;
                let kit = Kit::boxes(tools.readable.iter().chain(&tools.prepared).cloned().collect());
                (tools, kit)
            }
        };
        Ok(Self { toolchain, tools, kit, idle: Mutex::default() })
    }

    /// Whether its slots hold warm interpreters, which are given texts instead of commands.
    pub(super) fn is_warm(&self) -> bool {
        self.kit.is_warm()
    }
}

impl Loan<'_> {
    /// Gives the slot back: everything in it is at rest. One whose programs share a place has served its time.
    pub(super) fn give_back(self) {
        if !self.serves_again {
            return;
        }
        self.hall.idle.lock().unwrap_or_else(PoisonError::into_inner).push(self.slot);
    }
}
