use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// How far below the best of a case a score still passes it: a number from 0, or the word `"mad"`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Epsilon {
    /// This much, in every case.
    Fixed(f64),
    /// In each case, the median absolute deviation of the scores of all candidates in it.
    #[default]
    MedianAbsoluteDeviation,
}

impl Serialize for Epsilon {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Fixed(number) => serializer.serialize_f64(*number),
            Self::MedianAbsoluteDeviation => serializer.serialize_str("mad"),
        }
    }
}

impl<'de> Deserialize<'de> for Epsilon {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(EpsilonVisitor)
    }
}

struct EpsilonVisitor;

impl de::Visitor<'_> for EpsilonVisitor {
    type Value = Epsilon;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number from 0 or the word \"mad\"")
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Epsilon, E> {
        if number >= 0.0 && number.is_finite() {
            Ok(Epsilon::Fixed(number))
        } else {
            Err(E::invalid_value(de::Unexpected::Float(number), &self))
        }
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Epsilon, E> {
        self.visit_f64(number as f64)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Epsilon, E> {
        self.visit_f64(number as f64)
    }

    fn visit_str<E: de::Error>(self, word: &str) -> Result<Epsilon, E> {
        match word {
            "mad" => Ok(Epsilon::MedianAbsoluteDeviation),
            other => Err(E::invalid_value(de::Unexpected::Str(other), &self)),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Epsilon;

    #[test]
    fn a_number_from_0_or_a_word() {
        let read = |value| serde_json::from_value::<Epsilon>(value).map_err(|error| error.to_string());
        assert_eq!(read(json!(0)), Ok(Epsilon::Fixed(0.0)));
        assert_eq!(read(json!(0.25)), Ok(Epsilon::Fixed(0.25)));
        assert_eq!(read(json!("mad")), Ok(Epsilon::MedianAbsoluteDeviation));
        for wrong in [json!(-1), json!(-0.5), json!("median"), json!(true), json!([])] {
            assert!(read(wrong).unwrap_err().contains("expected a number from 0 or the word \"mad\""));
        }
        for epsilon in [Epsilon::Fixed(0.5), Epsilon::MedianAbsoluteDeviation] {
            assert_eq!(read(serde_json::to_value(epsilon).unwrap()), Ok(epsilon));
        }
    }
}
