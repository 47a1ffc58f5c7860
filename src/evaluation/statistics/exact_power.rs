//! How often the exact test of McNemar finds a difference.

use super::{Level, mcnemar::at_most_heads};

/// The test for a number of tasks and a level, ready to be asked of many differences.
pub(super) struct ExactPower {
    tasks: usize,
    /// By the number of tasks on which the arms differ: how many of them the lesser arm may win at most for a
    /// difference to count; `None` where none does, as they are too few.
    allowed: Vec<Option<usize>>,
    /// The logarithms of the factorials from 0 to the number of tasks.
    factorials: Vec<f64>,
}

impl ExactPower {
    pub(super) fn new(tasks: u32, level: Level) -> Self {
        let tasks = tasks as usize;
        let counts = |wins: usize, differing: usize| {
            2 * wins < differing && at_most_heads(wins as u64, differing as u64) <= level.tail()
        };
        let mut allowed = Vec::with_capacity(tasks + 1);
        // With one more differing task it is the same or one more.
        let mut next = 0;
        for differing in 0..=tasks {
            next += usize::from(counts(next, differing));
            allowed.push(next.checked_sub(1));
        }
        let mut factorials = vec![0.0];
        for number in 1..=tasks {
            factorials.push(factorials[number - 1] + libm::log(number as f64));
        }
        Self { tasks, allowed, factorials }
    }

    /// The chance that a difference counts, where a task is solved by the arm alone and by the baseline alone with
    /// these chances: the sum over all pairs of counts whose p-value is small enough.
    pub(super) fn at(&self, arm_only: f64, baseline_only: f64) -> f64 {
        let logs = [arm_only, baseline_only, 1.0 - arm_only - baseline_only].map(|chance| libm::log(chance.max(0.0)));
        let times = |number: usize, log: f64| if number == 0 { 0.0 } else { number as f64 * log };
        let chance = |arm: usize, baseline: usize| {
            let alike = self.tasks - arm - baseline;
            let ways =
                self.factorials[self.tasks] - self.factorials[arm] - self.factorials[baseline] - self.factorials[alike];
            libm::exp(ways + times(arm, logs[0]) + times(baseline, logs[1]) + times(alike, logs[2]))
        };
        let (from, to) = likely(self.tasks, arm_only + baseline_only);
        let mut sum = 0.0;
        for (differing, allowed) in self.allowed.iter().enumerate().take(to + 1).skip(from) {
            for wins in 0..allowed.map_or(0, |most| most + 1) {
                sum += chance(differing - wins, wins) + chance(wins, differing - wins);
            }
        }
        sum
    }
}

/// The numbers of tasks that may differ: all others together have a chance below 10⁻²⁰, by Bernstein's inequality.
fn likely(tasks: usize, chance: f64) -> (usize, usize) {
    let middle = tasks as f64 * chance;
    let reach = 10.0 * (middle * (1.0 - chance).max(0.0)).sqrt() + 60.0;
    ((middle - reach).max(0.0) as usize, (middle + reach).ceil() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_tasks_never_show_a_difference_and_six_do_if_all_differ_one_way() {
        assert_eq!(ExactPower::new(5, Level::PERCENT_95).at(1.0, 0.0), 0.0);
        let six = ExactPower::new(6, Level::PERCENT_95);
        assert_eq!(six.at(1.0, 0.0), 1.0);
        // All six by one of the arms: 2 × (1/2)⁶.
        assert!((six.at(0.5, 0.5) - 0.031_25).abs() < 1e-12);
        assert!((six.at(0.8, 0.0) - 0.8_f64.powi(6)).abs() < 1e-12);
    }

    #[test]
    fn what_is_left_out_does_not_show() {
        // Two tasks that the arm alone solves, and none that the baseline does, count at this level: p = 1/2.
        let all = ExactPower::new(3_000, Level::new(0.4).unwrap());
        for chance in [0.001, 0.1, 0.5] {
            let (from, to) = likely(3_000, chance);
            assert!(to - from < 2_500 && from as f64 <= 3_000.0 * chance && to as f64 >= 3_000.0 * chance);
            let fewer = (1.0 - chance).powi(3_000) + 3_000.0 * chance * (1.0 - chance).powi(2_999);
            let power = all.at(chance, 0.0);
            assert!((power + fewer - 1.0).abs() < 1e-9, "{chance}: {power}");
        }
    }

    #[test]
    fn without_a_difference_it_is_at_most_what_the_level_allows() {
        for tasks in [30, 90, 164] {
            let power = ExactPower::new(tasks, Level::PERCENT_95).at(0.2, 0.2);
            assert!(power > 0.01 && power <= 0.05, "{tasks}: {power}");
        }
    }
}
