//! What every number must be before anything is computed from it.

use super::StatisticsError;

/// All finite.
pub(super) fn finite(what: &'static str, values: &[f64]) -> Result<(), StatisticsError> {
    match values.iter().position(|value| !value.is_finite()) {
        Some(at) => Err(StatisticsError::NotFinite { what, at, value: values[at] }),
        None => Ok(()),
    }
}

/// From 0 to 1, both included.
pub(super) fn share(what: &'static str, value: f64) -> Result<f64, StatisticsError> {
    in_range(what, value, (0.0..=1.0).contains(&value), "from 0 to 1")
}

/// Between 0 and 1, neither included.
pub(super) fn inner_share(what: &'static str, value: f64) -> Result<f64, StatisticsError> {
    in_range(what, value, value > 0.0 && value < 1.0, "between 0 and 1")
}

/// Finite and not below 0.
pub(super) fn not_negative(what: &'static str, value: f64) -> Result<f64, StatisticsError> {
    in_range(what, value, value >= 0.0 && value.is_finite(), "finite and at least 0")
}

/// Finite and above 0.
pub(super) fn positive(what: &'static str, value: f64) -> Result<f64, StatisticsError> {
    in_range(what, value, value > 0.0 && value.is_finite(), "finite and above 0")
}

fn in_range(what: &'static str, value: f64, is_in: bool, range: &'static str) -> Result<f64, StatisticsError> {
    if is_in { Ok(value) } else { Err(StatisticsError::OutOfRange { what, value, range }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nan_and_the_wrong_side_of_a_limit_are_refused() {
        assert!(share("rate", 0.0).is_ok() && share("rate", 1.0).is_ok());
        assert!(inner_share("power", 0.0).is_err() && inner_share("power", 1.0).is_err());
        assert!(not_negative("cost", 0.0).is_ok() && positive("budget", 0.0).is_err());
        for value in [f64::NAN, f64::INFINITY, -0.1] {
            assert!(share("rate", value).is_err() && inner_share("power", value).is_err());
            assert!(not_negative("cost", value).is_err() && positive("budget", value).is_err());
        }
        let error = finite("scores", &[1.0, f64::NEG_INFINITY]).unwrap_err();
        assert_eq!(error.to_string(), "number 1 of the scores is -inf, which is not finite");
        assert_eq!(share("rate", 1.5).unwrap_err().to_string(), "the rate is 1.5, but must be from 0 to 1");
    }
}
