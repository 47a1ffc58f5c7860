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

    /// Books what was spent before: in turns that a journal holds, which are not taken again.
    pub fn book(&self, spent: Charge) {
        self.settle(&Charge::default(), &spent);
    }

    /// For a call that was admitted, made and paid for before: nothing is reserved, and what it took is booked.
    pub fn past(&self) -> Reservation {
        Reservation { purse: self.clone(), most: Some(Charge::default()) }
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

    /// Whether any of its levels has a limit.
    pub fn is_limited(&self) -> bool {
        let pools = self.tree.pools();
        self.path.iter().any(|index| pools[*index].is_limited())
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

#[cfg(test)]
mod tests {
    use std::{sync::Arc, time::Duration};

    use proptest::prelude::*;

    use super::{Purse, Reservation};
    use crate::{
        budget::{BudgetKind, CallLimits, Charge, SharedLimits},
        domain::Money,
    };

    fn charge(amounts: [u64; 4]) -> Charge {
        let [model_calls, tokens, cost, gpu_ms] = amounts;
        Charge { model_calls, tokens, cost: Money(cost), gpu_ms }
    }

    fn limits(of: [Option<u64>; 4]) -> SharedLimits {
        let [calls, tokens, cost, gpu_ms] = of;
        let model_calls = calls.map(|calls| u32::try_from(calls).unwrap());
        SharedLimits { calls: CallLimits { model_calls, tokens, cost: cost.map(Money), gpu_ms }, wall_secs: None }
    }

    /// A tree of this many levels below a root, each level with two purses in every one above.
    fn tree(caps: &[[Option<u64>; 4]]) -> Vec<(Purse, Option<usize>, SharedLimits)> {
        let mut all = vec![(Purse::default().within("the run", limits(caps[0])), None, limits(caps[0]))];
        let mut above = 0;
        for caps in caps[1..].chunks(2) {
            let purses: Vec<_> = caps
                .iter()
                .map(|caps| (all[above].0.within("one", limits(*caps)), Some(above), limits(*caps)))
                .collect();
            above = all.len();
            all.extend(purses);
        }
        all
    }

    /// Nothing is over its limit, with what is held by reservations; parents are the sums of their children and their own.
    fn check(tree: &[(Purse, Option<usize>, SharedLimits)], own: &[Charge], held: &[(usize, Charge)]) {
        for (index, (purse, _, limits)) in tree.iter().enumerate() {
            let below = |mut place: usize| loop {
                match (place == index, tree[place].1) {
                    (true, _) => break true,
                    (false, Some(above)) => place = above,
                    (false, None) => break false,
                }
            };
            let sum = |all: &mut dyn Iterator<Item = Charge>| all.fold(Charge::default(), |sum, one| sum + one);
            let spent = sum(&mut (0..tree.len()).filter(|place| below(*place)).map(|place| own[place]));
            assert_eq!(purse.spent(), spent);
            let held = sum(&mut held.iter().filter(|(place, _)| below(*place)).map(|(_, most)| *most));
            for kind in BudgetKind::OF_CALLS {
                let limit = limits.calls.of(kind).unwrap_or(u64::MAX);
                assert!(spent.of(kind) + held.of(kind) <= limit, "{kind:?}: {spent:?} + {held:?} of {limit}");
            }
        }
    }

    fn cap() -> impl Strategy<Value = [Option<u64>; 4]> {
        let one = || prop_oneof![1 => Just(None), 3 => (0u64..60).prop_map(Some)];
        [one(), one(), one(), one()]
    }

    proptest! {
        #[test]
        fn no_level_is_ever_overspent_and_parents_are_sums_of_children(
            caps in prop::collection::vec(cap(), 1..8),
            steps in prop::collection::vec((any::<prop::sample::Index>(), any::<[u8; 4]>(), any::<[u8; 4]>(), 0u8..4), 0..80),
        ) {
            let tree = tree(&caps);
            let mut own = vec![Charge::default(); tree.len()];
            let mut open: Vec<(usize, Charge, Reservation)> = Vec::new();
            for (which, most, used, step) in steps {
                let most = most.map(|amount| u64::from(amount % 16));
                let place = which.index(tree.len());
                match (step, open.is_empty()) {
                    (0 | 1, _) | (_, true) => match tree[place].0.try_reserve(charge(most)) {
                        Ok(Some(reservation)) => open.push((place, charge(most), reservation)),
                        Ok(None) => prop_assert!(!open.is_empty(), "one who waits waits for somebody"),
                        Err(shortage) => prop_assert!(shortage.words.contains(shortage.kind.name())),
                    },
                    (2, false) => {
                        let (place, most, reservation) = open.remove(which.index(open.len()));
                        let part = |kind: BudgetKind, used: u8| most.of(kind) * u64::from(used) / 255;
                        let [a, b, c, d] = BudgetKind::OF_CALLS;
                        let spent = charge([part(a, used[0]), part(b, used[1]), part(c, used[2]), part(d, used[3])]);
                        reservation.settle(spent);
                        own[place] = own[place] + spent;
                    }
                    (_, false) => {
                        let (place, most, reservation) = open.remove(which.index(open.len()));
                        drop(reservation);
                        own[place] = own[place] + most;
                    }
                }
                let held: Vec<_> = open.iter().map(|(place, most, _)| (*place, *most)).collect();
                check(&tree, &own, &held);
            }
            for (place, most, reservation) in open.drain(..) {
                drop(reservation);
                own[place] = own[place] + most;
            }
            check(&tree, &own, &[]);
            prop_assert!(tree.iter().all(|(purse, ..)| purse.is_settled()));
        }
    }

    /// Threads that reserve, wait, settle, are dropped and panic at once: the sums agree, and everybody comes to an end.
    #[test]
    fn many_at_once_never_overspend_and_none_waits_for_ever() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build().unwrap();
        runtime.block_on(async {
            for round in 0..20_u64 {
                let run = Purse::default().within("the run", limits([Some(150), Some(900), Some(700), None]));
                let arms: Vec<Purse> = (0..3)
                    .map(|arm| run.within("an arm", limits([Some(70 + arm), None, Some(300), Some(5_000)])))
                    .collect();
                let sum = Arc::new(std::sync::Mutex::new(Charge::default()));
                let tasks: Vec<_> = (0..300_u64)
                    .map(|number| {
                        let (purse, sum) = (arms[number as usize % 3].clone(), sum.clone());
                        let dice = (number * 2_654_435_761 + round * 40_503) >> 3;
                        tokio::spawn(async move {
                            let most = charge([1, dice % 7, dice % 5 + 1, dice % 90]);
                            let Ok(reservation) = purse.reserve(most).await else { return };
                            tokio::task::yield_now().await;
                            let spent = match dice % 4 {
                                // Dropped, and by a panic.
                                0 | 1 => most,
                                _ => charge([1, most.tokens / 2, most.cost.0 / 2, most.gpu_ms / 2]),
                            };
                            {
                                let mut sum = sum.lock().unwrap_or_else(|it| it.into_inner());
                                *sum = *sum + spent;
                            }
                            match dice % 4 {
                                0 => drop(reservation),
                                1 => panic!("as a role might"),
                                _ => reservation.settle(spent),
                            }
                        })
                    })
                    .collect();
                for task in tasks {
                    let _ = tokio::time::timeout(Duration::from_secs(60), task).await.expect("nobody waits for ever");
                }
                assert!(run.is_settled() && arms.iter().all(Purse::is_settled));
                let total = run.spent();
                assert_eq!(total, arms.iter().fold(Charge::default(), |sum, arm| sum + arm.spent()));
                assert_eq!(total, *sum.lock().unwrap());
                assert!(total.model_calls <= 150 && total.tokens <= 900 && total.cost.0 <= 700, "{total:?}");
                for (number, arm) in arms.iter().enumerate() {
                    let spent = arm.spent();
                    assert!(spent.model_calls <= 70 + number as u64 && spent.gpu_ms <= 5_000 && spent.cost.0 <= 300);
                }
            }
        });
    }

    #[test]
    fn a_reply_beyond_its_reservation_is_booked_in_full_and_a_level_that_refused_stays_shut() {
        let run = Purse::default().within("the run", limits([None, Some(100), None, None]));
        let first = run.try_reserve(charge([1, 60, 0, 0])).unwrap().unwrap();
        assert!(run.try_reserve(charge([1, 50, 0, 0])).unwrap().is_none(), "it may be there later");
        first.settle(charge([1, 90, 0, 0]));
        assert_eq!(run.spent().tokens, 90);
        let shortage = run.try_reserve(charge([1, 50, 0, 0])).unwrap_err();
        assert_eq!(shortage.words, "budget of the run: tokens = 100");
        assert_eq!(run.try_reserve(charge([1, 1, 0, 0])).unwrap_err(), shortage, "nobody is served behind it");
        assert_eq!(run.begin(0).unwrap_err(), shortage);
    }

    #[test]
    fn the_clock_of_a_level_runs_from_its_first_conversation() {
        let run = Purse::default().within("the run", SharedLimits { wall_secs: Some(2.0), ..Default::default() });
        let arm = run.within("the arm a", SharedLimits { wall_secs: Some(1.0), ..Default::default() });
        let left =
            |purse: &Purse, now| purse.begin(now).map(|it| it.map(|it| (it.left.as_millis(), it.shortage.words)));
        assert_eq!(left(&run, 5_000_000_000).unwrap().unwrap().0, 2_000);
        let (ms, words) = left(&arm, 5_500_000_000).unwrap().unwrap();
        assert_eq!((ms, words.as_str()), (1_000, "budget of the arm a: wall_secs = 1"));
        let shortage = arm.begin(6_500_000_000).unwrap_err();
        assert_eq!(shortage.words, "budget of the arm a: wall_secs = 1");
        assert_eq!(left(&run, 6_900_000_000).unwrap().unwrap().0, 100, "the run goes on");
        assert_eq!(Purse::default().begin(0), Ok(None));
    }
}
