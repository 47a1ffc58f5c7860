//! The settings that every role has which shows what tests said: one set of keys beside the role's own.

use std::marker::PhantomData;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::DeserializeOwned, de::Error as _, ser::Error as _};
use serde_json::{Map, Value};

use crate::{
    prompts::{ExecutionFeedback, ReportForm, ShownTests},
    runtime::{SettingKey, SettingsError},
};

/// Keys of [`ExecutionFeedback`].
pub(super) const KEYS: [SettingKey; 8] = [
    SettingKey {
        name: "tests",
        help: "failing tests that a prompt shows: \"none\", \"worst\", \"first\", or \"all\" that fit `test_tokens`",
    },
    SettingKey {
        name: "test_tokens",
        help: "with `tests = \"all\"`: tokens of the tests shown, 4 bytes each; a number from 1; one test is always shown",
    },
    SettingKey { name: "compile_output", help: "whether a prompt shows what the compiler or parser said" },
    SettingKey {
        name: "localisation",
        help: "most suspicious lines that a prompt shows: a number; needs a language with profiles",
    },
    SettingKey {
        name: "values",
        help: "whether a prompt shows values of variables at the failing line; needs a language with profiles",
    },
    SettingKey {
        name: "report",
        help: "\"structured\", or \"raw\": output and messages as one text in place of the tests",
    },
    SettingKey {
        name: "statement",
        help: "whether a prompt shows the task's statement, or a sentence that fits every task",
    },
    SettingKey {
        name: "history",
        help: "earlier attempts that a prompt shows: \"none\", \"last:N\" or \"all\" that led to the program",
    },
];

/// The keys of a role that shows what tests said: its own, then [`KEYS`].
pub(super) const fn keys<const OWN: usize, const ALL: usize>(own: [SettingKey; OWN]) -> [SettingKey; ALL] {
    assert!(ALL == OWN + KEYS.len());
    let mut all = [KEYS[0]; ALL];
    let mut at = 0;
    while at < ALL {
        all[at] = if at < OWN { own[at] } else { KEYS[at - OWN] };
        at += 1;
    }
    all
}

/// What `tests` is where nothing is said.
pub(super) trait DefaultTests {
    /// It.
    const TESTS: ShownTests;
}

/// All failing tests that fit.
#[derive(Clone, Debug)]
pub(super) struct All;

/// The first failing test.
#[derive(Clone, Debug)]
pub(super) struct First;

/// The failing test with the lowest score.
#[derive(Clone, Debug)]
pub(super) struct Worst;

impl DefaultTests for All {
    const TESTS: ShownTests = ShownTests::All;
}

impl DefaultTests for First {
    const TESTS: ShownTests = ShownTests::First;
}

impl DefaultTests for Worst {
    const TESTS: ShownTests = ShownTests::Worst;
}

/// Settings of a role that shows what tests said. In a file its own keys and those of the feedback stand side by side.
#[derive(Clone, Debug)]
pub(super) struct WithFeedback<S, D> {
    /// The role's own.
    pub(super) own: S,
    /// What its prompts show.
    pub(super) feedback: ExecutionFeedback,
    default: PhantomData<D>,
}

impl<S, D: DefaultTests> WithFeedback<S, D> {
    fn new(own: S, feedback: ExecutionFeedback) -> Self {
        Self { own, feedback, default: PhantomData }
    }

    fn default_feedback() -> ExecutionFeedback {
        ExecutionFeedback { tests: D::TESTS, ..ExecutionFeedback::default() }
    }

    /// What is wrong with the feedback as a whole.
    pub(super) fn check_feedback(&self) -> Vec<SettingsError> {
        let feedback = &self.feedback;
        let mut errors = Vec::new();
        if feedback.report == ReportForm::Raw && feedback.tests == ShownTests::None {
            let reason = "is \"raw\", which stands in place of the tests, and `tests` is \"none\"".to_owned();
            errors.push(SettingsError { key: "report", reason });
        }
        if feedback.test_tokens != ExecutionFeedback::default().test_tokens && feedback.tests != ShownTests::All {
            let reason = "has no use: only `tests = \"all\"` shows as many tests as fit".to_owned();
            errors.push(SettingsError { key: "test_tokens", reason });
        }
        errors
    }
}

impl<S: Default, D: DefaultTests> Default for WithFeedback<S, D> {
    fn default() -> Self {
        Self::new(S::default(), Self::default_feedback())
    }
}

