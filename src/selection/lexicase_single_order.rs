use rand_chacha::rand_core::Rng;

use super::{cases::survivors, draws::shuffled, mean::by_mean};

/// Lexicase as SEIDR's public code has it, for comparison: one random order of the cases serves all parents, and only the candidates
/// that survive it are chosen, in the order of the pool, at most `width` of them. So it often gives a single parent,
/// whatever the width. Cases are those that every candidate has.
///
/// Source: `lexicase_ranking` in `seidr/dev.py` of github.com/vadim0x60/seidr at commit
/// 27d8202314e6c4c92487ae97874f949faaca0171. Three things differ: where that code asks for more parents than survived, it removes
/// the survivors by positions that have moved, which may raise an error: ours ends with the survivors; a NaN there compares as it
/// comes; and where `width` is at least the pool, ours chooses all, as every method here does.
pub fn lexicase_single_order(scores: &[Vec<f64>], width: usize, rng: &mut impl Rng) -> Vec<usize> {
    if width >= scores.len() {
        return by_mean(scores);
    }
    let shared = scores.iter().map(Vec::len).min().unwrap_or(0);
    let pool: Vec<usize> = (0..scores.len()).collect();
    let mut chosen = survivors(scores, &pool, &shuffled(rng, shared), |_| 0.0);
    chosen.truncate(width);
    chosen
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};

    use super::lexicase_single_order;

    fn rng(seed: u64) -> ChaCha8Rng {
        ChaCha8Rng::seed_from_u64(seed)
    }

    #[test]
    fn survivors_of_one_order_come_in_the_order_of_the_pool() {
        let scores = [vec![0.0, 1.0], vec![1.0, 0.0], vec![0.0, 1.0], vec![1.0, 0.0], vec![0.0, 0.0]];
        let chosen: BTreeSet<Vec<usize>> =
            (0..50).map(|seed| lexicase_single_order(&scores, 3, &mut rng(seed))).collect();
        assert_eq!(chosen, [vec![0, 2], vec![1, 3]].into());
        assert_eq!(lexicase_single_order(&scores, 1, &mut rng(1)).len(), 1);
        assert_eq!(lexicase_single_order(&scores, 5, &mut rng(1)), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn only_cases_that_all_have_are_looked_at() {
        let scores = [vec![1.0, 1.0, 0.0], vec![1.0], vec![0.0, 9.0]];
        assert_eq!(lexicase_single_order(&scores, 2, &mut rng(1)), [0, 1]);
        assert_eq!(lexicase_single_order(&[vec![], vec![1.0], vec![]], 2, &mut rng(1)), [0, 1]);
    }
}
