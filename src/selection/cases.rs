//! Filtering candidates test by test, which the lexicase methods have in common. A test is a case there.

/// How many cases there are: as many as the longest row has.
pub(super) fn number_of_cases(scores: &[Vec<f64>]) -> usize {
    scores.iter().map(Vec::len).max().unwrap_or(0)
}

/// The score of a candidate in a case; below every number where it is missing or NaN.
pub(super) fn score_in(scores: &[Vec<f64>], candidate: usize, case: usize) -> f64 {
    match scores[candidate].get(case) {
        Some(score) if !score.is_nan() => *score,
        _ => f64::NEG_INFINITY,
    }
}

/// Those of `pool` that are left, in its order, when case after case only those stay that come within `tolerance` of the
/// best that is still there. Ends early when one is left.
pub(super) fn survivors(
    scores: &[Vec<f64>],
    pool: &[usize],
    order: &[usize],
    tolerance: impl Fn(usize) -> f64,
) -> Vec<usize> {
    let mut left = pool.to_vec();
    for &case in order {
        if left.len() < 2 {
            break;
        }
        let score = |candidate: usize| score_in(scores, candidate, case);
        let best = left.iter().map(|&candidate| score(candidate)).fold(f64::NEG_INFINITY, f64::max);
        // A hair more than the tolerance, so that 0.8 and 0.7 are within 0.1 of each other in binary as well; of 0 it is 0.
        let tolerance = tolerance(case) * (1.0 + 1e-9);
        left.retain(|&candidate| score(candidate) >= best || best - score(candidate) <= tolerance);
    }
    left
}

#[cfg(test)]
mod tests {
    use super::survivors;

    #[test]
    fn a_missing_score_is_lower_than_any_and_all_missing_are_equal() {
        let scores = [vec![1.0], vec![1.0, -5.0], vec![1.0, f64::NAN]];
        assert_eq!(survivors(&scores, &[0, 1, 2], &[1, 0], |_| 0.0), [1]);
        assert_eq!(survivors(&scores, &[0, 2], &[1, 0], |_| 0.0), [0, 2]);
        assert_eq!(survivors(&scores, &[0, 2], &[1, 0], |_| 9.0), [0, 2]);
    }

    #[test]
    fn a_decimal_tolerance_holds_in_binary() {
        let scores = [vec![0.8], vec![0.7], vec![0.69]];
        assert_eq!(survivors(&scores, &[0, 1, 2], &[0], |_| 0.1), [0, 1]);
    }
}
