use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use tokio::sync::{Semaphore, SemaphorePermit};

use super::SandboxError;
use super::interpreter::Interpreter;
use super::slot::Slot;

/// The slots of one sandbox: at most so many executions at once. A slot is started when it is first needed.
pub(super) struct Pool {
    launcher: PathBuf,
    interpreter: Interpreter,
    permits: Semaphore,
    idle: Mutex<Vec<Slot>>,
}

/// A slot on loan. Dropped without being given back, it ends with all its processes, and another takes its place.
pub(super) struct Loan<'a> {
    pool: &'a Pool,
    /// The slot.
    pub(super) slot: Slot,
    _permit: SemaphorePermit<'a>,
}

impl Pool {
    /// A pool of `slots` slots, one of which is started already.
    pub(super) fn new(launcher: PathBuf, interpreter: Interpreter, slots: usize, first: Slot) -> Self {
        Self { launcher, interpreter, permits: Semaphore::new(slots.max(1)), idle: Mutex::new(vec![first]) }
    }

    /// Paths of this machine that outputs may name.
    pub(super) fn machine_paths(&self) -> &[PathBuf] {
        &self.interpreter.readable
    }

    /// Waits for a slot.
    pub(super) async fn borrow(&self) -> Result<Loan<'_>, SandboxError> {
        let permit = self
            .permits
            .acquire()
            .await
            .map_err(|_| SandboxError::Harness("the pool of slots is closed".to_owned()))?;
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let slot = match idle {
            Some(slot) => slot,
            None => Slot::start(&self.launcher, &self.interpreter).await?,
        };
        Ok(Loan { pool: self, slot, _permit: permit })
    }
}

impl Loan<'_> {
    /// Gives the slot back: everything in it is at rest.
    pub(super) fn give_back(self) {
        self.pool.idle.lock().unwrap_or_else(PoisonError::into_inner).push(self.slot);
    }
}
