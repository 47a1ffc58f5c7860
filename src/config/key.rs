//! The keys that a configuration file may hold: where each stands, what it takes, what it means.

use serde_json::Value;

use super::{Content, Item, Mistake};
use crate::llm::{SCHEMA_FORM, STOP_FORM, is_answer_schema, may_cut_a_word};

/// The type of a key's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Form {
    /// A string that is not empty.
    Text,
    /// A string that is not empty, or an array of at least one.
    TextOrTexts,
    /// An array of strings that no server can cut a word with.
    Stops,
    /// An array of whole numbers from 1 to `most`.
    Wholes {
        /// The largest.
        most: u64,
    },
    /// A whole number from `least` to `most`.
    Whole {
        /// The smallest.
        least: u64,
        /// The largest.
        most: u64,
    },
    /// A whole number from `least` to `most`, or one word.
    WholeOr {
        /// The smallest.
        least: u64,
        /// The largest.
        most: u64,
        /// The word.
        word: &'static str,
    },
    /// A number from `least` to `most`.
    Number {
        /// The smallest.
        least: f64,
        /// The largest.
        most: f64,
    },
    /// A number from 0, or an array of at least one.
    NumberOrNumbers,
    /// A number from 0, or one word.
    NumberOr {
        /// The word.
        word: &'static str,
    },
    /// A JSON schema, as text, of an object with a string `answer`.
    AnswerSchema,
    /// `true` or `false`.
    Flag,
    /// One of these words.
    Choice(&'static [&'static str]),
}

impl Form {
    /// Largest value of counters that are held in 32 bits.
    pub const SMALL: u64 = u32::MAX as u64 - 1;

    /// A number from 0.
    pub const POSITIVE: Self = Self::Number { least: 0.0, most: f64::MAX };

    /// Whether the value is an array whose elements are looked at one by one.
    fn is_list(self) -> bool {
        matches!(self, Self::TextOrTexts | Self::Stops | Self::Wholes { .. } | Self::NumberOrNumbers)
    }

    /// Whether `value` is of this form.
    pub fn accepts(self, value: &Value) -> bool {
        let whole = |least, most| value.as_u64().is_some_and(|number| (least..=most).contains(&number));
        let number = |least, most| value.as_f64().is_some_and(|number| (least..=most).contains(&number));
        match self {
            Self::Text => value.as_str().is_some_and(|text| !text.trim().is_empty()),
            Self::TextOrTexts => match value.as_array() {
                Some(items) => !items.is_empty() && items.iter().all(|item| Self::Text.accepts(item)),
                None => Self::Text.accepts(value),
            },
            Self::Stops => value.as_array().is_some_and(|items| items.iter().all(is_stop)),
            Self::Wholes { most } => value.as_array().is_some_and(|items| {
                items.iter().all(|item| item.as_u64().is_some_and(|number| (1..=most).contains(&number)))
            }),
            Self::Whole { least, most } => whole(least, most),
            Self::WholeOr { least, most, word } => whole(least, most) || value.as_str() == Some(word),
            Self::Number { least, most } => number(least, most),
            Self::NumberOr { word } => number(0.0, f64::MAX) || value.as_str() == Some(word),
            Self::NumberOrNumbers => match value.as_array() {
                Some(items) => !items.is_empty() && items.iter().all(|item| Self::POSITIVE.accepts(item)),
                None => number(0.0, f64::MAX),
            },
            Self::AnswerSchema => value.as_str().is_some_and(is_answer_schema),
            Self::Flag => value.is_boolean(),
            Self::Choice(words) => value.as_str().is_some_and(|text| words.contains(&text)),
        }
    }

    /// What is accepted, in words.
    pub fn words(self) -> String {
        let whole = |least: u64, most: u64| match most < i64::MAX as u64 {
            true => format!("a whole number from {least} to {most}"),
            false => format!("a whole number from {least}"),
        };
        match self {
            Self::Text => "a string that is not empty".to_owned(),
            Self::TextOrTexts => "a string that is not empty, or an array of them".to_owned(),
            Self::Stops => format!("an array, each element {STOP_FORM}"),
            Self::Wholes { .. } => "an array of whole numbers from 1".to_owned(),
            Self::Whole { least, most } => whole(least, most),
            Self::WholeOr { least, most, word } => format!("{} or \"{word}\"", whole(least, most)),
            Self::Number { least, most } if most == f64::MAX => format!("a number from {least}"),
            Self::Number { least, most } => format!("a number from {least} to {most}"),
            Self::NumberOrNumbers => "a number from 0, or an array of them".to_owned(),
            Self::AnswerSchema => SCHEMA_FORM.to_owned(),
            Self::Flag => "true or false".to_owned(),
            Self::NumberOr { word } => format!("a number from 0 or \"{word}\""),
            Self::Choice(words) => {
                let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
                match quoted.split_last() {
                    Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
                    _ => quoted.concat(),
                }
            }
        }
    }
}

/// Whether an element of an array is a stop string that cannot cut a word.
fn is_stop(item: &Value) -> bool {
    item.as_str().is_some_and(|stop| !may_cut_a_word(stop))
}

/// A key that holds one value.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its path: `budget.programs`; for keys of actors, below `actors.NAME`.
    pub path: &'static str,
    /// The type of its value.
    pub form: Form,
    /// Its value where nothing says otherwise; `None` where it has none.
    pub default: Option<fn() -> Value>,
    /// What it means.
    pub help: &'static str,
}

impl Key {
    /// The value of this key. `shown` is its path in messages.
    ///
    /// # Errors
    /// Where it is of another form; the mistake stands at the element of an array that is wrong.
    pub fn read(&self, item: &Item, shown: &str) -> Result<Value, Mistake> {
        match item.value(shown) {
            Ok(value) if self.form.accepts(&value) => Ok(value),
            _ => Err(culprit(item, self.form).must_be(shown, &self.form.words()).hint(self.help)),
        }
    }
}

/// The element of an array that is wrong by itself, else the value.
fn culprit(item: &Item, form: Form) -> &Item {
    let Content::Array(items) = &item.content else { return item };
    let alone = |item: &Item| match &item.content {
        Content::Scalar(value) => form.accepts(&Value::Array(vec![value.clone()])),
        _ => false,
    };
    let wrong = form.is_list().then(|| items.iter().find(|item| !alone(item))).flatten();
    wrong.unwrap_or(item)
}

/// The key of `keys` with this path.
pub fn find_key(keys: &'static [Key], path: &str) -> Option<&'static Key> {
    keys.iter().find(|key| key.path == path)
}

/// The names directly below `section` (empty for the top): keys and tables, each once.
pub fn names_below(keys: &'static [Key], section: &str) -> Vec<&'static str> {
    let mut names: Vec<&str> = Vec::new();
    for key in keys {
        let below = match section {
            "" => Some(key.path),
            section => key.path.strip_prefix(section).and_then(|rest| rest.strip_prefix('.')),
        };
        let Some(name) = below.and_then(|below| below.split('.').next()) else { continue };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Whether `path` is a table of `keys`: at the top, or in another.
pub fn is_section(keys: &'static [Key], path: &str) -> bool {
    keys.iter().any(|key| key.path.strip_prefix(path).is_some_and(|rest| rest.starts_with('.')))
}
