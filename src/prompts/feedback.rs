use std::{fmt, num::NonZeroU32};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// What a prompt shows of what the tests said of a program, and of the attempts before it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ExecutionFeedback {
    /// Which failing tests.
    pub tests: ShownTests,
    /// With [`ShownTests::All`]: how many tokens they may take, at 4 bytes a token. At least one test is shown.
    pub test_tokens: NonZeroU32,
    /// Whether the output of the compiler or parser is shown.
    pub compile_output: bool,
    /// How many of the most suspicious lines.
    pub localisation: u32,
    /// Whether values of variables at the failing line are shown.
    pub values: bool,
    /// In which form.
    pub report: ReportForm,
    /// Whether the statement of the task is shown; else a sentence that fits every task stands in its place.
    pub statement: bool,
    /// Which earlier attempts.
    pub history: Remembered,
}

impl Default for ExecutionFeedback {
    fn default() -> Self {
        Self {
            tests: ShownTests::All,
            test_tokens: NonZeroU32::MIN.saturating_add(999),
            compile_output: true,
            localisation: 0,
            values: false,
            report: ReportForm::Structured,
            statement: true,
            history: Remembered::None,
        }
    }
}

impl ExecutionFeedback {
    /// Whether nothing that the tests said is shown, not even how many passed.
    pub fn is_hidden(&self) -> bool {
        self.tests == ShownTests::None && !self.compile_output && !self.needs_profile()
    }

    /// Whether it shows what only a profile of the program knows.
    pub fn needs_profile(&self) -> bool {
        self.localisation > 0 || self.values
    }
}

/// Which failing tests a prompt shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ShownTests {
    /// None.
    None,
    /// The one with the lowest score, the first of these.
    Worst,
    /// The first.
    First,
    /// All that fit.
    All,
}

/// In which form a prompt shows what the tests said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReportForm {
    /// Test by test: the test, what should have come, what came.
    Structured,
    /// As one text, as a terminal would have shown it.
    Raw,
}

/// Which of the attempts that led to a program a prompt shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remembered {
    /// None.
    None,
    /// The last ones before it.
    Last(NonZeroU32),
    /// All.
    All,
}

impl Remembered {
    /// How many, at most.
    pub fn most(self) -> usize {
        match self {
            Self::None => 0,
            Self::Last(number) => usize::try_from(number.get()).unwrap_or(usize::MAX),
            Self::All => usize::MAX,
        }
    }
}

impl fmt::Display for Remembered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Last(number) => write!(f, "last:{number}"),
            Self::All => f.write_str("all"),
        }
    }
}

impl Serialize for Remembered {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Remembered {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(RememberedVisitor)
    }
}

struct RememberedVisitor;

impl de::Visitor<'_> for RememberedVisitor {
    type Value = Remembered;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"none\", \"all\" or \"last:N\" with a whole number N from 1")
    }

    fn visit_str<E: de::Error>(self, word: &str) -> Result<Remembered, E> {
        let last = || word.strip_prefix("last:").and_then(|number| number.parse().ok()).map(Remembered::Last);
        match word {
            "none" => Ok(Remembered::None),
            "all" => Ok(Remembered::All),
            other => last().ok_or_else(|| E::invalid_value(de::Unexpected::Str(other), &self)),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{ExecutionFeedback, Remembered};

    #[test]
    fn what_is_remembered_is_a_word() {
        let read = |word: &str| serde_json::from_value::<Remembered>(json!(word)).map_err(|error| error.to_string());
        for word in ["none", "all", "last:1", "last:12"] {
            assert_eq!(serde_json::to_value(read(word).unwrap()).unwrap(), json!(word));
        }
        for wrong in ["", "last", "last:", "last:0", "last:-1", "last:two", "Last:1", "last: 1"] {
            let said = read(wrong).unwrap_err();
            assert!(said.contains("\"none\", \"all\" or \"last:N\""), "{wrong}: {said}");
        }
        assert!(serde_json::from_value::<Remembered>(json!(2)).is_err());
    }

    #[test]
    fn nothing_is_shown_only_where_nothing_is_asked_for() {
        let with = |settings: Value| serde_json::from_value::<ExecutionFeedback>(settings).unwrap().is_hidden();
        assert!(with(json!({"tests": "none", "compile_output": false})));
        assert!(with(json!({"tests": "none", "compile_output": false, "history": "all", "statement": false})));
        for settings in [
            json!({}),
            json!({"tests": "none"}),
            json!({"compile_output": false}),
            json!({"tests": "none", "compile_output": false, "localisation": 1}),
            json!({"tests": "none", "compile_output": false, "values": true}),
        ] {
            assert!(!with(settings.clone()), "{settings}");
        }
    }
}
