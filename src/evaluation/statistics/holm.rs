//! Several comparisons at once.

use super::{StatisticsError, checks::share};

/// Holm's step-down adjusted p-values, in the order given: the smallest of m is multiplied by m, the next by m − 1, and
/// so on; none is below a smaller one's, none above 1. Rejecting where the adjusted value is at most α keeps the chance
/// of any false rejection at α, however the tests depend on each other. Nothing in, nothing out.
///
/// Source: Holm, "A Simple Sequentially Rejective Multiple Test Procedure" (1979).
///
/// # Errors
/// A p-value outside of 0 to 1, or NaN.
pub fn holm(p_values: &[f64]) -> Result<Vec<f64>, StatisticsError> {
    for value in p_values {
        share("p-value", *value)?;
    }
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut adjusted = vec![0.0; p_values.len()];
    let mut highest = 0.0_f64;
    for (place, &at) in order.iter().enumerate() {
        let left = (p_values.len() - place) as f64;
        highest = highest.max((left * p_values[at]).min(1.0));
        adjusted[at] = highest;
    }
    Ok(adjusted)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn none_one_ties_and_a_step_that_would_go_down() {
        assert_eq!(holm(&[]), Ok(vec![]));
        assert_eq!(holm(&[0.03]), Ok(vec![0.03]));
        assert_eq!(holm(&[0.25, 0.25]), Ok(vec![0.5, 0.5]));
        // 3 × 0.03 is above 2 × 0.035, which may not be below it.
        assert_eq!(holm(&[0.035, 0.03, 0.9]), Ok(vec![0.09, 0.09, 0.9]));
        assert_eq!(holm(&[1.0, 0.6]), Ok(vec![1.0, 1.0]));
        for wrong in [f64::NAN, -0.1, 1.1] {
            assert!(holm(&[0.5, wrong]).is_err());
        }
    }

    proptest! {
        #[test]
        fn the_order_stays_and_none_gets_smaller(values in prop::collection::vec(0.0..=1.0_f64, 0..12)) {
            let adjusted = holm(&values).unwrap();
            for (a, before) in values.iter().enumerate() {
                prop_assert!(adjusted[a] >= *before && adjusted[a] <= (values.len() as f64 * before).min(1.0));
                for (b, other) in values.iter().enumerate() {
                    prop_assert!(before > other || adjusted[a] <= adjusted[b]);
                }
            }
        }
    }
}
