//! The interval of a rate of independent trials.

use super::{Interval, Level, StatisticsError, normal::quantile};

/// The score interval of `successes` among `trials` independent trials; `None` without trials. It stays inside 0 to 1,
/// and has a width also where all or none succeeded.
///
/// Source: Wilson, "Probable Inference, the Law of Succession, and Statistical Inference" (1927); recommended by Brown,
/// Cai and DasGupta, "Interval Estimation for a Binomial Proportion" (2001).
///
/// # Errors
/// More successes than trials.
pub fn wilson(successes: u64, trials: u64, level: Level) -> Result<Option<Interval>, StatisticsError> {
    if successes > trials {
        return Err(StatisticsError::MoreThanAll { what: "successes", part: successes, whole: trials });
    }
    if trials == 0 {
        return Ok(None);
    }
    let number = trials as f64;
    let rate = successes as f64 / number;
    let z = -quantile(level.tail());
    let added = z * z / number;
    let centre = (rate + added / 2.0) / (1.0 + added);
    let half = (rate * (1.0 - rate) * added + added * added / 4.0).sqrt() / (1.0 + added);
    // At the ends the formula is 0 and 1 but for rounding.
    let low = if successes == 0 { 0.0 } else { (centre - half).max(0.0) };
    let high = if successes == trials { 1.0 } else { (centre + half).min(1.0) };
    Ok(Some(Interval { low, high }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LEVEL: Level = Level::PERCENT_95;

    #[test]
    fn no_trials_no_successes_all_successes() {
        assert_eq!(wilson(0, 0, LEVEL), Ok(None));
        let none = wilson(0, 10, LEVEL).unwrap().unwrap();
        let all = wilson(10, 10, LEVEL).unwrap().unwrap();
        assert_eq!((none.low, all.high), (0.0, 1.0));
        // z² / (n + z²)
        assert!((none.high - 0.277_532_799_862_889_26).abs() < 1e-12, "{none:?}");
        assert!((all.low - (1.0 - none.high)).abs() < 1e-12);
        assert_eq!(wilson(2, 1, LEVEL).unwrap_err().to_string(), "2 successes of 1");
    }

    #[test]
    fn a_level_is_between_0_and_1() {
        for level in [0.0, 1.0, -1.0, f64::NAN, 95.0] {
            assert!(Level::new(level).is_err(), "{level}");
        }
        assert_eq!(Level::new(0.9).unwrap().get(), 0.9);
    }

    proptest! {
        #[test]
        fn it_holds_the_rate_and_is_wider_the_surer_one_is(trials in 1..5_000_u64, share in 0.0..=1.0_f64) {
            let successes = (trials as f64 * share) as u64;
            let rate = successes as f64 / trials as f64;
            let narrow = wilson(successes, trials, Level::new(0.8).unwrap()).unwrap().unwrap();
            let wide = wilson(successes, trials, Level::new(0.99).unwrap()).unwrap().unwrap();
            prop_assert!(wide.low <= narrow.low && narrow.low <= rate + 1e-12);
            prop_assert!(rate - 1e-12 <= narrow.high && narrow.high <= wide.high);
            prop_assert!(wide.low >= 0.0 && wide.high <= 1.0);
        }
    }
}