fn fields(settings: &impl Serialize) -> Result<Map<String, Value>, String> {
    match serde_json::to_value(settings) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(other) => Err(format!("settings are a table, not {other}")),
        Err(error) => Err(error.to_string()),
    }
}

impl<S: Serialize, D> Serialize for WithFeedback<S, D> {
    fn serialize<Ser: Serializer>(&self, serializer: Ser) -> Result<Ser::Ok, Ser::Error> {
        let mut all = fields(&self.own).map_err(Ser::Error::custom)?;
        all.extend(fields(&self.feedback).map_err(Ser::Error::custom)?);
        all.serialize(serializer)
    }
}

impl<'de, S: DeserializeOwned, D: DefaultTests> Deserialize<'de> for WithFeedback<S, D> {
    fn deserialize<De: Deserializer<'de>>(deserializer: De) -> Result<Self, De::Error> {
        let given = Map::<String, Value>::deserialize(deserializer)?;
        let is_shared = |key: &String| KEYS.iter().any(|known| known.name == key);
        let (shared, own): (Map<_, _>, Map<_, _>) = given.into_iter().partition(|(key, _)| is_shared(key));
        let mut feedback = fields(&Self::default_feedback()).map_err(De::Error::custom)?;
        feedback.extend(shared);
        let own = serde_json::from_value(Value::Object(own)).map_err(De::Error::custom)?;
        let feedback = serde_json::from_value(Value::Object(feedback)).map_err(De::Error::custom)?;
        Ok(Self::new(own, feedback))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{First, KEYS, WithFeedback};
    use crate::{agents::ROLES, agents::diagnosing::Settings, prompts::ShownTests};

    fn read(settings: Value) -> Result<WithFeedback<Settings, First>, String> {
        serde_json::from_value(settings).map_err(|error| error.to_string())
    }

    #[test]
    fn keys_of_both_parts_stand_side_by_side() {
        let settings = read(json!({"diagnoses": 3, "localisation": 2})).unwrap();
        assert_eq!((settings.own.diagnoses.get(), settings.feedback.localisation), (3, 2));
        assert_eq!(settings.feedback.tests, ShownTests::First, "the role's own default");
        let written = serde_json::to_value(&settings).unwrap();
        assert_eq!((&written["diagnoses"], &written["localisation"]), (&json!(3), &json!(2)));
        assert_eq!(serde_json::to_value(read(written.clone()).unwrap()).unwrap(), written);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (settings, said) in [
            (json!({"tests": "some"}), "unknown variant `some`, expected one of `none`, `worst`, `first`, `all`"),
            (json!({"test_tokens": 0}), "expected a nonzero u32"),
            (json!({"compile_output": "yes"}), "expected a boolean"),
            (json!({"localisation": -1}), "expected u32"),
            (json!({"report": "cooked"}), "expected `structured` or `raw`"),
            (json!({"history": "last:0"}), "with a whole number N from 1"),
            (json!({"test_token": 1}), "unknown field `test_token`"),
        ] {
            let error = read(settings.clone()).unwrap_err();
            assert!(error.contains(said), "{settings}: {error}");
        }
        let raw = read(json!({"report": "raw", "tests": "none"})).unwrap();
        assert_eq!(raw.check_feedback()[0].key, "report");
        assert!(read(json!({"report": "raw"})).unwrap().check_feedback().is_empty());
        let limited = read(json!({"test_tokens": 50})).unwrap();
        assert_eq!(limited.check_feedback()[0].key, "test_tokens");
        assert!(read(json!({"test_tokens": 50, "tests": "all"})).unwrap().check_feedback().is_empty());
    }

    #[test]
    fn every_role_that_diagnoses_or_repairs_has_all_keys_and_its_own_default() {
        for (role, tests) in [("instructor", "worst"), ("teacher", "first"), ("debugger", "all"), ("learner", "all")] {
            let entry = ROLES.iter().find(|entry| entry.spec.name == role).unwrap();
            let defaults = entry.default_settings();
            assert_eq!(defaults["tests"], json!(tests), "{role}");
            for key in KEYS {
                assert!(entry.spec.settings.contains(&key) && defaults.contains_key(key.name), "{role}: {}", key.name);
            }
            assert_eq!(defaults.len(), entry.spec.settings.len(), "{role}");
        }
    }
}
