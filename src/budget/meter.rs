/// What a reservation came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grant {
    /// This much was reserved: what was wanted, or what is left.
    Some(u32),
    /// Less than wanted is free now, but others hold reservations that may be returned: ask again when one settles.
    Wait,
    /// Nothing is left for good.
    Nothing,
}

/// One limited resource: what was spent, what is reserved for spending under way, and the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meter {
    limit: Option<u32>,
    spent: u32,
    reserved: u32,
}

impl Meter {
    /// A meter with this limit; `None` is unlimited.
    pub fn new(limit: Option<u32>) -> Self {
        Self { limit, spent: 0, reserved: 0 }
    }

    /// Looks what a reservation of `wanted` would come to, without making it.
    pub fn offer(&self, wanted: u32) -> Grant {
        let Some(limit) = self.limit else { return Grant::Some(wanted) };
        let free = limit - self.spent - self.reserved;
        if free >= wanted {
            Grant::Some(wanted)
        } else if self.reserved > 0 {
            Grant::Wait
        } else if free > 0 {
            Grant::Some(free)
        } else {
            Grant::Nothing
        }
    }

    /// Holds `amount`, which an offer granted.
    pub fn reserve(&mut self, amount: u32) {
        debug_assert!(self.limit.is_none_or(|limit| self.spent + self.reserved + amount <= limit));
        self.reserved += amount;
    }

    /// Gives back a reservation of which `spent` was used; never more than was reserved.
    pub fn settle(&mut self, reserved: u32, spent: u32) {
        self.reserved -= reserved;
        self.spent += spent.min(reserved);
    }

    /// What was spent.
    pub fn spent(&self) -> u32 {
        self.spent
    }

    /// Whether the limit has been spent to the last unit.
    pub fn is_exhausted(&self) -> bool {
        self.limit.is_some_and(|limit| self.spent >= limit)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Grant, Meter};

    #[test]
    fn the_last_units_are_waited_for_rather_than_lost() {
        let mut meter = Meter::new(Some(5));
        assert_eq!(meter.offer(4), Grant::Some(4));
        meter.reserve(4);
        assert_eq!(meter.offer(3), Grant::Wait);
        meter.settle(4, 1);
        assert_eq!(meter.offer(3), Grant::Some(3));
        assert_eq!(meter.offer(9), Grant::Some(4));
        meter.reserve(4);
        meter.settle(4, 4);
        assert_eq!(meter.offer(1), Grant::Nothing);
        assert!(meter.is_exhausted());
    }

    proptest! {
        #[test]
        fn never_more_than_the_limit(limit in 0u32..50, steps in prop::collection::vec((0u32..9, 0u32..9, any::<bool>()), 0..60)) {
            let mut meter = Meter::new(Some(limit));
            let mut open = Vec::new();
            for (wanted, used, settle_first) in steps {
                if settle_first && let Some(reserved) = open.pop() {
                    meter.settle(reserved, used);
                }
                if let Grant::Some(amount) = meter.offer(wanted) {
                    meter.reserve(amount);
                    open.push(amount);
                }
                prop_assert!(meter.spent + meter.reserved <= limit);
            }
        }
    }
}
