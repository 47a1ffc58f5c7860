use super::{BudgetKind, Charge, SharedLimits};

/// That a budget which conversations share has not enough left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortage {
    /// Of what.
    pub kind: BudgetKind,
    /// Whose budget, and its limit: `budget of the run: cost = 0.50`.
    pub words: String,
}

/// What a pool says to a charge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// There is room.
    Room,
    /// There is none now, but others hold reservations that may be returned.
    Wait,
    /// There is none for good.
    Short(Shortage),
}

/// What is shared at one level: spent, reserved for calls under way, and the limits.
#[derive(Clone, Debug)]
pub(super) struct Pool {
    whose: String,
    limits: SharedLimits,
    spent: Charge,
    /// By [`BudgetKind::OF_CALLS`]; stays 0 where there is no limit.
    reserved: [u64; 4],
    /// Since it refused once: whoever comes later is not served before.
    closed: Option<Shortage>,
    began_ns: Option<u64>,
}

impl Pool {
    pub(super) fn new(whose: &str, limits: SharedLimits) -> Self {
        let (spent, reserved) = (Charge::default(), [0; 4]);
        Self { whose: whose.to_owned(), limits, spent, reserved, closed: None, began_ns: None }
    }

    pub(super) fn is_limited(&self) -> bool {
        self.limits != SharedLimits::default()
    }

    pub(super) fn closed(&self) -> Option<&Shortage> {
        self.closed.as_ref()
    }

    pub(super) fn close(&mut self, shortage: &Shortage) {
        self.closed.get_or_insert_with(|| shortage.clone());
    }

    pub(super) fn spent(&self) -> Charge {
        self.spent
    }

    pub(super) fn is_settled(&self) -> bool {
        self.reserved == [0; 4]
    }

    fn shortage(&self, kind: BudgetKind, limit: String) -> Shortage {
        Shortage { kind, words: format!("budget of {}: {limit}", self.whose) }
    }

    /// What can be said to a call that takes `most` in the worst case.
    pub(super) fn ask(&self, most: &Charge) -> Answer {
        if let Some(shortage) = &self.closed {
            return Answer::Short(shortage.clone());
        }
        let mut answer = Answer::Room;
        for (kind, reserved) in BudgetKind::OF_CALLS.into_iter().zip(self.reserved) {
            let Some(limit) = self.limits.calls.of(kind) else { continue };
            let left = limit.saturating_sub(self.spent.of(kind));
            if most.of(kind) > left {
                return Answer::Short(self.shortage(kind, self.limits.calls.words(kind)));
            }
            if most.of(kind) > left.saturating_sub(reserved) {
                answer = Answer::Wait;
            }
        }
        answer
    }

    /// Holds what [`ask`](Self::ask) had room for.
    pub(super) fn reserve(&mut self, most: &Charge) {
        self.change(|reserved, kind| reserved.saturating_add(most.of(kind)));
    }

    /// Gives back what was reserved, of which `spent` was used. More than was reserved is booked in full.
    pub(super) fn settle(&mut self, most: &Charge, spent: &Charge) {
        self.change(|reserved, kind| reserved.saturating_sub(most.of(kind)));
        self.spent = self.spent + *spent;
    }

    fn change(&mut self, to: impl Fn(u64, BudgetKind) -> u64) {
        for (reserved, kind) in self.reserved.iter_mut().zip(BudgetKind::OF_CALLS) {
            if self.limits.calls.of(kind).is_some() {
                *reserved = to(*reserved, kind);
            }
        }
    }

    /// Its clock runs from the first conversation on. How many ns are left, and what to say when they are over.
    pub(super) fn begin(&mut self, now_ns: u64) -> Option<(u64, Shortage)> {
        let began_ns = *self.began_ns.get_or_insert(now_ns);
        let secs = self.limits.wall_secs?;
        // More than some centuries are as good as no limit.
        let limit_ns = format!("{:.0}", (secs * 1e9).min(1e19)).parse::<u64>().ok()?;
        let left = limit_ns.saturating_sub(now_ns.saturating_sub(began_ns));
        Some((left, self.shortage(BudgetKind::WallSecs, format!("wall_secs = {secs}"))))
    }
}
