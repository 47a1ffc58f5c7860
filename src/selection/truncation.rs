use super::mean::by_mean;

/// The `width` candidates of highest mean score, highest first, the earlier first on ties.
///
/// Source: `standard_ranking`, the default of SEIDR's public code (`seidr/dev.py` of github.com/vadim0x60/seidr at commit
/// 27d8202314e6c4c92487ae97874f949faaca0171). It is sometimes called tournament selection; [`tournament`](super::tournament)
/// is another thing.
pub fn truncation(scores: &[Vec<f64>], width: usize) -> Vec<usize> {
    let mut order = by_mean(scores);
    order.truncate(width);
    order
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::truncation;
    use crate::selection::mean::mean;

    #[test]
    fn highest_first_and_ties_by_the_earlier() {
        let scores = [vec![0.5], vec![1.0], vec![0.5], vec![f64::NAN, 1.0], vec![1.0, 1.0]];
        assert_eq!(truncation(&scores, 3), [1, 4, 0]);
        assert_eq!(truncation(&scores, 9), [1, 4, 0, 2, 3]);
        assert_eq!(truncation(&[], 3), Vec::<usize>::new());
        assert_eq!(truncation(&[vec![f64::NAN]], 3), [0]);
        assert_eq!(truncation(&[vec![], vec![0.1]], 1), [1]);
    }

    proptest! {
        #[test]
        fn nothing_left_out_beats_what_is_kept(
            scores in prop::collection::vec(prop::collection::vec(0.0f64..1.0, 0..4), 0..30),
            width in 0usize..40,
        ) {
            let kept = truncation(&scores, width);
            prop_assert_eq!(kept.len(), width.min(scores.len()));
            let worst = kept.iter().map(|&index| mean(&scores[index])).fold(f64::INFINITY, f64::min);
            for (index, row) in scores.iter().enumerate() {
                prop_assert!(kept.contains(&index) || mean(row) <= worst);
            }
        }
    }
}
