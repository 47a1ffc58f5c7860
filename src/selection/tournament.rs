use rand_chacha::rand_core::Rng;

use super::{
    draws::{below, one_by_one},
    mean::by_mean,
};

/// The winners of `width` tournaments, in their order. For each, `size` different candidates of the pool are drawn (all
/// where there are no more); the one of highest mean score wins, the earlier on ties. Without `replacement` a
/// winner takes part in no further tournament.
///
/// So a size of 1 chooses at random, and a size of at least the pool without replacement is truncation. A size of 0 counts
/// as 1.
///
/// Source: tournament selection as textbooks of genetic algorithms give it; that the entrants of one tournament differ is
/// our choice. SEIDR's public code has [`truncation`](super::truncation) only.
pub fn tournament(scores: &[Vec<f64>], width: usize, size: usize, replacement: bool, rng: &mut impl Rng) -> Vec<usize> {
    let best_first = by_mean(scores);
    if width >= scores.len() && !replacement {
        return best_first;
    }
    let mut place = vec![0; scores.len()];
    for (at, &candidate) in best_first.iter().enumerate() {
        place[candidate] = at;
    }
    one_by_one(scores.len(), width, replacement, |pool| {
        let mut entrants = pool.to_vec();
        for drawn in 0..size.clamp(1, pool.len()) {
            let from = drawn + below(rng, pool.len() - drawn);
            entrants.swap(drawn, from);
        }
        entrants.truncate(size.max(1));
        entrants.into_iter().min_by_key(|&candidate| place[candidate])
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};

    use super::tournament;
    use crate::selection::truncation;

    fn ladder(number: u32) -> Vec<Vec<f64>> {
        (0..number).map(|step| vec![f64::from(step)]).collect()
    }

    /// Of 2,000 tournaments of this size among ten, how often the best wins and how often the worst.
    fn wins(size: usize) -> (usize, usize) {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let scores = ladder(10);
        let winners: Vec<usize> = (0..2_000).map(|_| tournament(&scores, 1, size, false, &mut rng)[0]).collect();
        let count = |of: usize| winners.iter().filter(|winner| **winner == of).count();
        (count(9), count(0))
    }

    #[test]
    fn larger_tournaments_are_won_by_better_candidates() {
        // The best takes part in `size` of ten tournaments, and the worst wins only alone.
        for (size, expected) in [(1, 200), (2, 400), (5, 1_000), (9, 1_800)] {
            let (best, worst) = wins(size);
            assert!(best.abs_diff(expected) < 60, "size {size}: {best}");
            assert_eq!(worst > 0, size == 1, "size {size}: {worst}");
        }
        assert_eq!(wins(10), (2_000, 0));
    }

    #[test]
    fn with_replacement_a_winner_may_win_again() {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        assert_eq!(tournament(&ladder(4), 3, 4, true, &mut rng), [3, 3, 3]);
        assert_eq!(tournament(&ladder(4), 9, 4, true, &mut rng), [3, 3, 3, 3]);
        assert_eq!(tournament(&ladder(4), 3, 4, false, &mut rng), [3, 2, 1]);
    }

    proptest! {
        #[test]
        fn all_against_all_is_truncation(
            scores in prop::collection::vec(prop::collection::vec(0u8..3, 2), 0..20),
            width in 0usize..25,
            seed: u64,
        ) {
            let scores: Vec<Vec<f64>> =
                scores.into_iter().map(|row| row.into_iter().map(f64::from).collect()).collect();
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let all = tournament(&scores, width, scores.len(), false, &mut rng);
            prop_assert_eq!(all, truncation(&scores, width));
        }
    }
}
