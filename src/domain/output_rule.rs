use std::hash::{Hash, Hasher};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// How the output of a stdin/stdout test is compared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OutputRule {
    /// Tokens per line, line ends trimmed, final empty lines ignored.
    #[default]
    Tokens,
    /// Byte for byte.
    Exact,
    /// As `Tokens`, but two numbers are equal when they are near each other.
    Tolerance(Tolerance),
    /// This Python text decides, by its function `check(stdin, stdout)`.
    Checker(Arc<str>),
}

impl OutputRule {
    /// The word of task files and records.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Tokens => "tokens",
            Self::Exact => "exact",
            Self::Tolerance(_) => "tolerance",
            Self::Checker(_) => "checker",
        }
    }
}

/// How far a number may lie from the expected one: by this much, or by this share of it. At least 0 and below 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Tolerance(f64);

impl Tolerance {
    /// `None` where `value` is none.
    pub fn new(value: f64) -> Option<Self> {
        // The sign of a zero is dropped, so that equal tolerances have equal bits.
        (0.0..1.0).contains(&value).then_some(Self(value.abs()))
    }

    /// Whether `actual` is near enough to `expected`; both must be finite.
    pub fn covers(self, actual: f64, expected: f64) -> bool {
        // Never "not too far": a difference that is no number is not near.
        (actual - expected).abs() <= self.0 * expected.abs().max(1.0)
    }
}

// It is never NaN.
impl Eq for Tolerance {}

impl Hash for Tolerance {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

impl From<Tolerance> for f64 {
    fn from(tolerance: Tolerance) -> Self {
        tolerance.0
    }
}

impl TryFrom<f64> for Tolerance {
    type Error = String;

    fn try_from(value: f64) -> Result<Self, Self::Error> {
        Self::new(value).ok_or_else(|| format!("a tolerance is at least 0 and below 1, not {value}"))
    }
}

#[cfg(test)]
mod tests {
    use super::{OutputRule, Tolerance};

    #[test]
    fn e11_what_cannot_be_subtracted_is_not_near() {
        let tolerance = Tolerance::new(0.9).unwrap();
        assert!(tolerance.covers(1.9, 1.0) && tolerance.covers(0.9, 0.0) && tolerance.covers(19.0, 10.0));
        assert!(!tolerance.covers(1.95, 1.0) && !tolerance.covers(0.95, 0.0) && !tolerance.covers(19.5, 10.0));
        assert!(!tolerance.covers(f64::NAN, 1.0) && !tolerance.covers(1.0, f64::NAN));
        assert!(!tolerance.covers(-1.7e308, 1.7e308));
    }

    #[test]
    fn rules_are_written_by_their_words_and_read_back() {
        for (rule, text) in [
            (OutputRule::Tokens, r#""tokens""#),
            (OutputRule::Exact, r#""exact""#),
            (OutputRule::Tolerance(Tolerance::new(0.5).unwrap()), r#"{"tolerance":0.5}"#),
            (OutputRule::Checker("x".into()), r#"{"checker":"x"}"#),
        ] {
            assert_eq!(serde_json::to_string(&rule).unwrap(), text);
            assert_eq!(serde_json::from_str::<OutputRule>(text).unwrap(), rule);
            assert!(text.contains(rule.name()));
        }
        for wrong in [1.0, -0.1, f64::NAN, f64::INFINITY] {
            assert_eq!(Tolerance::new(wrong), None, "{wrong}");
        }
        assert!(serde_json::from_str::<OutputRule>(r#"{"tolerance":2.0}"#).is_err());
    }
}
