use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use super::{Deadline, Purse, SharedLimits, Shortage};

/// The budget of a whole run, which all its arms share.
#[derive(Clone, Debug, Default)]
pub struct RunBudget(Purse);

/// The budget of an arm within its run, and those of its tasks, which all samples of a task share.
#[derive(Debug, Default)]
pub struct ArmBudget {
    purse: Purse,
    of_task: SharedLimits,
    tasks: Mutex<BTreeMap<String, Purse>>,
    turned_away: Mutex<Vec<TurnedAway>>,
}

/// A conversation that was not begun, since a budget that it shares was spent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnedAway {
    /// Its task.
    pub task: String,
    /// Its sample.
    pub sample: u32,
    /// Whose budget, and its limit.
    pub why: String,
}

impl RunBudget {
    /// A run with these limits.
    pub fn new(limits: SharedLimits) -> Self {
        Self(Purse::default().within("the run", limits))
    }

    /// An arm of it. `of_task` are the limits of each of its tasks.
    pub fn arm(&self, name: &str, limits: SharedLimits, of_task: SharedLimits) -> ArmBudget {
        let purse = self.0.within(&format!("the arm {name}"), limits);
        ArmBudget { purse, of_task, ..ArmBudget::default() }
    }

    /// What all its conversations take from.
    pub fn purse(&self) -> &Purse {
        &self.0
    }
}

impl ArmBudget {
    /// What the conversations of a task take from.
    pub fn of_task(&self, task: &str) -> Purse {
        let mut tasks = locked(&self.tasks);
        let new = || self.purse.within(&format!("the task {task}"), self.of_task);
        tasks.entry(task.to_owned()).or_insert_with(new).clone()
    }

    /// Whether conversations share anything that has a limit.
    pub fn is_limited(&self) -> bool {
        self.purse.is_limited() || self.of_task != SharedLimits::default()
    }

    /// Whether a conversation may begin now. One that may not is noted.
    pub fn admits(&self, task: &str, sample: u32, now_ns: u64) -> bool {
        let refused: Result<Option<Deadline>, Shortage> = self.of_task(task).begin(now_ns);
        if let Err(shortage) = &refused {
            let why = shortage.words.clone();
            locked(&self.turned_away).push(TurnedAway { task: task.to_owned(), sample, why });
        }
        refused.is_ok()
    }

    /// The conversations that were not begun.
    pub fn turned_away(&self) -> Vec<TurnedAway> {
        locked(&self.turned_away).clone()
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
