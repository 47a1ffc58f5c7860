//! What a rate can be at worst and at best where some conversations ended with an error of the machine or of the model.

use super::Interval;

/// How conversations ended.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Endings {
    /// With a program that passes the hidden tests.
    pub solved: u64,
    /// Without one, by the arrangement's own doing.
    pub unsolved: u64,
    /// With an error of the sandbox, the store or another part of the machine.
    pub infrastructure_errors: u64,
    /// With an error of the model or its server.
    pub model_errors: u64,
}

/// A rate with its denominator.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Share {
    /// Of how many it is so.
    pub part: u64,
    /// Of how many it was looked at.
    pub whole: u64,
}

impl Share {
    /// The rate; `None` of nothing.
    pub fn rate(self) -> Option<f64> {
        (self.whole > 0).then(|| self.part as f64 / self.whole as f64)
    }
}

impl Endings {
    /// Conversations that ended without an error of either kind: solved of these, which says nothing of the others.
    pub fn finished(self) -> Share {
        Share { part: self.solved, whole: self.solved + self.unsolved }
    }

    /// All errors taken as failures: solved of all.
    ///
    /// Source of both bounds: Manski, "Anatomy of the Selection Problem" (1989).
    pub fn worst(self) -> Share {
        Share { part: self.solved, whole: self.all() }
    }

    /// All errors taken as solved, of all.
    pub fn best(self) -> Share {
        Share { part: self.solved + self.errors(), whole: self.all() }
    }

    /// Errors of both kinds, of all.
    pub fn lost(self) -> Share {
        Share { part: self.errors(), whole: self.all() }
    }

    fn errors(self) -> u64 {
        self.infrastructure_errors + self.model_errors
    }

    fn all(self) -> u64 {
        self.solved + self.unsolved + self.errors()
    }
}

/// The least and the most that the arm's rate minus the baseline's can be: the worst of the one against the best of the
/// other, and the reverse. `None` where an arm has no conversation.
pub fn difference_bounds(arm: Endings, baseline: Endings) -> Option<Interval> {
    let low = arm.worst().rate()? - baseline.best().rate()?;
    Some(Interval { low, high: arm.best().rate()? - baseline.worst().rate()? })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn endings(solved: u64, unsolved: u64, infrastructure_errors: u64, model_errors: u64) -> Endings {
        Endings { solved, unsolved, infrastructure_errors, model_errors }
    }

    #[test]
    fn denominators_are_stated() {
        let endings = endings(3, 4, 1, 2);
        assert_eq!(endings.finished(), Share { part: 3, whole: 7 });
        assert_eq!(endings.worst(), Share { part: 3, whole: 10 });
        assert_eq!(endings.best(), Share { part: 6, whole: 10 });
        assert_eq!(endings.lost(), Share { part: 3, whole: 10 });
    }

    #[test]
    fn nothing_finished_nothing_lost_and_nothing_at_all() {
        let all_lost = endings(0, 0, 2, 3);
        assert_eq!(all_lost.finished().rate(), None);
        assert_eq!((all_lost.worst().rate(), all_lost.best().rate()), (Some(0.0), Some(1.0)));
        let none_lost = endings(2, 2, 0, 0);
        assert_eq!((none_lost.worst(), none_lost.best()), (none_lost.finished(), none_lost.finished()));
        assert_eq!(Endings::default().worst().rate(), None);
        assert_eq!(difference_bounds(all_lost, Endings::default()), None);
        assert_eq!(difference_bounds(none_lost, all_lost), Some(Interval { low: -0.5, high: 0.5 }));
    }

    proptest! {
        #[test]
        fn whatever_the_lost_ones_were_the_rate_is_within(
            solved in 0..50_u64, unsolved in 0..50_u64, machine in 0..50_u64, model in 1..50_u64, share in 0.0..=1.0_f64
        ) {
            let endings = endings(solved, unsolved, machine, model);
            let lost = machine + model;
            let true_rate = (solved as f64 + (lost as f64 * share).floor()) / (solved + unsolved + lost) as f64;
            prop_assert!(endings.worst().rate().unwrap() <= true_rate && true_rate <= endings.best().rate().unwrap());
        }
    }
}
