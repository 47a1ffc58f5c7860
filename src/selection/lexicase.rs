use rand_chacha::rand_core::Rng;

use super::{
    cases::{number_of_cases, survivors},
    draws::{below, one_by_one, shuffled},
    mean::by_mean,
};

/// `width` parents, each from a random order of the cases of its own: case after case only the candidates that do best in it stay.
/// Among those that are equal in every case one is drawn, each with the same chance. Without `replacement` a parent
/// takes no part in later choices, so `width` parents come of `width` independent orders.
///
/// Source: lexicase selection (Spector 2012, "Assessment of problem modality by differential performance of lexicase selection in
/// genetic programming"; Helmuth, Spector and Matheson 2015, "Solving uncompromising problems with lexicase
/// selection"), there with replacement.
pub fn lexicase(scores: &[Vec<f64>], width: usize, replacement: bool, rng: &mut impl Rng) -> Vec<usize> {
    lexicase_within(scores, width, replacement, |_| 0.0, rng)
}

/// The same where all stay that come within `tolerance` of the best in a case.
pub(super) fn lexicase_within(
    scores: &[Vec<f64>],
    width: usize,
    replacement: bool,
    tolerance: impl Fn(usize) -> f64,
    rng: &mut impl Rng,
) -> Vec<usize> {
    if width >= scores.len() && !replacement {
        return by_mean(scores);
    }
    let cases = number_of_cases(scores);
    one_by_one(scores.len(), width, replacement, |pool| {
        let order = shuffled(rng, cases);
        let tied = survivors(scores, pool, &order, &tolerance);
        tied.get(below(rng, tied.len())).copied()
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};

    use super::lexicase;

    fn rng(seed: u64) -> ChaCha8Rng {
        ChaCha8Rng::seed_from_u64(seed)
    }

    #[test]
    fn a_specialist_is_chosen_as_often_as_its_case_comes_first() {
        // The generalist has the best mean and is best in no case.
        let scores = [vec![0.9, 0.9, 0.9], vec![1.0, 0.0, 0.0], vec![0.0, 1.0, 0.0], vec![0.0, 0.0, 1.0]];
        let mut times = [0; 4];
        for seed in 0..900 {
            times[lexicase(&scores, 1, false, &mut rng(seed))[0]] += 1;
        }
        assert_eq!(times[0], 0, "{times:?}");
        assert!(times[1..].iter().all(|times| (240..360).contains(times)), "{times:?}");
    }

    #[test]
    fn equals_are_drawn_evenly() {
        let scores = vec![vec![1.0, 0.0]; 4];
        let mut times = [0; 4];
        for seed in 0..800 {
            times[lexicase(&scores, 1, false, &mut rng(seed))[0]] += 1;
        }
        assert!(times.iter().all(|times| (150..250).contains(times)), "{times:?}");
    }

    #[test]
    fn with_replacement_one_that_is_best_everywhere_is_every_parent() {
        let scores = [vec![0.0, 1.0], vec![1.0, 1.0], vec![1.0, 0.0]];
        assert_eq!(lexicase(&scores, 2, true, &mut rng(3)), [1, 1]);
        assert_eq!(lexicase(&scores, 7, true, &mut rng(3)), [1, 1, 1]);
        assert_eq!(lexicase(&scores, 7, false, &mut rng(3)), [1, 0, 2]);
    }

    proptest! {
        #[test]
        fn one_that_is_best_in_every_case_is_chosen_first(
            mut scores in prop::collection::vec(prop::collection::vec(0.0f64..1.0, 5), 1..20),
            best in 0usize..20,
            width in 1usize..25,
            seed: u64,
        ) {
            let best = best % scores.len();
            scores[best] = vec![1.0; 5];
            prop_assert_eq!(lexicase(&scores, width, false, &mut rng(seed))[0], best);
        }

        #[test]
        fn a_parent_is_best_in_some_case_of_those_that_were_left(
            scores in prop::collection::vec(prop::collection::vec(0u8..3, 4), 2..15),
            width in 1usize..10,
            seed: u64,
        ) {
            let scores: Vec<Vec<f64>> =
                scores.into_iter().map(|row| row.into_iter().map(f64::from).collect()).collect();
            prop_assume!(width < scores.len());
            let mut left: BTreeSet<usize> = (0..scores.len()).collect();
            for parent in lexicase(&scores, width, false, &mut rng(seed)) {
                let best_in = |case: usize| left.iter().all(|&one| scores[one][case] <= scores[parent][case]);
                prop_assert!((0..4).any(best_in));
                prop_assert!(left.remove(&parent));
            }
        }
    }
}
