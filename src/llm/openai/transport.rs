use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use async_openai::{error::OpenAIError, middleware::HttpRequestFactory};
use reqwest::{Response, header::AUTHORIZATION};
use serde_json::Value;
use tokio::time::{Instant, timeout};

use super::{
    failure::{Class, Failure},
    json::lenient_json,
    retry::{Backoff, MAX_WAIT, asked_wait},
    settings::ApiKey,
};
use crate::{domain::shorten, llm::Attempt};

/// Largest reply that is read, in bytes.
const MAX_REPLY_BYTES: usize = 10 << 20;

/// What every call to one server has in common.
pub struct Policy {
    /// The HTTP client: no proxy before this machine, no redirects.
    pub http: reqwest::Client,
    /// For the header, and masked in what servers say.
    pub api_key: ApiKey,
    /// Limit of one request.
    pub timeout: Duration,
    /// Limit of the call with retries and waits.
    pub total: Duration,
    /// How often a request is sent again.
    pub max_retries: u32,
    /// Wait before the first retry, in seconds.
    pub backoff_secs: f64,
}

/// One call: the requests that are sent for it, until one is answered.
pub struct Call {
    policy: Arc<Policy>,
    /// Seed of the jitter.
    seed: u64,
    /// Whether a body that is JSON is also what was asked for.
    check: fn(&Value) -> Result<(), Failure>,
    attempts: Mutex<Vec<Attempt>>,
}

impl Call {
    /// A call that has not been sent.
    pub fn new(policy: Arc<Policy>, seed: u64, check: fn(&Value) -> Result<(), Failure>) -> Arc<Self> {
        Arc::new(Self { policy, seed, check, attempts: Mutex::new(Vec::new()) })
    }

    /// What was sent so far.
    pub fn attempts(&self) -> Vec<Attempt> {
        self.attempts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sends the request until it is answered, may not be sent again, or the call's time is over. The response that
    /// comes back is ours: status 200 and a body that is JSON.
    pub async fn run(self: Arc<Self>, factory: HttpRequestFactory) -> Result<Response, OpenAIError> {
        let policy = &self.policy;
        let begin = Instant::now();
        let deadline = begin + policy.total;
        let mut backoff = Backoff::new(policy.backoff_secs, self.seed);
        let mut retries = 0;
        loop {
            let sent = Instant::now();
            let limit = policy.timeout.min(deadline.saturating_duration_since(sent));
            let result = match timeout(limit, self.send(&factory)).await {
                Ok(result) => result,
                Err(_) => {
                    let message = format!("no complete reply within {:.1} s", limit.as_secs_f64());
                    Err((Failure::transport("timeout", Class::Retry, message), None))
                }
            };
            self.record(begin, sent, &result);
            let failure = match result {
                Ok((_, body)) => return Ok(http::Response::new(body.to_string()).into()),
                Err((failure, _)) => failure,
            };
            if failure.class != Class::Retry || retries >= policy.max_retries {
                return Err(boxed(failure));
            }
            retries += 1;
            let wait = failure.wait.unwrap_or_else(|| backoff.next_wait());
            let left = deadline.saturating_duration_since(Instant::now());
            if wait > MAX_WAIT || wait >= left {
                let message =
                    format!("{} (not sent again: the wait would be {:.1} s)", failure.message, wait.as_secs_f64());
                return Err(boxed(Failure { class: Class::Final, message, ..failure }));
            }
            tokio::time::sleep(wait).await;
        }
    }

    /// Sends one request and reads its answer to the end. The status stands beside the failure too.
    async fn send(&self, factory: &HttpRequestFactory) -> Result<(u16, Value), (Failure, Option<u16>)> {
        let mut request = factory.build().await.map_err(|error| {
            (Failure::transport("request", Class::Final, self.policy.api_key.mask(&error.to_string())), None)
        })?;
        if self.policy.api_key.reveal().is_empty() {
            request.headers_mut().remove(AUTHORIZATION);
        }
        let mut response = self.policy.http.execute(request).await.map_err(|error| (self.broken(error), None))?;
        let status = response.status().as_u16();
        let wait = asked_wait(response.headers(), SystemTime::now());
        let with_status = |failure: Failure| (failure, Some(status));
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| with_status(self.broken(error)))? {
            if body.len() + chunk.len() > MAX_REPLY_BYTES {
                let message = format!("the reply is longer than {MAX_REPLY_BYTES} bytes");
                return Err(with_status(Failure::transport("too_long", Class::Final, message)));
            }
            body.extend_from_slice(&chunk);
        }
        self.judge(status, &body).map(|value| (status, value)).map_err(|mut failure| {
            failure.message = self.policy.api_key.mask(&failure.message);
            failure.wait = wait;
            with_status(failure)
        })
    }

    /// What a whole answer is.
    fn judge(&self, status: u16, body: &[u8]) -> Result<Value, Failure> {
        if !(200..300).contains(&status) {
            return Err(Failure::answer(status, body));
        }
        let Some(value) = lenient_json(body) else {
            let start = shorten(String::from_utf8_lossy(body).trim(), 200);
            return Err(Failure::transport("body", Class::Retry, format!("the reply is not JSON: {start}")));
        };
        if value.get("error").is_some_and(|error| !error.is_null()) && value.get("choices").is_none_or(Value::is_null) {
            return Err(Failure::answer(status, body));
        }
        (self.check)(&value)?;
        Ok(value)
    }

    /// A request that broke before its answer was whole.
    fn broken(&self, error: reqwest::Error) -> Failure {
        let (kind, class) = if error.is_builder() {
            ("request", Class::Final)
        } else if error.is_timeout() {
            ("timeout", Class::Retry)
        } else if error.is_connect() {
            ("connect", Class::Retry)
        } else if error.is_body() || error.is_decode() {
            ("body", Class::Retry)
        } else {
            ("send", Class::Retry)
        };
        // The sources say what happened; the message of reqwest itself only says where.
        let error = error.without_url();
        let mut message = error.to_string();
        let mut source = std::error::Error::source(&error);
        while let Some(cause) = source {
            message = format!("{message}: {cause}");
            source = cause.source();
        }
        Failure::transport(kind, class, self.policy.api_key.mask(&message))
    }

    fn record(&self, begin: Instant, sent: Instant, result: &Result<(u16, Value), (Failure, Option<u16>)>) {
        let (status, error) = match result {
            Ok((status, _)) => (Some(*status), None),
            Err((failure, status)) => (*status, Some(failure.kind.to_owned())),
        };
        let attempt = Attempt {
            status,
            error,
            started_ms: milliseconds(sent - begin),
            duration_ms: milliseconds(sent.elapsed()),
        };
        self.attempts.lock().unwrap_or_else(PoisonError::into_inner).push(attempt);
    }
}

fn boxed(failure: Failure) -> OpenAIError {
    OpenAIError::Boxed(Box::new(failure))
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
