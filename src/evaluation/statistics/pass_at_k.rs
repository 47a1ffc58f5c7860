//! pass@k: the chance that at least one of k independent samples is right.

use super::{StatisticsError, tasks::mean};

/// How the samples of a task went.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Samples {
    /// All of them: n.
    pub samples: u64,
    /// Those that are right: c.
    pub solved: u64,
}

/// Unbiased estimate of pass@k of one task: 1 − C(n−c, k) / C(n, k), as a product of ratios so that no binomial
/// coefficient is ever written out. Only for samples that are independent of each other, and of which none was left out
/// because of how it went.
///
/// Source: Chen et al., "Evaluating Large Language Models Trained on Code" (2021), equation 1.
///
/// # Errors
/// A k of 0 or above n; more solved than samples.
pub fn pass_at_k(task: Samples, k: u64) -> Result<f64, StatisticsError> {
    let Samples { samples, solved } = task;
    if solved > samples {
        return Err(StatisticsError::MoreThanAll { what: "samples solved", part: solved, whole: samples });
    }
    if k == 0 || k > samples {
        return Err(StatisticsError::NoSuchK { k, samples });
    }
    let wrong = samples - solved;
    if wrong < k {
        return Ok(1.0);
    }
    // C(n−c, k) / C(n, k) is a product of k factors and also one of c: the shorter one is rounded less often.
    let (factors, removed) = if k < solved { (k, solved) } else { (solved, k) };
    let none_right: f64 = (0..factors).map(|at| 1.0 - removed as f64 / (samples - at) as f64).product();
    Ok(1.0 - none_right)
}

/// The mean of [`pass_at_k`] over tasks, whose numbers of samples may differ.
///
/// # Errors
/// No task; what [`pass_at_k`] refuses, with the place of its task.
pub fn mean_pass_at_k(tasks: &[Samples], k: u64) -> Result<f64, StatisticsError> {
    if tasks.is_empty() {
        return Err(StatisticsError::Nothing { what: "tasks" });
    }
    let one = |(at, task): (usize, &Samples)| pass_at_k(*task, k).map_err(|error| error.of_task(at));
    let each: Vec<f64> = tasks.iter().enumerate().map(one).collect::<Result<_, _>>()?;
    Ok(mean(&each))
}

/// [`mean_pass_at_k`] for each k, in the order given.
///
/// # Errors
/// Those of [`mean_pass_at_k`] for the first k that it refuses.
pub fn pass_at_ks(tasks: &[Samples], ks: &[u64]) -> Result<Vec<(u64, f64)>, StatisticsError> {
    ks.iter().map(|k| Ok((*k, mean_pass_at_k(tasks, *k)?))).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn task(samples: u64, solved: u64) -> Samples {
        Samples { samples, solved }
    }

    #[test]
    fn none_all_and_one_by_hand() {
        assert_eq!(pass_at_k(task(10, 0), 10), Ok(0.0));
        assert_eq!(pass_at_k(task(10, 10), 1), Ok(1.0));
        assert_eq!(pass_at_k(task(1, 1), 1), Ok(1.0));
        // Of the six pairs of four samples, one has neither of the two right ones.
        assert!((pass_at_k(task(4, 2), 2).unwrap() - 5.0 / 6.0).abs() < 1e-15);
        // Three wrong: no four can be all wrong.
        assert_eq!(pass_at_k(task(10, 7), 4), Ok(1.0));
    }

    #[test]
    fn what_no_choice_can_be_is_refused() {
        assert_eq!(pass_at_k(task(5, 1), 6), Err(StatisticsError::NoSuchK { k: 6, samples: 5 }));
        assert_eq!(pass_at_k(task(5, 1), 0), Err(StatisticsError::NoSuchK { k: 0, samples: 5 }));
        assert_eq!(pass_at_k(task(0, 0), 1), Err(StatisticsError::NoSuchK { k: 1, samples: 0 }));
        assert_eq!(pass_at_k(task(5, 6), 1).unwrap_err().to_string(), "6 samples solved of 5");
        assert_eq!(
            mean_pass_at_k(&[task(5, 1), task(2, 1)], 3).unwrap_err().to_string(),
            "task 1: pass@3 needs a k from 1 to the number of samples, 2"
        );
        assert_eq!(mean_pass_at_k(&[], 1), Err(StatisticsError::Nothing { what: "tasks" }));
    }

    #[test]
    fn tasks_count_the_same_whatever_their_samples() {
        let tasks = [task(2, 1), task(100, 100)];
        assert_eq!(pass_at_ks(&tasks, &[1, 2]), Ok(vec![(1, 0.75), (2, 1.0)]));
    }

    proptest! {
        #[test]
        fn it_is_the_solved_share_at_1_grows_with_k_and_stays_a_chance(samples in 1..2_000_u64, share in 0.0..=1.0) {
            let task = task(samples, (samples as f64 * share) as u64);
            let first = pass_at_k(task, 1).unwrap();
            prop_assert!((first - task.solved as f64 / samples as f64).abs() < 1e-12);
            let mut last = 0.0;
            for k in [1, samples.div_ceil(3), samples.div_ceil(2), samples] {
                let now = pass_at_k(task, k).unwrap();
                prop_assert!(now >= last - 1e-12 && now <= 1.0);
                last = now;
            }
            prop_assert_eq!(last, if task.solved > 0 { 1.0 } else { 0.0 });
        }
    }
}
