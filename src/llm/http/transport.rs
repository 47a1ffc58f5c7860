use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use reqwest::{Request, header::AUTHORIZATION};
use serde_json::Value;
use tokio::time::{Instant, timeout};
use url::Url;

use super::{
    body::{Broken, Silence, is_stream, reassembled, streamed, whole},
    endpoints::{Endpoint, Endpoints},
    events::Assembly,
    failure::{Class, Failure},
    json::lenient_json,
    key::ApiKey,
    pace::{Pace, Taken},
    retry::{Backoff, MAX_WAIT, asked_wait},
    url::is_loopback,
};
use crate::{domain::shorten, llm::Attempt};

/// How much of a reply that broke off is kept, in characters.
const MAX_PARTIAL_CHARS: usize = 16_384;

/// What every call to the servers of one model has in common.
#[derive(Clone)]
pub struct Policy {
    /// Where requests go.
    pub endpoints: Arc<Endpoints>,
    /// For the header, and masked in what servers say.
    pub api_key: ApiKey,
    /// Limit of one request.
    pub timeout: Duration,
    /// How long an answer that comes in events may be silent.
    pub silence: Silence,
    /// Limit of the call with retries and waits.
    pub total: Duration,
    /// How often a request is sent again.
    pub max_retries: u32,
    /// Wait before the first retry, in seconds.
    pub backoff_secs: f64,
    /// Largest answer that is read.
    pub max_reply_bytes: usize,
    /// Lets requests pass as fast as the server takes them; without one they go at once.
    pub pace: Option<Arc<Pace>>,
}

/// What a request costs in tokens.
#[derive(Clone, Copy)]
pub struct Cost {
    /// At most, before it is sent.
    pub most: u64,
    /// In truth, as the answer says.
    pub said: fn(&Value) -> Option<u64>,
}

impl Policy {
    /// The HTTP client for a server at `url`, which must be connected with within `connect`: no proxy before this machine, no
    /// redirects.
    pub fn client(url: &Url, connect: Duration) -> Result<reqwest::Client, String> {
        let http = reqwest::Client::builder()
            .connect_timeout(connect)
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(concat!("rolecall/", env!("CARGO_PKG_VERSION")));
        let http = if is_loopback(url) { http.no_proxy() } else { http };
        http.build().map_err(|error| format!("no HTTP client: {error}"))
    }
}

type Check = dyn Fn(u16, &Value) -> Result<(), Failure> + Send + Sync;
type Explain = dyn Fn(Failure) -> Failure + Send + Sync;
type NewAssembly = fn() -> Box<dyn Assembly>;

/// What has come of a reply that is sent piece by piece; it outlives the request that was given up.
#[derive(Default)]
struct Coming {
    first_piece: Option<Instant>,
    assembly: Option<Box<dyn Assembly>>,
}

/// An answer as it was read.
enum Body {
    Whole(Vec<u8>),
    Assembled(Value),
}

/// One call: the requests that are sent for it, until one is answered.
pub struct Call {
    policy: Arc<Policy>,
    /// Seed of the jitter.
    seed: u64,
    /// Who asks: it stays with one server.
    key: u64,
    check: Box<Check>,
    /// Says what else a failure means for what was asked.
    explain: Box<Explain>,
    /// What puts a stream together, where one is asked for.
    assembly: Option<NewAssembly>,
    cost: Cost,
    attempts: Mutex<Vec<Attempt>>,
}

impl Call {
    /// A call that has not been sent. `check` says whether a JSON body of a success, whose status comes first, is also what
    /// was asked for.
    pub fn new(
        policy: Arc<Policy>,
        seed: u64,
        check: impl Fn(u16, &Value) -> Result<(), Failure> + Send + Sync + 'static,
    ) -> Self {
        Self {
            policy,
            seed,
            key: 0,
            check: Box::new(check),
            explain: Box::new(|failure| failure),
            assembly: None,
            cost: Cost { most: 0, said: |_| None },
            attempts: Mutex::new(Vec::new()),
        }
    }

