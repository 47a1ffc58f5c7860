//! Random choices that depend on nothing but the generator, so that a seed means the same in every version.

use rand_chacha::rand_core::Rng;

/// A number below `bound`, each with the same chance; 0 where `bound` is 0 or 1, without a draw.
pub fn below(rng: &mut impl Rng, bound: usize) -> usize {
    if bound < 2 {
        return 0;
    }
    let bound = bound as u64;
    // Draws beyond the last whole multiple of the bound would favour small numbers.
    let beyond = u64::MAX - u64::MAX % bound;
    loop {
        let draw = rng.next_u64();
        if draw < beyond {
            return usize::try_from(draw % bound).unwrap_or(0);
        }
    }
}

/// `0..number` in a random order, each with the same chance.
pub(super) fn shuffled(rng: &mut impl Rng, number: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..number).collect();
    for last in (1..number).rev() {
        order.swap(last, below(rng, last + 1));
    }
    order
}

/// As many winners as `width` says, at most `number`, chosen one after the other by `winner_among`. Without replacement a
/// winner leaves the pool, which keeps its order.
pub(super) fn one_by_one(
    number: usize,
    width: usize,
    replacement: bool,
    mut winner_among: impl FnMut(&[usize]) -> Option<usize>,
) -> Vec<usize> {
    let mut pool: Vec<usize> = (0..number).collect();
    let mut winners = Vec::new();
    while winners.len() < width.min(number) {
        let Some(winner) = winner_among(&pool) else { break };
        winners.push(winner);
        if !replacement {
            pool.retain(|candidate| *candidate != winner);
        }
    }
    winners
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};

    use super::{below, shuffled};

    #[test]
    fn every_order_comes_about_as_often() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut seen: BTreeMap<Vec<usize>, u32> = BTreeMap::new();
        for _ in 0..6_000 {
            *seen.entry(shuffled(&mut rng, 3)).or_default() += 1;
        }
        assert_eq!(seen.len(), 6);
        assert!(seen.values().all(|times| (850..1_150).contains(times)), "{seen:?}");
    }

    #[test]
    fn every_number_below_the_bound_comes_and_none_beyond() {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let draws: Vec<usize> = (0..500).map(|_| below(&mut rng, 5)).collect();
        assert!((0..5).all(|number| draws.contains(&number)));
        assert!(draws.iter().all(|draw| *draw < 5));
        assert_eq!((below(&mut rng, 0), below(&mut rng, 1)), (0, 0));
    }
}
