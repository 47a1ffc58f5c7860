use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// How many programs a writing turn wants to write: a positive number, or the word `"budget"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Slots {
    /// This many in one turn.
    Fixed(u32),
    /// One a turn, turn after turn, while the program budget lasts.
    Budget,
}

impl Serialize for Slots {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Fixed(number) => serializer.serialize_u32(*number),
            Self::Budget => serializer.serialize_str("budget"),
        }
    }
}

impl<'de> Deserialize<'de> for Slots {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SlotsVisitor)
    }
}

struct SlotsVisitor;

impl de::Visitor<'_> for SlotsVisitor {
    type Value = Slots;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number from 1 or the word \"budget\"")
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Slots, E> {
        match u32::try_from(number) {
            Ok(number @ 1..) => Ok(Slots::Fixed(number)),
            _ => Err(E::invalid_value(de::Unexpected::Unsigned(number), &self)),
        }
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Slots, E> {
        match u64::try_from(number) {
            Ok(number) => self.visit_u64(number),
            Err(_) => Err(E::invalid_value(de::Unexpected::Signed(number), &self)),
        }
    }

    fn visit_str<E: de::Error>(self, word: &str) -> Result<Slots, E> {
        match word {
            "budget" => Ok(Slots::Budget),
            other => Err(E::invalid_value(de::Unexpected::Str(other), &self)),
        }
    }
}

/// What becomes of a beam when its children are judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Children {
    /// Children replace their parents.
    #[default]
    Replace,
    /// Children compete with their parents for the beam.
    Compete,
}
