//! Two arms, any number of samples a task: could the difference be chance?

use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};

use super::{StatisticsError, checks::finite, tasks::mean};
use crate::ids::keyed;

/// The sign-flip permutation test of paired differences: if the arms were exchangeable, each task's difference could as
/// well have the other sign. The p-value is the share of all assignments of signs whose mean is at least as far from 0.
///
/// Sources: Fisher, "The Design of Experiments" (1935), section 21; counting the observed one among drawn ones: Phipson
/// and Smyth, "Permutation P-values Should Never Be Zero" (2010).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignFlips {
    /// Up to how many differences other than 0 all assignments are looked at; above, they are drawn. The work doubles
    /// with each: 2²⁰ take milliseconds.
    pub exact_up_to: u32,
    /// How many assignments are drawn.
    pub draws: u32,
    /// What the draws are keyed by.
    pub seed: u64,
}

/// What the test found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignFlip {
    /// The mean difference, with its sign.
    pub mean: f64,
    /// How many differences are not 0; the others keep their mean whatever their sign.
    pub changed: u64,
    /// Two-sided: the share of all assignments, or (as far among the drawn + 1) / (drawn + 1).
    pub p_value: f64,
    /// All assignments were looked at.
    pub exact: bool,
}

impl SignFlips {
    /// All assignments up to 20 changed tasks, else 100,000 of them.
    pub fn keyed_by(seed: u64) -> Self {
        Self { exact_up_to: 20, draws: 100_000, seed }
    }

    /// The test of differences, one a task ([`super::paired_differences`]).
    ///
    /// # Errors
    /// No task, a difference that is not finite, no draws where draws are needed.
    pub fn test(&self, differences: &[f64]) -> Result<SignFlip, StatisticsError> {
        finite("differences", differences)?;
        if differences.is_empty() {
            return Err(StatisticsError::Nothing { what: "tasks" });
        }
        let changed: Vec<f64> = differences.iter().copied().filter(|difference| *difference != 0.0).collect();
        let total: f64 = changed.iter().sum();
        // Sums that are equal on paper differ in their last bits by the order of their terms.
        let tie = 1e-12 * changed.iter().map(|difference| difference.abs()).sum::<f64>();
        let far = total.abs() - tie;
        let exact = changed.len() <= self.exact_up_to as usize;
        let p_value = match (exact, self.draws) {
            (true, _) => share_as_far(&changed, far),
            (false, 0) => return Err(StatisticsError::Nothing { what: "draws" }),
            (false, draws) => {
                let rng = ChaCha8Rng::from_seed(*keyed(self.seed, 0, None, &["sign flips"]).finalize().as_bytes());
                (drawn_as_far(&changed, far, draws, rng) + 1) as f64 / (f64::from(draws) + 1.0)
            }
        };
        Ok(SignFlip { mean: mean(differences), changed: changed.len() as u64, p_value, exact })
    }
}

/// The share of all assignments whose sum is at least `far` from 0. With the first sign held, since the opposite
/// assignment is as far.
fn share_as_far(changed: &[f64], far: f64) -> f64 {
    let Some((first, rest)) = changed.split_first() else { return 1.0 };
    libm::scalbn(count_as_far(*first, rest, far) as f64, -i32::try_from(rest.len()).unwrap_or(i32::MAX))
}

fn count_as_far(sum: f64, rest: &[f64], far: f64) -> u64 {
    match rest.split_first() {
        None => u64::from(sum.abs() >= far),
        Some((next, rest)) => count_as_far(sum + next, rest, far) + count_as_far(sum - next, rest, far),
    }
}

