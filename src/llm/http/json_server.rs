use std::{fmt, sync::Arc, time::Duration};

use reqwest::{
    Request,
    header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue},
};
use serde_json::Value;
use url::Url;

use super::{
    body::Silence,
    endpoints::{Endpoint, Endpoints},
    failure::{Class, Failure},
    key::ApiKey,
    transport::{Call, Policy},
    url::check_url,
};
use crate::llm::{Attempt, ModelError};

/// Largest answer that is read, in bytes.
const MAX_ANSWER_BYTES: usize = 1 << 20;

/// Longest time to wait for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How often a failed request is sent again.
const MAX_RETRIES: u32 = 4;

/// How to reach a server that takes a JSON object and answers with one.
#[derive(Clone, Debug)]
pub struct JsonServerSettings {
    /// Where objects are posted to: the whole URL. See [`check_url`].
    pub url: String,
    /// Sent as a bearer token; empty for servers that want none.
    pub token: ApiKey,
    /// Limit of one request from connecting to the last byte. A call with all its retries may take five times as long.
    pub timeout: Duration,
    /// Wait before the first retry, in seconds; it doubles with each.
    pub backoff_secs: f64,
}

/// A server that takes a JSON object by HTTP POST and answers with one.
pub struct JsonServer {
    url: Url,
    http: reqwest::Client,
    authorization: Option<HeaderValue>,
    policy: Arc<Policy>,
}

/// What became of one call.
#[derive(Clone, Debug, PartialEq)]
pub struct Posted {
    /// The answer, or why there is none.
    pub answer: Result<Value, ModelError>,
    /// Every request that was sent for it.
    pub attempts: Vec<Attempt>,
}

impl JsonServer {
    /// Checks the settings; nothing is sent.
    ///
    /// # Errors
    /// What is wrong with them, in words that follow the name of the URL's key.
    pub fn new(settings: &JsonServerSettings) -> Result<Self, String> {
        let url = check_url(&settings.url)?;
        let secret = settings.token.reveal();
        let authorization = match secret.is_empty() {
            true => None,
            false => {
                let header = HeaderValue::from_str(&format!("Bearer {secret}"));
                let mut header =
                    header.map_err(|_| "has a token with characters that no header can carry".to_owned())?;
                header.set_sensitive(true);
                Some(header)
            }
        };
        let http = Policy::client(&url, settings.timeout.min(CONNECT_TIMEOUT))?;
        let policy = Policy {
            endpoints: Arc::new(Endpoints::new(vec![Endpoint { url: url.clone(), http: http.clone() }])),
            api_key: settings.token.clone(),
            timeout: settings.timeout,
            silence: Silence { first: settings.timeout, between: settings.timeout },
            total: settings.timeout.saturating_mul(MAX_RETRIES + 1),
            max_retries: MAX_RETRIES,
            backoff_secs: settings.backoff_secs,
            max_reply_bytes: MAX_ANSWER_BYTES,
            pace: None,
        };
        Ok(Self { url, http, authorization, policy: Arc::new(policy) })
    }

    /// Host of the server.
    pub fn host(&self) -> Option<&str> {
        self.url.host_str()
    }

    /// Port of the server.
    pub fn port(&self) -> Option<u16> {
        self.url.port_or_known_default()
    }

    /// Posts `body` until it is answered for good. An answer that `check` refuses is asked for again like one that is cut;
    /// `check` says in words what is wrong with it. `seed` draws the jitter of the waits.
    pub async fn post(&self, body: &Value, seed: u64, check: fn(&Value) -> Result<(), String>) -> Posted {
        let check =
            move |_, answer: &Value| check(answer).map_err(|message| Failure::transport("body", Class::Retry, message));
        let call = Call::new(self.policy.clone(), seed, check);
        let answer = call.run(|| std::future::ready(self.request(body))).await;
        let attempts = call.attempts();
        Posted { answer: answer.map_err(|failure| failure.into_error(attempts.clone())), attempts }
    }

    fn request(&self, body: &Value) -> Result<Request, String> {
        let mut post = self.http.post(self.url.clone()).header(CONTENT_TYPE, "application/json");
        if let Some(authorization) = &self.authorization {
            post = post.header(AUTHORIZATION, authorization.clone());
        }
        post.body(body.to_string()).build().map_err(|error| error.without_url().to_string())
    }
}

impl fmt::Debug for JsonServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JsonServer").field("host", &self.host()).finish_non_exhaustive()
    }
}
