use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::OnceCell;

use super::{Job, SandboxError};
use crate::domain::Judgement;

/// How many judgements are remembered.
const MOST: usize = 4_096;

/// Judgements of this run: identical jobs are executed once, also when they are asked for at the same time.
#[derive(Default)]
pub(super) struct Cache {
    entries: Mutex<Entries>,
}

#[derive(Default)]
struct Entries {
    cells: BTreeMap<[u8; 32], Arc<OnceCell<Judgement>>>,
    oldest: VecDeque<[u8; 32]>,
}

impl Cache {
    /// The judgement of `job`; `execute` makes it where nobody has. If that fails or is cancelled, whoever waits tries again.
    pub(super) async fn judgement<F>(&self, job: &Job, execute: impl FnOnce() -> F) -> Result<Judgement, SandboxError>
    where
        F: Future<Output = Result<Judgement, SandboxError>>,
    {
        let cell = self.cell(key(job)?);
        cell.get_or_try_init(execute).await.cloned()
    }

    fn cell(&self, key: [u8; 32]) -> Arc<OnceCell<Judgement>> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cell) = entries.cells.get(&key) {
            return cell.clone();
        }
        if entries.oldest.len() >= MOST
            && let Some(oldest) = entries.oldest.pop_front()
        {
            entries.cells.remove(&oldest);
        }
        let cell = Arc::<OnceCell<Judgement>>::default();
        entries.oldest.push_back(key);
        entries.cells.insert(key, cell.clone());
        cell
    }
}

/// Everything that an execution depends on.
fn key(job: &Job) -> Result<[u8; 32], SandboxError> {
    let whole = (&job.program, &job.tests, &job.entry_point, &job.support, &job.preamble, &job.limits);
    let text = serde_json::to_vec(&whole).map_err(|error| SandboxError::Harness(error.to_string()))?;
    Ok(*blake3::hash(&text).as_bytes())
}
