//! What a server says of itself, word for word.

use std::time::Duration;

use reqwest::{Client, RequestBuilder, Response};
use serde::{Deserialize, Serialize};
use url::Url;

use super::settings::{OpenAiSettings, check_base_url};
use crate::llm::http::{ApiKey, Failure, Policy};

/// What is kept of one answer, in bytes.
const MOST_BYTES: usize = 64 << 10;
/// How long an answer may take: nothing depends on it.
const LONGEST: Duration = Duration::from_secs(10);

/// What a server says of itself, each answer as it came, of 64 KiB at most and the key masked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerFacts {
    /// Where its interface begins.
    pub url: String,
    /// The answer to `/models`.
    pub models: Option<String>,
    /// The answer to `/version` beside the interface, which vLLM and others have.
    pub version: Option<String>,
}

impl ServerFacts {
    /// Of the server at `base_url`, the settings' own or one of its replicas. `None` stands for what it does not say.
    pub async fn ask(settings: &OpenAiSettings, base_url: &str) -> Self {
        let asker = check_base_url(base_url).ok().and_then(|base| FactAsker::new(settings, base).ok());
        let mut facts = Self { url: base_url.to_owned(), models: None, version: None };
        if let Some(asker) = asker {
            let (models, version) = tokio::join!(asker.models(), asker.version());
            (facts.models, facts.version) = (models.ok(), version);
        }
        facts
    }
}

/// Asks a server what it says of itself.
pub(super) struct FactAsker<'a> {
    settings: &'a OpenAiSettings,
    http: Client,
    base: Url,
}

impl<'a> FactAsker<'a> {
    /// Of the server whose interface begins at `base`.
    ///
    /// # Errors
    /// In words, where there is no HTTP client for it.
    pub(super) fn new(settings: &'a OpenAiSettings, base: Url) -> Result<Self, String> {
        let connect = Duration::try_from_secs_f64(settings.connect_secs).map_err(|error| error.to_string())?;
        Ok(Self { settings, http: Policy::client(&base, connect.min(LONGEST))?, base })
    }

    /// The answer to `/models`.
    ///
    /// # Errors
    /// In words, why there is none.
    pub(super) async fn models(&self) -> Result<String, String> {
        let path = format!("{}/models", self.base.path().trim_end_matches('/'));
        self.fact(&path).await
    }

    /// The answer to `/version`.
    pub(super) async fn version(&self) -> Option<String> {
        self.fact("/version").await.ok().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
    }

    async fn fact(&self, path: &str) -> Result<String, String> {
        let mut url = self.base.clone();
        url.set_path(path);
        let key = &self.settings.api_key;
        let words = |error: reqwest::Error| words(key, &error);
        let response = with_key(key, self.http.get(url).timeout(LONGEST)).send().await.map_err(words)?;
        let status = response.status();
        let body = whole(response, MOST_BYTES).await.map_err(words)?;
        if status.is_success() {
            return Ok(key.mask(&String::from_utf8_lossy(&body)));
        }
        let failure = Failure::answer(status.as_u16(), &body);
        Err(key.mask(&format!("{}: {failure}", status.as_u16())))
    }
}

/// The request with the key, where there is one.
pub(super) fn with_key(key: &ApiKey, request: RequestBuilder) -> RequestBuilder {
    if key.reveal().is_empty() { request } else { request.bearer_auth(key.reveal()) }
}

/// What was at the bottom of an error, with the key masked.
pub(super) fn words(key: &ApiKey, error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    key.mask(&cause.to_string())
}

/// The first `most` bytes of an answer.
pub(super) async fn whole(mut response: Response, most: usize) -> Result<Vec<u8>, reqwest::Error> {
    let mut body = Vec::new();
    while let Some(bytes) = response.chunk().await? {
        body.extend_from_slice(&bytes);
        if body.len() > most {
            body.truncate(most);
            break;
        }
    }
    Ok(body)
}