    /// The same by one who stays with one server.
    #[must_use]
    pub fn by(self, key: u64) -> Self {
        Self { key, ..self }
    }

    /// The same for requests of which `explain` knows what else a failure can mean.
    #[must_use]
    pub fn explained(self, explain: impl Fn(Failure) -> Failure + Send + Sync + 'static) -> Self {
        Self { explain: Box::new(explain), ..self }
    }

    /// The same for requests that cost tokens.
    #[must_use]
    pub fn costing(self, cost: Cost) -> Self {
        Self { cost, ..self }
    }

    /// The same for requests that ask for a stream, which `assembly` puts together.
    #[must_use]
    pub fn streaming(self, assembly: NewAssembly) -> Self {
        Self { assembly: Some(assembly), ..self }
    }

    /// What was sent so far.
    pub fn attempts(&self) -> Vec<Attempt> {
        self.attempts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sends the request that `build` makes until it is answered, may not be sent again, or the call's time is over. What
    /// comes back is the body of a success that is JSON and what was asked for.
    pub async fn run<F: Future<Output = Result<Request, String>>>(
        &self,
        build: impl Fn() -> F,
    ) -> Result<Value, Failure> {
        let policy = &self.policy;
        let begin = Instant::now();
        let mut deadline = begin + policy.total;
        let mut backoff = Backoff::new(policy.backoff_secs, self.seed);
        let mut retries = 0;
        loop {
            let asked = Instant::now();
            let slot = match &policy.pace {
                Some(pace) => Some(pace.enter(self.cost.most).await),
                None => None,
            };
            let sent = Instant::now();
            // Waiting for others is no work of this call.
            deadline += sent - asked;
            let limit = policy.timeout.min(deadline.saturating_duration_since(sent));
            let mut coming = Coming::default();
            let endpoint = policy.endpoints.pick(self.key);
            let result = match timeout(limit, self.send(build(), endpoint, sent, &mut coming)).await {
                Ok(result) => result,
                Err(_) => {
                    let message = format!("no complete reply within {:.1} s", limit.as_secs_f64());
                    Err((Failure::transport("timeout", Class::Retry, message), None))
                }
            };
            policy.endpoints.note(endpoint, result.as_ref().err().map(|(failure, _)| failure));
            self.record(begin, (asked, sent), endpoint, &coming, &result);
            if let Some(slot) = slot {
                let tokens = result.as_ref().ok().and_then(|(_, body)| (self.cost.said)(body));
                slot.finish(taken(&result), tokens);
            }
            let failure = match result {
                Ok((_, body)) => return Ok(body),
                Err((failure, _)) => failure,
            };
            if failure.class != Class::Retry || retries >= policy.max_retries {
                return Err(failure);
            }
            retries += 1;
            let wait = failure.wait.unwrap_or_else(|| backoff.next_wait());
            let left = deadline.saturating_duration_since(Instant::now());
            if wait > MAX_WAIT || wait >= left {
                let message =
                    format!("{} (not sent again: the wait would be {:.1} s)", failure.message, wait.as_secs_f64());
                return Err(Failure { class: Class::Final, message, ..failure });
            }
            tokio::time::sleep(wait).await;
        }
    }

    /// Sends one request and reads its answer to the end. The status stands beside the failure too.
    async fn send(
        &self,
        request: impl Future<Output = Result<Request, String>>,
        endpoint: usize,
        sent: Instant,
        coming: &mut Coming,
    ) -> Result<(u16, Value), (Failure, Option<u16>)> {
        let mut request = request
            .await
            .map_err(|error| (Failure::transport("request", Class::Final, self.policy.api_key.mask(&error)), None))?;
        if self.policy.api_key.reveal().is_empty() {
            request.headers_mut().remove(AUTHORIZATION);
        }
        let endpoints = &self.policy.endpoints;
        endpoints.direct(&mut request, endpoint);
        let Some(server) = endpoints.get(endpoint) else {
            return Err((Failure::transport("request", Class::Final, "there is no server to ask"), None));
        };
        let response = server.http.execute(request).await.map_err(|error| (self.broken(error), None))?;
        let status = response.status().as_u16();
        let wait = asked_wait(response.headers(), SystemTime::now());
        let most = self.policy.max_reply_bytes;
        let body = match self.assembly.filter(|_| is_success(status) && is_stream(&response)) {
            Some(new) => {
                let Coming { first_piece, assembly } = coming;
                let assembly = assembly.insert(new()).as_mut();
                let limits = (most, self.policy.silence, sent);
                streamed(response, assembly, limits, first_piece).await.map(Body::Assembled)
            }
            None => whole(response, most).await.map(Body::Whole),
        };
        let judged = body
            .map_err(|broken| match broken {
                Broken::Connection(error) => self.broken(error),
                Broken::Answer(failure) => failure,
            })
            .and_then(|body| self.judge(status, body, coming));
        judged.map(|value| (status, value)).map_err(|mut failure| {
            failure.message = self.policy.api_key.mask(&failure.message);
            failure.wait = wait;
            ((self.explain)(failure), Some(status))
        })
    }

    /// What a whole answer is.
    fn judge(&self, status: u16, body: Body, coming: &mut Coming) -> Result<Value, Failure> {
        let value = match body {
            Body::Assembled(value) => value,
            Body::Whole(bytes) if !is_success(status) => return Err(Failure::answer(status, &bytes)),
            Body::Whole(bytes) => match (lenient_json(&bytes), self.assembly) {
                (Some(value), _) => value,
                (None, Some(new)) if bytes.trim_ascii_start().starts_with(b"data:") => {
                    reassembled(&bytes, coming.assembly.insert(new()).as_mut())?
                }
                _ => {
                    let start = shorten(String::from_utf8_lossy(&bytes).trim(), 200);
                    return Err(Failure::transport("body", Class::Retry, format!("the reply is not JSON: {start}")));
                }
            },
        };
        (self.check)(status, &value)?;
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

    fn record(
        &self,
        begin: Instant,
        (asked, sent): (Instant, Instant),
        endpoint: usize,
        coming: &Coming,
        result: &Result<(u16, Value), (Failure, Option<u16>)>,
    ) {
        let (status, error) = match result {
            Ok((status, _)) => (Some(*status), None),
            Err((failure, status)) => (*status, Some(failure.kind.to_owned())),
        };
        let attempt = Attempt {
            status,
            error,
            started_ms: milliseconds(sent - begin),
            duration_ms: milliseconds(sent.elapsed()),
            adapted: Vec::new(),
            waited_ms: milliseconds(sent - asked),
            server: self
                .policy
                .endpoints
                .get(endpoint)
                .filter(|_| self.policy.endpoints.are_several())
                .map(Endpoint::name),
            first_token_ms: coming.first_piece.map(|at| milliseconds(at - sent)),
            partial: coming.assembly.as_deref().filter(|_| result.is_err()).and_then(Assembly::so_far).map(|text| {
                let text = self.policy.api_key.mask(&text);
                shorten(&text, MAX_PARTIAL_CHARS)
            }),
        };
        self.attempts.lock().unwrap_or_else(PoisonError::into_inner).push(attempt);
    }
}

/// What an attempt says of the server's load.
fn taken(result: &Result<(u16, Value), (Failure, Option<u16>)>) -> Taken {
    match result {
        Ok(_) => Taken::Well,
        Err((Failure { status: Some(429 | 503 | 529), .. }, _)) => Taken::Overloaded,
        Err((failure, _)) if failure.kind == "timeout" => Taken::Overloaded,
        Err(_) => Taken::Otherwise,
    }
}

fn is_success(status: u16) -> bool {
    (200..300).contains(&status)
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
