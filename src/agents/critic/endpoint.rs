//! A reward model behind an HTTP endpoint. `docs/critic.md` has the JSON.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{role::Opinion, settings::Settings};
use crate::{
    domain::{Task, shorten},
    llm::http::{ApiKey, JsonServer, JsonServerSettings},
    messages::ExecutionReport,
    runtime::{Fault, Post, SettingsError, Turn},
};

/// Version of the JSON that is posted.
const VERSION: u32 = 1;

/// Wait before the first retry, in seconds.
const BACKOFF_SECS: f64 = 0.5;

/// How much of a comment is kept, in characters.
const MAX_COMMENT_CHARS: usize = 2_000;

/// The endpoint that a critic asks.
pub(super) struct Endpoint(JsonServer);

impl Endpoint {
    /// The endpoint of these settings, with the token that the environment holds under the name that they give.
    pub(super) fn new(settings: &Settings) -> Result<Self, SettingsError> {
        let token = match &settings.endpoint_env {
            None => String::new(),
            Some(name) => {
                let value = std::env::var_os(name).map(|value| value.to_string_lossy().trim().to_owned());
                value.filter(|value| !value.is_empty()).ok_or_else(|| SettingsError {
                    key: "endpoint_env",
                    reason: format!("names the environment variable {name}, which is not set"),
                })?
            }
        };
        let server = JsonServer::new(&JsonServerSettings {
            url: settings.url().to_owned(),
            token: ApiKey::new(token),
            timeout: settings.timeout(),
            backoff_secs: BACKOFF_SECS,
        });
        server.map(Self).map_err(|reason| SettingsError { key: "endpoint", reason })
    }

    /// Asks for the reward of each program. A reply without a program is not sent: it is unscored.
    pub(super) async fn ask_all(&self, inbox: &[Arc<ExecutionReport>], turn: &Turn) -> Result<Vec<Opinion>, Fault> {
        let mut opinions = Vec::new();
        for report in inbox {
            opinions.push(match request(turn.task(), report) {
                Some(body) => self.ask(&body, turn).await?,
                None => Opinion::unscored("the reply held no program"),
            });
        }
        Ok(opinions)
    }

    async fn ask(&self, body: &Value, turn: &Turn) -> Result<Opinion, Fault> {
        let check = |answer: &Value| reward(answer).map(drop);
        let answer = turn.post(Post { what: "reward", server: &self.0, body, check }).await?;
        let comment = answer.get("comment").and_then(Value::as_str).filter(|comment| !comment.is_empty());
        let comment = comment.map(|comment| shorten(comment, MAX_COMMENT_CHARS));
        Ok(Opinion { reward: reward(&answer).ok(), comment })
    }
}

/// What is posted. Of the tests, the verdicts of those that feed back; of hidden tests, nothing.
fn request(task: &Task, report: &ExecutionReport) -> Option<Value> {
    let program = report.candidate.program.as_ref()?;
    let tests: Vec<&str> = report.judgement.tests.iter().map(|test| test.verdict.name()).collect();
    Some(json!({
        "version": VERSION,
        "task": { "id": task.id, "statement": task.statement, "language": program.language.name() },
        "program": program.text,
        "verdict": report.judgement.verdict.name(),
        "tests": tests,
    }))
}

/// The number that an answer must hold. Whatever else it holds is passed over.
fn reward(answer: &Value) -> Result<f64, String> {
    let number = answer.get("reward").and_then(Value::as_f64).filter(|number| number.is_finite());
    number.ok_or_else(|| "the answer holds no finite number as `reward`".to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::reward;

    #[test]
    fn a_reward_is_a_finite_number_and_nothing_that_looks_like_one() {
        for answer in [json!({"reward": -3}), json!({"reward": -3.0, "comment": 7, "more": [1]})] {
            assert_eq!(reward(&answer), Ok(-3.0));
        }
        for answer in [
            json!({}),
            json!(1),
            json!([1]),
            json!({"reward": null}),
            json!({"reward": "1"}),
            json!({"reward": true}),
            json!({"reward": [1]}),
            json!({"score": 1}),
        ] {
            assert!(reward(&answer).is_err(), "{answer}");
        }
    }
}