/// How many of `draws` assignments have a sum that is at least `far` from 0.
fn drawn_as_far(changed: &[f64], far: f64, draws: u32, mut rng: ChaCha8Rng) -> u64 {
    let mut hits = 0;
    for _ in 0..draws {
        let mut sum = 0.0;
        for block in changed.chunks(64) {
            let signs = rng.next_u64();
            for (at, difference) in block.iter().enumerate() {
                sum += if signs >> at & 1 == 1 { *difference } else { -difference };
            }
        }
        hits += u64::from(sum.abs() >= far);
    }
    hits
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::evaluation::statistics::McNemar;

    fn p_value(differences: &[f64]) -> f64 {
        SignFlips::keyed_by(1).test(differences).unwrap().p_value
    }

    #[test]
    fn no_change_one_task_and_all_one_way() {
        let none = SignFlips::keyed_by(1).test(&[0.0; 5]).unwrap();
        assert_eq!(none, SignFlip { mean: 0.0, changed: 0, p_value: 1.0, exact: true });
        assert_eq!(p_value(&[0.5]), 1.0);
        assert_eq!(p_value(&[1.0; 6]), 2.0 / 64.0);
        assert_eq!(p_value(&[1.0, -1.0]), 1.0);
        // 6 is reached by two of the eight assignments, ±(1 + 2 + 3).
        assert_eq!(p_value(&[1.0, 2.0, 3.0]), 0.25);
    }

    #[test]
    fn what_is_equal_on_paper_is_a_tie() {
        // 0.1 + 0.2 is not 0.3 in binary: without a tolerance (0.3, 0.1, 0.2) would count other ties than (3, 1, 2).
        for scale in [1.0, 0.1, 1e-9, 1e9] {
            let scaled = |values: &[f64]| values.iter().map(|value| value * scale).collect::<Vec<_>>();
            for values in
                [&[3.0, -1.0, -2.0, 4.0][..], &[1.0, 2.0, -3.0, 6.0, 7.0, -1.0], &[7.0, -3.0, -2.0, -1.0, 2.0]]
            {
                assert_eq!(p_value(&scaled(values)), p_value(values), "{values:?} times {scale}");
            }
        }
    }

    #[test]
    fn nothing_nan_and_no_draws_are_refused() {
        assert_eq!(SignFlips::keyed_by(1).test(&[]), Err(StatisticsError::Nothing { what: "tasks" }));
        assert!(SignFlips::keyed_by(1).test(&[f64::NAN]).is_err());
        let drawn = SignFlips { exact_up_to: 2, draws: 0, seed: 1 };
        assert_eq!(drawn.test(&[1.0; 3]), Err(StatisticsError::Nothing { what: "draws" }));
        assert!(drawn.test(&[1.0; 2]).is_ok());
    }

    #[test]
    fn drawn_assignments_come_close_to_all_of_them_and_never_to_0() {
        let differences: Vec<f64> = (1..=14).map(|at| f64::from(at) * if at % 3 == 0 { -0.1 } else { 0.1 }).collect();
        let exact = p_value(&differences);
        for seed in 0..4 {
            let drawn = SignFlips { exact_up_to: 0, draws: 20_000, seed }.test(&differences).unwrap();
            assert!(!drawn.exact);
            let error = 5.0 * (exact * (1.0 - exact) / 20_000.0).sqrt();
            assert!((drawn.p_value - exact).abs() < error, "{} {exact}", drawn.p_value);
        }
        let many = SignFlips { exact_up_to: 20, draws: 999, seed: 1 }.test(&[1.0; 200]).unwrap();
        assert_eq!((many.p_value, many.changed, many.exact), (0.001, 200, false));
    }

    proptest! {
        #[test]
        fn of_binary_outcomes_it_is_mcnemars(more in 0..9_u64, less in 0..9_u64, ties in 1..5_u64) {
            let mut differences = vec![1.0; more as usize];
            differences.extend(vec![-1.0; less as usize]);
            differences.extend(vec![0.0; ties as usize]);
            let exact = McNemar::of_counts(ties, more, less, 0).p_value;
            prop_assert!((p_value(&differences) - exact).abs() < 1e-12);
        }
    }
}
