//! Two arms, one conversation a task: do they solve different numbers of tasks?

/// The exact test of McNemar.
///
/// Source: McNemar, "Note on the Sampling Error of the Difference Between Correlated Proportions or Percentages"
/// (1947); the exact binomial form is the sign test of the tasks where the arms differ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct McNemar {
    /// Tasks that both solved.
    pub both: u64,
    /// Tasks that the arm alone solved: b.
    pub arm_only: u64,
    /// Tasks that the baseline alone solved: c.
    pub baseline_only: u64,
    /// Tasks that neither solved.
    pub neither: u64,
    /// Two-sided: twice the chance that among b + c fair coins at most min(b, c) show heads, at most 1; 1 without any
    /// difference.
    pub p_value: f64,
}

impl McNemar {
    /// The test of (solved by the arm, solved by the baseline), a pair a task.
    pub fn of_pairs(pairs: &[(bool, bool)]) -> Self {
        let count = |pair: (bool, bool)| pairs.iter().filter(|at| **at == pair).count() as u64;
        Self::of_counts(count((true, true)), count((true, false)), count((false, true)), count((false, false)))
    }

    /// The test of the four counts.
    pub fn of_counts(both: u64, arm_only: u64, baseline_only: u64, neither: u64) -> Self {
        let fewer = arm_only.min(baseline_only);
        let p_value = (2.0 * at_most_heads(fewer, arm_only.saturating_add(baseline_only))).min(1.0);
        Self { both, arm_only, baseline_only, neither, p_value }
    }
}

/// The chance that `coins` fair coins show at most `heads` heads, for `heads` up to half of the coins.
pub(super) fn at_most_heads(heads: u64, coins: u64) -> f64 {
    // The chance of exactly so many: C(coins, heads) / 2^coins, halved in between so that nothing overflows.
    let mut exactly = 1.0_f64;
    let mut halvings = coins;
    for at in 1..=heads {
        exactly *= (coins - heads + at) as f64 / at as f64;
        while exactly > 1.0 && halvings > 0 {
            exactly *= 0.5;
            halvings -= 1;
        }
    }
    // Beyond this many the chance is 0 as far as an f64 can say.
    exactly = libm::scalbn(exactly, -i32::try_from(halvings).unwrap_or(i32::MAX));
    // One head less is C(n, k−1) / C(n, k) = k / (n − k + 1) as likely.
    let mut sum = exactly;
    for at in (1..=heads).rev() {
        exactly *= at as f64 / (coins - at + 1) as f64;
        sum += exactly;
        if exactly < sum * f64::EPSILON / 4.0 {
            break;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn p_value(arm_only: u64, baseline_only: u64) -> f64 {
        McNemar::of_counts(3, arm_only, baseline_only, 4).p_value
    }

    #[test]
    fn no_difference_all_on_one_side_and_balance() {
        assert_eq!(p_value(0, 0), 1.0);
        assert_eq!(p_value(1, 0), 1.0);
        assert_eq!(p_value(0, 6), 2.0 / 64.0);
        assert_eq!(p_value(5, 5), 1.0);
        // 2 × (1 + 10 + 45) / 1024
        assert!((p_value(8, 2) - 112.0 / 1024.0).abs() < 1e-15);
    }

    #[test]
    fn pairs_are_counted() {
        let pairs = [(true, true), (true, false), (true, false), (false, true), (false, false)];
        let test = McNemar::of_pairs(&pairs);
        assert_eq!((test.both, test.arm_only, test.baseline_only, test.neither), (1, 2, 1, 1));
        assert_eq!(test.p_value, 1.0);
        assert_eq!(McNemar::of_pairs(&[]).p_value, 1.0);
    }

    #[test]
    fn thousands_of_tasks_neither_overflow_nor_vanish() {
        // By the normal distribution with the correction for continuity: z = 99 / √10000, so about 0.322.
        assert!((p_value(5_050, 4_950) - 0.3222).abs() < 1e-3, "{}", p_value(5_050, 4_950));
        assert_eq!(p_value(5_000, 0), 0.0);
    }

    proptest! {
        #[test]
        fn it_is_the_same_from_both_sides_and_falls_with_the_distance(few in 0..300_u64, more in 0..300_u64) {
            prop_assert_eq!(p_value(few, few + more), p_value(few + more, few));
            prop_assert!(p_value(few, few + more + 1) <= p_value(few, few + more) + 1e-12);
            prop_assert!((0.0..=1.0).contains(&p_value(few, few + more)));
        }
    }
}
