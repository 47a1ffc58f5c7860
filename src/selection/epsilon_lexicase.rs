use rand_chacha::rand_core::Rng;

use super::{
    Epsilon,
    cases::{number_of_cases, score_in},
    lexicase::lexicase_within,
};

/// [`lexicase`](super::lexicase) for partial credit: in a case all candidates stay whose score is at most an epsilon
/// below the best of those that are still there. With a fixed epsilon of 0 it chooses as lexicase does from the same
/// generator.
///
/// The epsilon of a case is fixed, or the median absolute deviation of the scores of all candidates in it, taken once, before anybody
/// is chosen; scores that are missing or not finite do not count, and where there are none it is 0. On tests that are
/// passed or not, it is 0 wherever most candidates agree.
///
/// Source: La Cava, Spector and Danai 2016, "Epsilon-lexicase selection for regression" (arXiv 1905.13266), and La Cava,
/// Helmuth, Spector and Moore 2019 (Evolutionary Computation 27:3), who call this variant semi-dynamic: the best is that
/// of the pool, the epsilon that of the population. Both minimise errors and draw with replacement.
pub fn epsilon_lexicase(
    scores: &[Vec<f64>],
    width: usize,
    epsilon: Epsilon,
    replacement: bool,
    rng: &mut impl Rng,
) -> Vec<usize> {
    match epsilon {
        Epsilon::Fixed(epsilon) => lexicase_within(scores, width, replacement, |_| epsilon, rng),
        Epsilon::MedianAbsoluteDeviation => {
            let deviations: Vec<f64> =
                (0..number_of_cases(scores)).map(|case| median_absolute_deviation(scores, case)).collect();
            lexicase_within(scores, width, replacement, |case| deviations[case], rng)
        }
    }
}

fn median_absolute_deviation(scores: &[Vec<f64>], case: usize) -> f64 {
    let all = (0..scores.len()).map(|candidate| score_in(scores, candidate, case));
    let finite: Vec<f64> = all.filter(|score| score.is_finite()).collect();
    let Some(middle) = median(finite.clone()) else { return 0.0 };
    median(finite.into_iter().map(|score| (score - middle).abs()).collect()).unwrap_or(0.0)
}

fn median(mut numbers: Vec<f64>) -> Option<f64> {
    numbers.sort_by(f64::total_cmp);
    let half = numbers.len() / 2;
    let upper = *numbers.get(half)?;
    Some(if numbers.len() % 2 == 1 { upper } else { f64::midpoint(numbers[half - 1], upper) })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};

    use super::{Epsilon, epsilon_lexicase, median_absolute_deviation};
    use crate::selection::lexicase;

    fn rng(seed: u64) -> ChaCha8Rng {
        ChaCha8Rng::seed_from_u64(seed)
    }

    /// Who is ever the one parent, over many seeds.
    fn ever(scores: &[Vec<f64>], epsilon: Epsilon) -> BTreeSet<usize> {
        (0..200).map(|seed| epsilon_lexicase(scores, 1, epsilon, false, &mut rng(seed))[0]).collect()
    }

    #[test]
    fn deviations_are_of_the_finite_scores_of_all_candidates() {
        let column = |numbers: &[f64]| numbers.iter().map(|number| vec![*number]).collect::<Vec<_>>();
        // Median 2, deviations 1 1 0 0 2 4 7.
        assert_eq!(median_absolute_deviation(&column(&[1.0, 1.0, 2.0, 2.0, 4.0, 6.0, 9.0]), 0), 1.0);
        assert_eq!(median_absolute_deviation(&column(&[0.0, 1.0]), 0), 0.5);
        assert_eq!(median_absolute_deviation(&column(&[0.0, 0.0, 0.0, 1.0]), 0), 0.0);
        let holes = [vec![0.0], vec![f64::NAN], vec![], vec![f64::INFINITY], vec![4.0]];
        assert_eq!(median_absolute_deviation(&holes, 0), 2.0);
        assert_eq!(median_absolute_deviation(&[], 0), 0.0);
    }

    #[test]
    fn near_misses_pass_a_case() {
        // The second is nearly best in the first case and best in the second.
        let scores = [vec![1.0, 0.0], vec![0.95, 1.0], vec![0.2, 0.1]];
        assert_eq!(ever(&scores, Epsilon::Fixed(0.0)), [0, 1].into());
        assert_eq!(ever(&scores, Epsilon::Fixed(0.1)), [1].into());
        assert_eq!(ever(&scores, Epsilon::Fixed(1.0)), [0, 1, 2].into());
        // Deviations of 0.05 and 0.1: the second passes both cases, the others fail the second.
        assert_eq!(ever(&scores, Epsilon::MedianAbsoluteDeviation), [1].into());
    }

    #[test]
    fn the_best_is_that_of_the_pool_and_the_deviation_that_of_the_population() {
        // The case that the third owns has no deviation; once it is chosen, the best of the others is 0 there.
        let scores = [vec![0.0, 1.0], vec![0.0, 0.0], vec![9.0, 0.0], vec![0.0, 0.0]];
        for seed in 0..50 {
            let chosen = epsilon_lexicase(&scores, 2, Epsilon::MedianAbsoluteDeviation, false, &mut rng(seed));
            assert_eq!(chosen.into_iter().collect::<BTreeSet<_>>(), [0, 2].into());
        }
        // The deviation is 0.24, of what is left after the first choice 0.12.
        let column = [vec![0.0], vec![0.26], vec![0.5], vec![0.5], vec![1.0]];
        let second = |seed| epsilon_lexicase(&column, 2, Epsilon::MedianAbsoluteDeviation, false, &mut rng(seed))[1];
        assert_eq!((0..100).map(second).collect::<BTreeSet<_>>(), [1, 2, 3].into());
    }

    proptest! {
        #[test]
        fn an_epsilon_of_0_is_lexicase(
            scores in prop::collection::vec(prop::collection::vec(0.0f64..1.0, 0..5), 0..20),
            width in 0usize..25,
            replacement: bool,
            seed: u64,
        ) {
            let plain = lexicase(&scores, width, replacement, &mut rng(seed));
            let zero = epsilon_lexicase(&scores, width, Epsilon::Fixed(0.0), replacement, &mut rng(seed));
            prop_assert_eq!(plain, zero);
        }
    }
}
