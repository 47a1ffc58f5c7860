use std::{num::NonZeroU32, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    llm::http::{VARIABLE_FORM, check_url, is_key_variable},
    messages::RewardSource,
    runtime::{SettingKey, SettingsError},
};

/// Whether a model that judges is shown what the tests said of the two programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Tests {
    /// It sees the programs alone: its reward is not that of the tests once more.
    None,
    /// It sees how many tests each passes, and the verdict.
    Shown,
}

/// Limit of one request where the settings say nothing, in seconds.
const TIMEOUT_SECS: u32 = 60;

/// Settings of the critic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Settings {
    pub(super) reward: RewardSource,
    /// For `judge`.
    #[serde(skip_serializing_if = "Option::is_none")]
    tests: Option<Tests>,
    /// For `endpoint`, which cannot be without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    endpoint: Option<String>,
    /// For `endpoint`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) endpoint_env: Option<String>,
    /// For `endpoint`.
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout_secs: Option<NonZeroU32>,
}

impl Default for Settings {
    fn default() -> Self {
        let reward = RewardSource::Execution;
        Self { reward, tests: None, endpoint: None, endpoint_env: None, timeout_secs: None }
    }
}

/// Whether a critic of these settings asks an endpoint, whose answers are not replayed.
pub fn asks_endpoint(settings: &Map<String, Value>) -> bool {
    settings
        .get("reward")
        .is_some_and(|reward| Some(reward) == serde_json::to_value(RewardSource::Endpoint).ok().as_ref())
}

/// Keys of [`Settings`].
pub(super) const KEYS: &[SettingKey] = &[
    SettingKey {
        name: "reward",
        help: "\"execution\" (the order of verdicts), \"agreement\" (how many programs of those received together pass the same tests; wants `gather`), \"judge\" (a model compares with the best so far) or \"endpoint\"",
    },
    SettingKey {
        name: "tests",
        help: "for \"judge\": \"none\" or \"shown\": whether the model is shown how many tests each program passes; \"none\" where absent",
    },
    SettingKey { name: "endpoint", help: "for \"endpoint\": its URL" },
    SettingKey {
        name: "endpoint_env",
        help: "for \"endpoint\": name of the variable that holds its bearer token; no token is sent where absent",
    },
    SettingKey {
        name: "timeout_secs",
        help: "for \"endpoint\": limit of one request in seconds, a number from 1; 60 where absent",
    },
];

impl Settings {
    /// What a judge is shown.
    pub(super) fn tests(&self) -> Tests {
        self.tests.unwrap_or(Tests::None)
    }

    /// Where the endpoint is; empty where nobody said so, which [`Settings::mistakes`] refuses.
    pub(super) fn url(&self) -> &str {
        self.endpoint.as_deref().unwrap_or_default()
    }

    /// Limit of one request to the endpoint.
    pub(super) fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout_secs.map_or(TIMEOUT_SECS, NonZeroU32::get).into())
    }

    /// Values that make no sense together.
    pub(super) fn mistakes(&self) -> Vec<SettingsError> {
        let mut mistakes = Vec::new();
        let mut mistake = |key, reason: &str| mistakes.push(SettingsError { key, reason: reason.to_owned() });
        if self.reward == RewardSource::Endpoint {
            match &self.endpoint {
                None => mistake("endpoint", "must be a URL where `reward` is \"endpoint\""),
                Some(url) => drop(check_url(url).map_err(|reason| mistake("endpoint", &reason))),
            }
            // Whoever pastes the token in place of its variable's name is told so without it.
            if self.endpoint_env.as_deref().is_some_and(|name| !is_key_variable(name)) {
                mistake("endpoint_env", &format!("must be {VARIABLE_FORM}, never the token itself"));
            }
        } else {
            let useless = "has no use: `reward` is not \"endpoint\"";
            for (key, is_set) in [
                ("endpoint", self.endpoint.is_some()),
                ("endpoint_env", self.endpoint_env.is_some()),
                ("timeout_secs", self.timeout_secs.is_some()),
            ] {
                if is_set {
                    mistake(key, useless);
                }
            }
        }
        if self.reward != RewardSource::Judge && self.tests.is_some() {
            mistake("tests", "has no use: `reward` is not \"judge\"");
        }
        mistakes
    }
}
