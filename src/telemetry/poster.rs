//! One OTLP request, and what its answer means. Over HTTP a 200 alone says nothing: the body must be one of the protocol's.

use std::{
    io::{self, Read, Write},
    time::{Duration, SystemTime},
};

use flate2::{Compression, write::GzEncoder};
use prost::Message;
use reqwest::{
    StatusCode,
    blocking::{Client, Response},
    header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER},
    redirect,
};

use super::{Endpoint, Protocol, grpc::GrpcPoster, signal::Signal};

/// How much of an answer is read.
const ANSWER_BYTES: u64 = 64 << 10;

/// How much of an answer that is not understood is quoted.
const QUOTED_CHARACTERS: usize = 120;

/// Words of a header that are masked in answers have at least this many bytes; `Bearer` and the like may go with them.
const SHORTEST_SECRET: usize = 4;

/// What became of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The collector took all but `rejected` spans or data points; `message` is its word on those.
    Taken {
        /// What it refused. They must not be sent again.
        rejected: u64,
        /// Why.
        message: String,
    },
    /// It will never take this request.
    Refused(String),
    /// It may take it later.
    Later {
        /// What went wrong.
        reason: String,
        /// How long it asks to wait.
        wait: Option<Duration>,
    },
}

/// Posts requests to one collector.
pub struct Poster {
    endpoint: Endpoint,
    wire: Wire,
}

/// How requests travel.
enum Wire {
    Http(HttpPoster),
    Grpc(GrpcPoster),
}

struct HttpPoster {
    client: Client,
    url: url::Url,
    headers: HeaderMap,
    gzip: bool,
}

impl Poster {
    /// A client for `endpoint`. It owns a thread or a runtime, so it is made and used outside of asynchronous code only.
    ///
    /// # Errors
    /// In words, where a header cannot be sent or the client cannot be made.
    pub fn new(endpoint: &Endpoint) -> Result<Self, String> {
        let wire = match endpoint.protocol {
            Protocol::HttpProtobuf => Wire::Http(HttpPoster::new(endpoint)?),
            Protocol::Grpc => Wire::Grpc(GrpcPoster::new(endpoint)?),
        };
        Ok(Self { endpoint: endpoint.clone(), wire })
    }

    /// Sends one request and reads the whole answer.
    pub fn post<S: Signal>(&self, request: &S) -> Answer {
        self.masked(match &self.wire {
            Wire::Http(poster) => poster.post::<S>(request.encode_to_vec()),
            Wire::Grpc(poster) => poster.post(request),
        })
    }

    /// The same with one that is encoded already.
    pub fn post_encoded<S: Signal + Default>(&self, request: &[u8]) -> Answer {
        self.masked(match &self.wire {
            Wire::Http(poster) => poster.post::<S>(request.to_vec()),
            Wire::Grpc(poster) => match S::decode(request) {
                Ok(request) => poster.post(&request),
                Err(error) => Answer::Refused(error.to_string()),
            },
        })
    }

    /// The answer without the headers that we sent, which a server may quote.
    fn masked(&self, answer: Answer) -> Answer {
        let secrets = || self.endpoint.headers.iter().flat_map(|(_, value)| value.split_whitespace());
        let mask = |text: String| {
            secrets().filter(|secret| secret.len() >= SHORTEST_SECRET).fold(text, |text, one| text.replace(one, "***"))
        };
        match answer {
            Answer::Taken { rejected, message } => Answer::Taken { rejected, message: mask(message) },
            Answer::Refused(reason) => Answer::Refused(mask(reason)),
            Answer::Later { reason, wait } => Answer::Later { reason: mask(reason), wait },
        }
    }
}

