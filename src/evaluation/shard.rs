//! A part of a run, for running it in several places.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// One of equal parts of a run: every conversation whose place in the run, counted from 0, leaves `number - 1` when divided by
/// `of`. So parts differ by at most one conversation, and the samples of a task go to different parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Shard {
    number: u32,
    of: u32,
}

/// Why a text names no part of a run.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ShardError {
    /// It is not `I/N`.
    #[error("`{0}` is no part of a run; write I/N, as 2/3 for the second of three")]
    Form(String),
    /// There are no parts.
    #[error("`{0}` divides a run into no parts; N is at least 1")]
    Nothing(String),
    /// The part is not among the parts.
    #[error("`{text}`: the parts are 1/{of} to {of}/{of}")]
    Outside {
        /// What was given.
        text: String,
        /// How many parts there are.
        of: u32,
    },
}

impl Shard {
    /// Which part, from 1.
    pub fn number(self) -> u32 {
        self.number
    }

    /// How many parts there are.
    pub fn of(self) -> u32 {
        self.of
    }

    /// Whether the conversation at this place of the run belongs to it.
    pub fn has(self, place: usize) -> bool {
        place % self.of as usize == self.number as usize - 1
    }

    /// How many of the first `places` places of a run belong to it.
    pub fn share(self, places: usize) -> usize {
        (places + (self.of - self.number) as usize) / self.of as usize
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

impl FromStr for Shard {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Self, ShardError> {
        // Of the numbers that Rust reads, `+1` is none that a script means to write.
        let number = |digits: &str| digits.parse().ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()));
        let numbers = text.split_once('/').and_then(|(number_, of)| Some((number(number_)?, number(of)?)));
        let (number, of) = numbers.ok_or_else(|| ShardError::Form(text.to_owned()))?;
        if of == 0 {
            return Err(ShardError::Nothing(text.to_owned()));
        }
        if !(1..=of).contains(&number) {
            return Err(ShardError::Outside { text: text.to_owned(), of });
        }
        Ok(Self { number, of })
    }
}

impl TryFrom<String> for Shard {
    type Error = ShardError;

    fn try_from(text: String) -> Result<Self, ShardError> {
        text.parse()
    }
}

impl From<Shard> for String {
    fn from(shard: Shard) -> Self {
        shard.to_string()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Shard, ShardError};

    fn shards(of: u32) -> Vec<Shard> {
        (1..=of).map(|number| format!("{number}/{of}").parse().unwrap()).collect()
    }

    #[test]
    fn a_part_is_a_number_of_a_number() {
        let shard: Shard = "2/3".parse().unwrap();
        assert_eq!((shard.number(), shard.of(), shard.to_string().as_str()), (2, 3, "2/3"));
        for text in ["", "2", "/", "2/", "/3", "a/3", "2/b", "-1/3", "+1/3", "1.0/3", " 1/3", "1/3/3", "1/99999999999"]
        {
            assert_eq!(text.parse::<Shard>(), Err(ShardError::Form(text.to_owned())), "{text}");
        }
        for (text, words) in [
            ("1/0", "`1/0` divides a run into no parts; N is at least 1"),
            ("0/0", "`0/0` divides a run into no parts; N is at least 1"),
            ("0/3", "`0/3`: the parts are 1/3 to 3/3"),
            ("4/3", "`4/3`: the parts are 1/3 to 3/3"),
        ] {
            assert_eq!(text.parse::<Shard>().unwrap_err().to_string(), words);
        }
        assert!(serde_json::from_str::<Shard>("\"4/3\"").is_err());
        assert_eq!(serde_json::to_string(&shard).unwrap(), "\"2/3\"");
    }

    proptest! {
        #[test]
        fn every_place_is_in_one_part_and_the_parts_are_balanced(places in 0usize..200, of in 1u32..=7) {
            let shards = shards(of);
            for place in 0..places {
                prop_assert_eq!(shards.iter().filter(|shard| shard.has(place)).count(), 1);
            }
            let shares: Vec<usize> = shards.iter().map(|shard| shard.share(places)).collect();
            for (shard, share) in shards.iter().zip(&shares) {
                prop_assert_eq!((0..places).filter(|place| shard.has(*place)).count(), *share);
            }
            prop_assert!(shares.iter().max().unwrap() - shares.iter().min().unwrap() <= 1);
        }
    }
}
