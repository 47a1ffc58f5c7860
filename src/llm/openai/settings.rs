use std::time::Duration;

use serde_json::{Map, Value};
use url::Url;

use super::PromptTemplate;
use crate::{
    domain::Price,
    llm::{
        Parameters, Terms,
        http::{ApiKey, PaceLimits, check_url},
    },
};

/// How long it may take to notice that the time of a call is over.
const NOTICING: Duration = Duration::from_secs(1);

/// Which call a model is asked with.
#[derive(Clone, Debug, PartialEq)]
pub enum Api {
    /// Chat completions: the messages as they are.
    Chat,
    /// Completions: one text, which the template makes of the messages.
    Completions(PromptTemplate),
}

impl Api {
    /// Where requests go, below the base URL.
    pub(super) fn path(&self) -> &'static str {
        match self {
            Self::Chat => "/chat/completions",
            Self::Completions(_) => "/completions",
        }
    }
}

/// What becomes of standing instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SystemRole {
    /// A message of their own.
    Own,
    /// The beginning of the user's message, and neighbours of one role become one message: some chat templates refuse a system
    /// role, or two messages of one role in a row.
    Merge,
}

/// How to reach one model of one server.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenAiSettings {
    /// The name that it is asked for by (`openai`, `openai:gpt-4o`, the name of a model file): [`ModelInfo`]'s name.
    ///
    /// [`ModelInfo`]: crate::llm::ModelInfo
    pub name: String,
    /// Where the interface begins: `https://api.openai.com/v1`. See [`check_base_url`].
    pub base_url: String,
    /// Further servers of the same model, with the same key. A conversation stays with one of all of them.
    pub replicas: Vec<String>,
    /// How long to wait at the beginning while servers load, in seconds: while they answer 503 or nobody listens.
    pub wait_secs: f64,
    /// The key; empty for servers that want none.
    pub api_key: ApiKey,
    /// The model id; `None` asks the server for the only one that it has.
    pub model: Option<String>,
    /// Which call is made.
    pub api: Api,
    /// What becomes of standing instructions.
    pub system: SystemRole,
    /// Whether replies are asked for piece by piece.
    pub stream: bool,
    /// Limit of connecting, in seconds.
    pub connect_secs: f64,
    /// Limit of one request from connecting to the last byte, in seconds.
    pub timeout_secs: f64,
    /// Limit of a streamed reply's first piece from sending on, in seconds.
    pub first_token_secs: f64,
    /// Limit between two pieces of a streamed reply, in seconds.
    pub idle_secs: f64,
    /// Limit of one call with all its retries and waits, in seconds.
    pub total_secs: f64,
    /// How often a failed request is sent again.
    pub max_retries: u32,
    /// Wait before the first retry, in seconds; it doubles with each, up to 30 s. A wait that the server names goes before.
    pub backoff_secs: f64,
    /// How fast the server may be asked, by all conversations together.
    pub pace: PaceLimits,
    /// The field that carries the limit of the reply: `max_tokens`, or `max_completion_tokens` for newer servers.
    pub max_tokens_field: String,
    /// Sampling parameters where a request has none of its own.
    pub parameters: Parameters,
    /// What tokens cost, where that is known.
    pub price: Option<Price>,
    /// GPUs that are busy while it answers, where that is known.
    pub gpus: Option<u32>,
    /// Fields that the server knows beyond the protocol (`top_k`, `chat_template_kwargs`): sent as they are.
    pub extra: Map<String, Value>,
}