impl HttpPoster {
    fn new(endpoint: &Endpoint) -> Result<Self, String> {
        let mut headers = HeaderMap::new();
        for (key, value) in &endpoint.headers {
            // The value may be a secret: only the name is said.
            let fault = || format!("header `{key}` cannot be sent");
            let name = HeaderName::from_bytes(key.as_bytes()).map_err(|_| fault())?;
            let mut value = HeaderValue::from_str(value).map_err(|_| fault())?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-protobuf"));
        if endpoint.gzip {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        let client = Client::builder()
            .timeout(endpoint.timeout)
            .redirect(redirect::Policy::none())
            .user_agent(concat!(env!("CARGO_PKG_NAME"), "/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| error.to_string())?;
        Ok(Self { client, url: endpoint.url.clone(), headers, gzip: endpoint.gzip })
    }

    fn post<S: Signal>(&self, body: Vec<u8>) -> Answer {
        let body = match if self.gzip { zipped(&body) } else { Ok(body) } {
            Ok(body) => body,
            Err(error) => return Answer::Refused(error.to_string()),
        };
        let sent = self.client.post(self.url.clone()).headers(self.headers.clone()).body(body).send();
        match sent {
            Ok(response) => understand::<S>(response),
            Err(error) => Answer::Later { reason: reason(&error), wait: None },
        }
    }
}

fn zipped(body: &[u8]) -> io::Result<Vec<u8>> {
    let mut zip = GzEncoder::new(Vec::new(), Compression::fast());
    zip.write_all(body)?;
    zip.finish()
}

/// Why there was no answer, without the URL, which may hold a password.
fn reason(error: &reqwest::Error) -> String {
    let word = if error.is_timeout() {
        "no answer in time"
    } else if error.is_connect() {
        "cannot connect"
    } else {
        "the connection broke"
    };
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    if std::ptr::eq(cause, error as &dyn std::error::Error) { word.to_owned() } else { format!("{word}: {cause}") }
}

fn understand<S: Signal>(mut response: Response) -> Answer {
    let status = response.status();
    let header = |name| response.headers().get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let media_type = header(CONTENT_TYPE).unwrap_or_default().to_ascii_lowercase();
    let wait = header(RETRY_AFTER).and_then(retry_after);
    let mut body = Vec::new();
    if let Err(error) = response.by_ref().take(ANSWER_BYTES).read_to_end(&mut body) {
        return Answer::Later { reason: format!("the answer broke off: {error}"), wait };
    }
    match status {
        StatusCode::TOO_MANY_REQUESTS
        | StatusCode::BAD_GATEWAY
        | StatusCode::SERVICE_UNAVAILABLE
        | StatusCode::GATEWAY_TIMEOUT => Answer::Later { reason: format!("status {}", status.as_u16()), wait },
        _ if status.is_success() => taken::<S>(&media_type, &body)
            .unwrap_or_else(|| Answer::Refused(format!("status {} but not OTLP: {}", status.as_u16(), quote(&body)))),
        _ => Answer::Refused(format!("status {}: {}", status.as_u16(), quote(&body))),
    }
}

/// The protocol's own answer, where the body is one.
fn taken<S: Signal>(media_type: &str, body: &[u8]) -> Option<Answer> {
    let (rejected, message) = if media_type.contains("json") {
        let answer: serde_json::Value = serde_json::from_slice(body).ok()?;
        let partial = &answer.as_object()?.get("partialSuccess").cloned().unwrap_or_default();
        let rejected = match &partial[S::REJECTED] {
            serde_json::Value::String(digits) => digits.parse().ok()?,
            number => number.as_i64().unwrap_or(0),
        };
        (rejected, partial["errorMessage"].as_str().unwrap_or_default().to_owned())
    } else if media_type.contains("protobuf") || (media_type.is_empty() && body.is_empty()) {
        S::rejected(S::Answer::decode(body).ok()?)
    } else {
        return None;
    };
    Some(Answer::Taken { rejected: u64::try_from(rejected).unwrap_or(0), message })
}

/// Seconds, or a date (RFC 9110, 10.2.3).
fn retry_after(value: &str) -> Option<Duration> {
    if let Ok(seconds) = value.trim().parse() {
        return Some(Duration::from_secs(seconds));
    }
    httpdate::parse_http_date(value).ok()?.duration_since(SystemTime::now()).ok()
}

fn quote(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(QUOTED_CHARACTERS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
