//! Where spans are sent: the standard environment variables of OTLP.

use std::{fmt, time::Duration};

use thiserror::Error;
use url::Url;

/// How long one request may take where `OTEL_EXPORTER_OTLP_TIMEOUT` says nothing.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

/// Why the environment's word on the collector cannot be followed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EndpointError {
    /// Not a URL of HTTP. The value is not shown: it may hold a password.
    #[error("{variable} is not an http or https URL: {reason}")]
    Url {
        /// Which variable.
        variable: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// A list of headers that is none.
    #[error("{variable} is not a list of key=value pairs separated by commas (pair {pair} of it)")]
    Headers {
        /// Which variable.
        variable: &'static str,
        /// Which pair, from 1.
        pair: usize,
    },
    /// A number that is none.
    #[error("{variable} is `{value}`, not a number of milliseconds")]
    Timeout {
        /// Which variable.
        variable: &'static str,
        /// What it says.
        value: String,
    },
    /// Another compression than this program knows.
    #[error("{variable} is `{value}`; it may be `gzip` or `none`")]
    Compression {
        /// Which variable.
        variable: &'static str,
        /// What it says.
        value: String,
    },
    /// A sampler that is not known.
    #[error(
        "{variable} is `{value}`; it may be always_on, always_off, traceidratio, and each of these with parentbased_ before it"
    )]
    Sampler {
        /// Which variable.
        variable: &'static str,
        /// What it says.
        value: String,
    },
    /// A share that is none.
    #[error("{variable} is `{value}`, not a number from 0 to 1")]
    Share {
        /// Which variable.
        variable: &'static str,
        /// What it says.
        value: String,
    },
    /// Another protocol than this program speaks.
    #[error("{variable} is `{value}`; what is sent travels as `http/protobuf` or `grpc`")]
    Protocol {
        /// Which variable.
        variable: &'static str,
        /// What it says.
        value: String,
    },
}

/// How requests travel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// OTLP over HTTP, as protobuf.
    #[default]
    HttpProtobuf,
    /// OTLP over gRPC.
    Grpc,
}

impl Protocol {
    fn from_word(word: &str) -> Option<Self> {
        match word.trim() {
            "http/protobuf" => Some(Self::HttpProtobuf),
            "grpc" => Some(Self::Grpc),
            _ => None,
        }
    }
}

/// A collector. Shown without its credentials and headers.
#[derive(Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// Where requests are posted; for gRPC its host and port count alone.
    pub url: Url,
    /// How they travel.
    pub protocol: Protocol,
    /// Headers of every request; their values may be secrets.
    pub headers: Vec<(String, String)>,
    /// How long one request may take.
    pub timeout: Duration,
    /// Whether requests are compressed with gzip.
    pub gzip: bool,
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Endpoint({self}, {} headers)", self.headers.len())
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = self.url.host_str().unwrap_or_default();
        write!(f, "{}://{host}", self.url.scheme())?;
        if let Some(port) = self.url.port() {
            write!(f, ":{port}")?;
        }
        f.write_str(self.url.path())
    }
}

impl Endpoint {
    /// A collector at exactly this URL, without headers.
    pub fn at(url: Url) -> Self {
        Self { url, protocol: Protocol::default(), headers: Vec::new(), timeout: DEFAULT_TIMEOUT, gzip: false }
    }

    /// Where spans go, as the environment says; `variable` reads one of its variables. `None` where no collector is named, or
    /// where `OTEL_SDK_DISABLED` or `OTEL_TRACES_EXPORTER=none` forbids to send.
    ///
    /// # Errors
    /// Where a variable is set and cannot be followed.
    pub fn from_env(variable: impl Fn(&str) -> Option<String>) -> Result<Option<Self>, EndpointError> {
        if variable("OTEL_TRACES_EXPORTER").is_some_and(|value| value.trim() == "none") {
            return Ok(None);
        }
        Self::of(&TRACES, variable)
    }