impl OpenAiSettings {
    /// Settings with defaults for a server at `base_url`: 300 s a request, 900 s a call, 4 retries from 0.5 s on.
    pub fn new(name: impl Into<String>, base_url: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            base_url: base_url.into(),
            replicas: Vec::new(),
            wait_secs: 0.0,
            api_key: ApiKey::default(),
            model: None,
            api: Api::Chat,
            system: SystemRole::Own,
            stream: false,
            connect_secs: 10.0,
            timeout_secs: 300.0,
            first_token_secs: 300.0,
            idle_secs: 60.0,
            total_secs: 900.0,
            max_retries: 4,
            backoff_secs: 0.5,
            pace: PaceLimits { concurrency: 64, requests_per_minute: None, tokens_per_minute: None },
            max_tokens_field: "max_tokens".to_owned(),
            parameters: Parameters::default(),
            price: None,
            gpus: None,
            extra: Map::new(),
        }
    }

    /// What a call costs and how long it may take.
    pub fn terms(&self) -> Terms {
        let longest = Duration::try_from_secs_f64(self.total_secs).ok().map(|longest| longest + NOTICING);
        Terms {
            price: self.price,
            gpus: self.gpus,
            most_attempts: self.max_retries.saturating_add(1),
            longest_ms: longest.and_then(|longest| u64::try_from(longest.as_millis()).ok()),
        }
    }

    /// The model that the environment names: `OPENAI_BASE_URL` (else OpenAI's own), `OPENAI_API_KEY`, and for the model
    /// `id`, else `OPENAI_MODEL`. No other variable is read; an empty one counts as unset.
    ///
    /// `variable` looks a variable up; the command passes the process's environment.
    pub fn from_environment(id: Option<&str>, variable: impl Fn(&str) -> Option<String>) -> Self {
        let variable = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        let name = id.map_or_else(|| "openai".to_owned(), |id| format!("openai:{id}"));
        let base_url = variable("OPENAI_BASE_URL").unwrap_or_else(|| "https://api.openai.com/v1".to_owned());
        Self {
            api_key: ApiKey::new(variable("OPENAI_API_KEY").unwrap_or_default().trim()),
            model: id.map(str::to_owned).or_else(|| variable("OPENAI_MODEL")),
            ..Self::new(name, base_url)
        }
    }
}

/// A base URL as requests are built from it: http or https, a path such as `/v1`, no trailing slash.
///
/// What would end in 404s is refused with the spelling that is likely meant: no path at all, or the path of one call.
/// So are a query, a fragment and a password, which would reach logs.
pub fn check_base_url(base_url: &str) -> Result<Url, String> {
    let mut url = check_url(base_url).map_err(|reason| format!("`base_url` {reason}"))?;
    let path = url.path().trim_end_matches('/').to_owned();
    for call in ["/chat/completions", "/completions"] {
        if let Some(start) = path.strip_suffix(call) {
            url.set_path(start);
            return Err(format!("`base_url` ends before `{call}`; write {url}"));
        }
    }
    if path.is_empty() {
        url.set_path("/v1");
        return Err(format!("`base_url` has no path; most servers want {url}"));
    }
    url.set_path(&path);
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::{OpenAiSettings, check_base_url};

    #[test]
    fn t24_base_urls() {
        for url in ["http://h/v1", "http://h/v1/", "http://h/proxy/v1"] {
            assert_eq!(check_base_url(url).unwrap().as_str(), url.trim_end_matches('/'));
        }
        for (url, hint) in [
            ("http://h", "http://h/v1"),
            ("http://h/", "http://h/v1"),
            ("http://h/v1/chat/completions", "write http://h/v1"),
            ("h/v1", "not a URL"),
            ("ftp://h/v1", "http://"),
            ("http://u:secret@h/v1", "password"),
            ("http://h/v1?key=secret", "`?`"),
        ] {
            let error = check_base_url(url).unwrap_err();
            assert!(error.contains(hint) && !error.contains("secret"), "{url}: {error}");
        }
    }

    #[test]
    fn t26_only_three_variables_are_read() {
        let settings = OpenAiSettings::from_environment(None, |name| match name {
            "OPENAI_API_KEY" => Some("sk-SENTINEL".to_owned()),
            "OPENAI_MODEL" => Some("m".to_owned()),
            "OPENAI_BASE_URL" => Some(String::new()),
            other => panic!("{other} was read"),
        });
        assert_eq!((settings.name.as_str(), settings.model.as_deref()), ("openai", Some("m")));
        assert_eq!(settings.base_url, "https://api.openai.com/v1");
        assert!(!format!("{settings:?}").contains("SENTINEL"));
        let named = OpenAiSettings::from_environment(Some("x"), |_| Some("other".to_owned()));
        assert_eq!((named.name.as_str(), named.model.as_deref()), ("openai:x", Some("x")));
    }
}
