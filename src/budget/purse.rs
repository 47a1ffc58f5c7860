use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::sync::Notify;

use super::{
    BudgetKind, Charge, SharedLimits, Shortage,
    pool::{Answer, Pool},
};

/// All pools of a run. One lock for all: a call is granted at every level or at none, and sums always agree.
#[derive(Default)]
struct Tree {
    pools: Mutex<Vec<Pool>>,
    /// Told whenever a reservation is returned.
    freed: Notify,
}

impl Tree {
    /// A panic while the lock is held loses nothing: it guards additions only.
    fn pools(&self) -> MutexGuard<'_, Vec<Pool>> {
        self.pools.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What one who asks models takes from: a pool of the tree and all above it. Without any it is without limits.
#[derive(Clone, Default)]
pub struct Purse {
    tree: Arc<Tree>,
    /// Outermost first: the one order in which they are asked.
    path: Vec<usize>,
}

/// When the time of a level is up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadline {
    /// From now on.
    pub left: Duration,
    /// What to say then.
    pub shortage: Shortage,
}

impl Deadline {
    /// Whether it is time that is short, rather than what calls take: these end by themselves.
    pub fn is_of_time(&self) -> bool {
        self.shortage.kind == BudgetKind::WallSecs
    }
}

impl Purse {
    /// A purse within this one, with limits of its own. `whose` is said when they are met: `the run`.
    pub fn within(&self, whose: &str, limits: SharedLimits) -> Self {
        let mut pools = self.tree.pools();
        pools.push(Pool::new(whose, limits));
        let path = self.path.iter().copied().chain([pools.len() - 1]).collect();
        drop(pools);
        Self { tree: self.tree.clone(), path }
    }

    /// Reserves what a call takes in the worst case, at every level or at none. Waits while there is too little only because
    /// of calls under way.
    ///
    /// # Errors
    /// Where a level has too little left for good. From then on that level refuses everybody.
    pub async fn reserve(&self, most: Charge) -> Result<Reservation, Shortage> {
        loop {
            let freed = self.tree.freed.notified();
            tokio::pin!(freed);
            // Heard from now on, so that nothing that is returned after the look is missed.
            freed.as_mut().enable();
            if let Some(reservation) = self.try_reserve(most)? {
                return Ok(reservation);
            }
            freed.await;
        }
    }

    /// The same without waiting; `None` where one would have to.
    ///
    /// # Errors
    /// As [`reserve`](Self::reserve).
    pub fn try_reserve(&self, most: Charge) -> Result<Option<Reservation>, Shortage> {
        let mut pools = self.tree.pools();
        let mut waits = false;
        for index in &self.path {
            match pools[*index].ask(&most) {
                Answer::Room => {}
                Answer::Wait => waits = true,
                Answer::Short(shortage) => {
                    pools[*index].close(&shortage);
                    drop(pools);
                    // Those who wait are to hear of it.
                    self.tree.freed.notify_waiters();
                    return Err(shortage);
                }
            }
        }
        if waits {
            return Ok(None);
        }
        self.path.iter().for_each(|index| pools[*index].reserve(&most));
        Ok(Some(Reservation { purse: self.clone(), most: Some(most) }))
    }

    fn settle(&self, most: &Charge, spent: &Charge) {
        let mut pools = self.tree.pools();
        self.path.iter().for_each(|index| pools[*index].settle(most, spent));
        drop(pools);
        self.tree.freed.notify_waiters();
    }

    /// A conversation begins now (in ns of any clock that does not go back): the first one starts the clock of each level.
    ///
    /// # Errors
    /// Where a level has refused somebody already, or its time is up: then it must not begin.
    pub fn begin(&self, now_ns: u64) -> Result<Option<Deadline>, Shortage> {
        let mut pools = self.tree.pools();
        let closed = self.path.iter().find_map(|index| pools[*index].closed().cloned());
        if let Some(shortage) = closed {
            return Err(shortage);
        }
        let mut deadline: Option<Deadline> = None;
        for index in &self.path {
            let Some((left, shortage)) = pools[*index].begin(now_ns) else { continue };
            if left == 0 {
                pools[*index].close(&shortage);
                return Err(shortage);
            }
            let left = Duration::from_nanos(left);
            if deadline.as_ref().is_none_or(|deadline| left < deadline.left) {
                deadline = Some(Deadline { left, shortage });
            }
        }
        Ok(deadline)
    }

    /// What was spent at the innermost level, settled calls only.
    pub fn spent(&self) -> Charge {
        let pools = self.tree.pools();
        self.path.last().map(|index| pools[*index].spent()).unwrap_or_default()
    }

    /// Whether nothing is reserved at any of its levels.
    pub fn is_settled(&self) -> bool {
        let pools = self.tree.pools();
        self.path.iter().all(|index| pools[*index].is_settled())
    }
}

impl fmt::Debug for Purse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Purse").field("levels", &self.path.len()).finish_non_exhaustive()
    }
}

/// What is held for a call under way. Dropped without a word (a panic, a turn that was called off), it is booked whole: the
/// call may have been served.
#[derive(Debug)]
pub struct Reservation {
    purse: Purse,
    most: Option<Charge>,
}

impl Reservation {
    /// Books what was used and returns the rest.
    pub fn settle(mut self, spent: Charge) {
        if let Some(most) = self.most.take() {
            self.purse.settle(&most, &spent);
        }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if let Some(most) = self.most.take() {
            self.purse.settle(&most, &most);
        }
    }
}