    /// Where metrics go: nowhere unless `OTEL_METRICS_EXPORTER=otlp`.
    ///
    /// # Errors
    /// As [`from_env`](Self::from_env).
    pub fn of_metrics(variable: impl Fn(&str) -> Option<String>) -> Result<Option<Self>, EndpointError> {
        if variable("OTEL_METRICS_EXPORTER").is_none_or(|value| value.trim() != "otlp") {
            return Ok(None);
        }
        Self::of(&METRICS, variable)
    }

    fn of(names: &Names, variable: impl Fn(&str) -> Option<String>) -> Result<Option<Self>, EndpointError> {
        let read = |name: &'static str| variable(name).filter(|value| !value.trim().is_empty());
        let first = |names: [&'static str; 2]| names.into_iter().find_map(|name| Some((name, read(name)?)));
        if read("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
            return Ok(None);
        }
        let protocol = match first(names.protocol) {
            Some((variable, value)) => {
                Protocol::from_word(&value).ok_or(EndpointError::Protocol { variable, value })?
            }
            None => Protocol::default(),
        };
        let [exact, general] = names.endpoint;
        let url = if let Some(value) = read(exact) {
            parse_url(exact, &value)?
        } else if let Some(value) = read(general) {
            let mut url = parse_url(general, &value)?;
            if protocol == Protocol::HttpProtobuf {
                let path = format!("{}/v1/{}", url.path().trim_end_matches('/'), names.path);
                url.set_path(&path);
            }
            url
        } else {
            return Ok(None);
        };
        let headers = first(names.headers);
        let headers = headers.map(|(variable, value)| parse_headers(variable, &value)).transpose()?.unwrap_or_default();
        let timeout = match first(names.timeout) {
            Some((variable, value)) => match value.trim().parse() {
                Ok(milliseconds) => Duration::from_millis(milliseconds),
                Err(_) => return Err(EndpointError::Timeout { variable, value }),
            },
            None => DEFAULT_TIMEOUT,
        };
        let gzip = match first(names.compression) {
            Some((_, value)) if value.trim() == "gzip" => true,
            Some((variable, value)) if value.trim() != "none" => {
                return Err(EndpointError::Compression { variable, value });
            }
            _ => false,
        };
        Ok(Some(Self { url, protocol, headers, timeout, gzip }))
    }
}

/// The variables of one signal: its own before the general one.
struct Names {
    path: &'static str,
    endpoint: [&'static str; 2],
    protocol: [&'static str; 2],
    headers: [&'static str; 2],
    timeout: [&'static str; 2],
    compression: [&'static str; 2],
}

const TRACES: Names = Names {
    path: "traces",
    endpoint: ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"],
    protocol: ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"],
    headers: ["OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS"],
    timeout: ["OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT"],
    compression: ["OTEL_EXPORTER_OTLP_TRACES_COMPRESSION", "OTEL_EXPORTER_OTLP_COMPRESSION"],
};

const METRICS: Names = Names {
    path: "metrics",
    endpoint: ["OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"],
    protocol: ["OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"],
    headers: ["OTEL_EXPORTER_OTLP_METRICS_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS"],
    timeout: ["OTEL_EXPORTER_OTLP_METRICS_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT"],
    compression: ["OTEL_EXPORTER_OTLP_METRICS_COMPRESSION", "OTEL_EXPORTER_OTLP_COMPRESSION"],
};

fn parse_url(variable: &'static str, value: &str) -> Result<Url, EndpointError> {
    let fault = |reason: String| EndpointError::Url { variable, reason };
    let url = Url::parse(value.trim()).map_err(|error| fault(error.to_string()))?;
    match url.scheme() {
        "http" | "https" => Ok(url),
        scheme => Err(fault(format!("its scheme is `{scheme}`"))),
    }
}

/// `key=value,key=value`, values percent-encoded as in W3C Baggage.
fn parse_headers(variable: &'static str, value: &str) -> Result<Vec<(String, String)>, EndpointError> {
    let pairs = value.split(',').enumerate().filter(|(_, pair)| !pair.trim().is_empty());
    pairs
        .map(|(index, pair)| match pair.split_once('=') {
            Some((key, value)) if !key.trim().is_empty() => Ok((key.trim().to_owned(), percent_decode(value.trim()))),
            _ => Err(EndpointError::Headers { variable, pair: index + 1 }),
        })
        .collect()
}

pub(super) fn percent_decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let decoded = code.filter(|_| byte == b'%').and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(decoded.unwrap_or(byte));
        rest = if decoded.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]

    use super::{Endpoint, EndpointError, Protocol};

    fn read(pairs: &[(&str, &str)]) -> Result<Option<Endpoint>, EndpointError> {
        Endpoint::from_env(|name| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn the_general_endpoint_gets_the_path_and_the_special_one_is_taken_as_it_is() {
        let url = |pairs: &[(&str, &str)]| read(pairs).unwrap().unwrap().url.to_string();
        assert_eq!(url(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4318")]), "http://localhost:4318/v1/traces");
        assert_eq!(url(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://h/otel/")]), "http://h/otel/v1/traces");
        let both = [("OTEL_EXPORTER_OTLP_ENDPOINT", "http://a"), ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://b/x")];
        assert_eq!(url(&both), "http://b/x");
        assert_eq!(read(&[]).unwrap(), None);
        assert_eq!(read(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "")]).unwrap(), None);
    }

    #[test]
    fn over_grpc_the_endpoint_is_taken_as_it_is() {
        let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4317");
        let endpoint = read(&[endpoint, ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")]).unwrap().unwrap();
        assert_eq!((endpoint.url.as_str(), endpoint.protocol), ("http://localhost:4317/", Protocol::Grpc));
        let both =
            [("OTEL_EXPORTER_OTLP_ENDPOINT", "http://a"), ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/protobuf")];
        assert_eq!(read(&both).unwrap().unwrap().protocol, Protocol::HttpProtobuf);
    }

    #[test]
    fn switched_off_means_no_collector() {
        let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://a");
        assert_eq!(read(&[endpoint, ("OTEL_SDK_DISABLED", "TRUE")]).unwrap(), None);
        assert_eq!(read(&[endpoint, ("OTEL_TRACES_EXPORTER", "none")]).unwrap(), None);
    }

    #[test]
    fn headers_are_decoded_and_never_shown() {
        let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://user:pass@a:1");
        let headers = ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Basic%20s3cret==, x-a = 5%");
        let endpoint = read(&[endpoint, headers]).unwrap().unwrap();
        let expected = [("authorization", "Basic s3cret=="), ("x-a", "5%")];
        assert_eq!(endpoint.headers, expected.map(|(key, value)| (key.to_owned(), value.to_owned())));
        assert_eq!(
            format!("{endpoint} {endpoint:?}"),
            "http://a:1/v1/traces Endpoint(http://a:1/v1/traces, 2 headers)"
        );
    }

    #[test]
    fn what_cannot_be_followed_is_said() {
        let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://a");
        let error = |pairs: &[(&str, &str)]| read(pairs).unwrap_err().to_string();
        assert!(error(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "localhost:4318")]).contains("scheme is `localhost`"));
        assert!(error(&[endpoint, ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json")]).contains("`http/json`"));
        assert!(error(&[endpoint, ("OTEL_EXPORTER_OTLP_TIMEOUT", "soon")]).contains("`soon`"));
        assert!(error(&[endpoint, ("OTEL_EXPORTER_OTLP_COMPRESSION", "zstd")]).contains("`zstd`"));
        let headers = error(&[endpoint, ("OTEL_EXPORTER_OTLP_HEADERS", "a=1,s3cret")]);
        assert!(headers.contains("pair 2") && !headers.contains("s3cret"));
    }
}
