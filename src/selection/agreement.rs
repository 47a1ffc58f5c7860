use std::collections::BTreeMap;

use super::mean::by_mean;

/// The `width` best by agreement. Candidates that pass exactly the same tests are a group; the score of a group is the
/// number of its candidates times the number of tests that they pass. Candidates come by the score of their group, then by
/// their own mean score, both descending, then the earlier first. A test is passed where its score is 1 or more.
///
/// Source: dual execution agreement of CodeT (Chen and others 2022, arXiv 2207.10397), made for tests that a model wrote, which
/// may be wrong: many programs that agree on many tests speak for both. There the answer is a program of the best group.
pub fn agreement(scores: &[Vec<f64>], width: usize) -> Vec<usize> {
    let mut order = by_mean(scores);
    if width >= order.len() {
        return order;
    }
    let of_group = group_scores(scores);
    // Stable: inside of a group, and between equal groups, the order by mean score stays.
    order.sort_by_key(|&candidate| std::cmp::Reverse(of_group[candidate]));
    order.truncate(width);
    order
}

/// The score of each candidate's group, as [`agreement`] counts it.
pub fn group_scores(scores: &[Vec<f64>]) -> Vec<usize> {
    let passed: Vec<Vec<usize>> = scores.iter().map(|row| passed_tests(row)).collect();
    let mut members: BTreeMap<&[usize], usize> = BTreeMap::new();
    for tests in &passed {
        *members.entry(tests).or_default() += 1;
    }
    passed.iter().map(|tests| members.get(tests.as_slice()).copied().unwrap_or(0) * tests.len()).collect()
}

fn passed_tests(row: &[f64]) -> Vec<usize> {
    row.iter().enumerate().filter(|(_, score)| **score >= 1.0).map(|(test, _)| test).collect()
}

#[cfg(test)]
mod tests {
    use super::{agreement, group_scores};

    #[test]
    fn the_group_counts_before_the_candidate() {
        // Two that agree on three tests (6) beat one that passes four (4) and three that agree on one (3).
        let scores = [
            vec![1.0, 1.0, 1.0, 1.0, 0.0],
            vec![0.0, 1.0, 1.0, 1.0, 0.0],
            vec![0.0, 0.0, 0.0, 0.0, 1.0],
            vec![0.0, 1.0, 1.0, 1.0, 0.5],
            vec![0.0, 0.0, 0.0, 0.0, 1.0],
            vec![0.9, 0.9, 0.9, 0.9, 1.0],
        ];
        assert_eq!(group_scores(&scores), [4, 6, 3, 6, 3, 3]);
        assert_eq!(agreement(&scores, 5), [3, 1, 0, 5, 2]);
        assert_eq!(agreement(&scores, 1), [3]);
        assert_eq!(agreement(&scores, 6), [5, 0, 3, 1, 2, 4], "all: by mean score as everywhere");
    }

    #[test]
    fn passing_nothing_together_is_no_agreement() {
        let scores = [vec![0.0, 0.2], vec![0.0, 0.9], vec![0.0], vec![1.0, 0.0]];
        assert_eq!(agreement(&scores, 3), [3, 1, 0]);
        assert_eq!(agreement(&[vec![f64::NAN], vec![]], 1), [1]);
    }
}
