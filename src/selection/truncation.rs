/// Indices of the `width` highest scores, highest first, ties by the earlier index. NaN counts as the lowest score.
///
/// SEIDR's public code calls this tournament selection; it is truncation by mean score.
pub fn truncation(scores: &[f64], width: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    let key = |index: usize| if scores[index].is_nan() { f64::NEG_INFINITY } else { scores[index] };
    order.sort_by(|&a, &b| key(b).total_cmp(&key(a)).then(a.cmp(&b)));
    order.truncate(width);
    order
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::truncation;

    #[test]
    fn highest_first_and_ties_by_the_earlier() {
        assert_eq!(truncation(&[0.5, 1.0, 0.5, f64::NAN, 1.0], 3), [1, 4, 0]);
        assert_eq!(truncation(&[], 3), Vec::<usize>::new());
        assert_eq!(truncation(&[f64::NAN], 3), [0]);
    }

    proptest! {
        #[test]
        fn nothing_left_out_beats_what_is_kept(scores in prop::collection::vec(0.0f64..1.0, 0..30), width in 0usize..40) {
            let kept = truncation(&scores, width);
            prop_assert_eq!(kept.len(), width.min(scores.len()));
            let worst = kept.iter().map(|&index| scores[index]).fold(f64::INFINITY, f64::min);
            for (index, score) in scores.iter().enumerate() {
                prop_assert!(kept.contains(&index) || *score <= worst);
            }
        }
    }
}
