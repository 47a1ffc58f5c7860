use std::{collections::BTreeSet, fmt, sync::Arc, time::Duration};

use async_openai::{
    Client, config::OpenAIConfig, error::OpenAIError, middleware::HttpRequestFactory, traits::RequestOptionsBuilder,
};
use futures_util::future::{BoxFuture, join_all};
use reqwest::header::HeaderValue;
use serde_json::Value;
use tokio::time::{Instant, sleep};
use tower::service_fn;

use super::{
    assembly::Chunks,
    dialect::Dialect,
    facts::ServerFacts,
    reply::{Completion, error_inside, model_ids, usage},
    request::{body, most_tokens},
    role_rules::RoleRules,
    settings::{Api, OpenAiSettings, SystemRole, check_base_url},
};
use crate::{
    domain::shorten,
    llm::{
        Attempt, ChatModel, ChatReply, ChatRequest, ChatRole, ModelError, ModelInfo, Parameters, Purpose, Terms,
        http::{Call, Class, Cost, Endpoint, Endpoints, Failure, Pace, Policy, Silence},
    },
};

/// Largest reply that is read, in bytes.
const MAX_REPLY_BYTES: usize = 10 << 20;

/// How often a server that loads is asked whether it is done.
const LOADING_POLL: Duration = Duration::from_millis(500);

/// A model behind an OpenAI-compatible server.
pub struct OpenAi {
    settings: OpenAiSettings,
    info: ModelInfo,
    config: OpenAIConfig,
    /// Makes requests; those of the endpoints send them.
    http: reqwest::Client,
    policy: Arc<Policy>,
    dialect: Dialect,
}

impl OpenAi {
    /// Checks the settings and finds out which model to ask: the one that is set, else the only one that the server
    /// lists, else the word `default`. Also returns warnings for the user.
    ///
    /// Fails with [`ModelError::BadRequest`] where the settings cannot work, and as a call does where the server refuses
    /// the key. A server that cannot list its models is no error.
    pub async fn connect(settings: OpenAiSettings) -> Result<(Self, Vec<String>), ModelError> {
        let wrong = |message: String| Failure::transport("settings", Class::BadRequest, message).into_error(Vec::new());
        let url = check_base_url(&settings.base_url).map_err(wrong)?;
        let key = settings.api_key.reveal();
        if HeaderValue::from_str(key).is_err() {
            return Err(wrong("the key has characters that no header can carry (a line end, perhaps)".to_owned()));
        }
        let seconds = |name: &str, value: f64| {
            Duration::try_from_secs_f64(value)
                .map_err(|_| wrong(format!("`{name}` is {value}; it must be a number of seconds from 0 on")))
        };
        let timeout = seconds("timeout_secs", settings.timeout_secs)?;
        let total = seconds("total_secs", settings.total_secs)?;
        let connect = seconds("connect_secs", settings.connect_secs)?.min(timeout);
        let silence = Silence {
            first: seconds("first_token_secs", settings.first_token_secs)?,
            between: seconds("idle_secs", settings.idle_secs)?,
        };
        seconds("backoff_secs", settings.backoff_secs)?;
        // Every value is set here: what the library would read from the environment belongs to another server.
        let config = OpenAIConfig::new()
            .with_api_base(url.as_str().trim_end_matches('/'))
            .with_api_key(key)
            .with_org_id("")
            .with_project_id("");
        let wait = seconds("wait_secs", settings.wait_secs)?;
        let http = Policy::client(&url, connect).map_err(wrong)?;
        let mut endpoints = vec![Endpoint { url: url.clone(), http: http.clone() }];
        for replica in &settings.replicas {
            let url = check_base_url(replica).map_err(wrong)?;
            endpoints.push(Endpoint { http: Policy::client(&url, connect).map_err(wrong)?, url });
        }
        let policy = Policy {
            endpoints: Arc::new(Endpoints::new(endpoints)),
            api_key: settings.api_key.clone(),
            timeout,
            silence,
            total,
            max_retries: settings.max_retries,
            backoff_secs: settings.backoff_secs,
            max_reply_bytes: MAX_REPLY_BYTES,
            pace: Some(Arc::new(Pace::new(settings.pace))),
        };
        let info = ModelInfo {
            name: settings.name.clone(),
            provider: "openai".to_owned(),
            model: settings.model.clone().unwrap_or_default(),
            server_address: url.host_str().map(str::to_owned),
            server_port: url.port_or_known_default(),
        };
        let mut model = Self { settings, info, config, http, policy: Arc::new(policy), dialect: Dialect::default() };
        if !wait.is_zero() {
            model.wait_while_loading(wait).await;
        }
        let mut warnings = Vec::new();
        if model.info.model.is_empty() {
            let (id, warning) = model.find_model().await?;
            model.info.model = id;
            warnings.extend(warning);
        }
        Ok((model, warnings))
    }

    /// Waits while a server loads: while it answers 503 or nobody listens, and no longer than `wait`.
    async fn wait_while_loading(&self, wait: Duration) {
        let until = Instant::now() + wait;
        let once = Arc::new(Policy { max_retries: 0, ..(*self.policy).clone() });
        loop {
            let call = Arc::new(Call::new(once.clone(), 0, |_, _| Ok(())));
            let listed: Result<Value, OpenAIError> = self.client(&call).models().list_byot().await;
            let is_loading = listed.is_err_and(|error| {
                let failure = self.failure(error);
                failure.status == Some(503) || matches!(failure.kind, "connect" | "send")
            });
            if !is_loading || Instant::now() + LOADING_POLL >= until {
                return;
            }
            sleep(LOADING_POLL).await;
        }
    }

    /// The only model that the server lists, else `default` and why.
    async fn find_model(&self) -> Result<(String, Option<String>), ModelError> {
        let call = Arc::new(Call::new(self.policy.clone(), 0, error_inside));
        let listed: Result<Value, OpenAIError> = self.client(&call).models().list_byot().await;
        let why = match listed.map_err(|error| self.failure(error)) {
            Ok(list) => match model_ids(&list).as_slice() {
                [only] => return Ok((only.clone(), None)),
                [] => "it lists none".to_owned(),
                several => format!("it lists {}: {}", several.len(), several.join(", ")),
            },
            Err(failure) if failure.class == Class::Refused && failure.status != Some(404) => {
                return Err(failure.into_error(call.attempts()));
            }
            Err(failure) => format!("it lists none ({failure})"),
        };
        let warning = format!("no model is set for {}, and {why}; asking for `default`", self.info.name);
        Ok(("default".to_owned(), Some(shorten(&warning, 1_000))))
    }

    /// The library's client for one call. The response that it is given is ours: status 200 and a body that is JSON.
    fn client(&self, call: &Arc<Call>) -> Client<OpenAIConfig> {
        let call = call.clone();
        let service = service_fn(move |factory: HttpRequestFactory| {
            let call = call.clone();
            async move {
                let build = || async { factory.build().await.map_err(|error| error.to_string()) };
                match call.run(build).await {
                    Ok(body) => Ok(reqwest::Response::from(http::Response::new(body.to_string()))),
                    Err(failure) => Err(OpenAIError::Boxed(Box::new(failure))),
                }
            }
        });
        Client::build(self.http.clone(), self.config.clone()).with_http_service(service)
    }

    /// One call in the server's dialect as far as it is known; its attempts are added to `attempts`.
    async fn complete(&self, request: &ChatRequest, attempts: &mut Vec<Attempt>) -> Result<Completion, Failure> {
        let call = Call::new(self.policy_after(attempts), request.seed, |status, value| {
            error_inside(status, value)?;
            Completion::read(value).map(drop)
        });
        let call = call.by(asker(request)).costing(Cost {
            most: most_tokens(&self.settings, request, &self.dialect),
            said: |reply| {
                let usage = usage(reply.get("usage")?);
                Some(usage.input_tokens?.saturating_add(usage.output_tokens?))
            },
        });
        let rules = RoleRules {
            has_system: self.settings.api == Api::Chat && has_system(request),
            merges: self.merges_roles(),
            was_taken: self.dialect.took_system(),
        };
        let call =
            if self.settings.api == Api::Chat { call.explained(move |failure| rules.explain(failure)) } else { call };
        let call = Arc::new(if self.settings.stream { call.streaming(|| Box::<Chunks>::default()) } else { call });
        let client = self.client(&call);
        let adapted = self.dialect.changes(request, &self.settings);
        let body = body(&self.settings, &self.info.model, request, &self.dialect)
            .map_err(|message| Failure::transport("prompt", Class::BadRequest, message))?;
        let mut chat = client.chat().path(self.settings.api.path()).map_err(|error| self.failure(error))?;
        if let Some(traceparent) = &request.traceparent {
            chat = chat.header("traceparent", traceparent.as_str()).map_err(|error| self.failure(error))?;
        }
        let result: Result<Value, OpenAIError> = chat.create_byot(body).await;
        let earlier = attempts.last().map_or(0, |attempt| attempt.started_ms + attempt.duration_ms);
        attempts.extend(call.attempts().into_iter().map(|attempt| Attempt {
            started_ms: attempt.started_ms + earlier,
            adapted: adapted.clone(),
            ..attempt
        }));
        let reply = result.map_err(|error| self.failure(error))?;
        if rules.has_system && !rules.merges {
            self.dialect.takes_system();
        }
        Completion::read(&reply)
    }

    /// What is left to a call that is put in other words: both forms of it together are not sent more often, refusals apart,
    /// and do not take longer, than one.
    fn policy_after(&self, attempts: &[Attempt]) -> Arc<Policy> {
        let Some(last) = attempts.last() else { return self.policy.clone() };
        // Each form but the last ended with a refusal.
        let is_refusal = |attempt: &&Attempt| matches!(attempt.status, Some(400 | 422));
        let used = attempts.len() - attempts.iter().filter(is_refusal).count();
        let used = u32::try_from(used).unwrap_or(u32::MAX);
        let passed = Duration::from_millis(last.started_ms.saturating_add(last.duration_ms));
        Arc::new(Policy {
            max_retries: self.policy.max_retries.saturating_sub(used),
            total: self.policy.total.saturating_sub(passed),
            ..(*self.policy).clone()
        })
    }

    /// Our own failure from below the library, or the library's.
    fn failure(&self, error: OpenAIError) -> Failure {
        match error {
            OpenAIError::Boxed(error) => match error.downcast::<Failure>() {
                Ok(failure) => *failure,
                Err(error) => {
                    Failure::transport("library", Class::Final, self.settings.api_key.mask(&error.to_string()))
                }
            },
            error => Failure::transport("library", Class::Final, self.settings.api_key.mask(&error.to_string())),
        }
    }
}

fn has_system(request: &ChatRequest) -> bool {
    request.messages.iter().any(|message| message.role == ChatRole::System)
}

/// Who asks: the conversation, by the trace that its calls are in; a call without one is alone.
fn asker(request: &ChatRequest) -> u64 {
    let trace = request.traceparent.as_deref().and_then(|parent| parent.split('-').nth(1));
    // The end of the id: versions of UUIDs stand in the beginning.
    let digits = trace.and_then(|trace| trace.get(trace.len().checked_sub(16)?..));
    digits.and_then(|digits| u64::from_str_radix(digits, 16).ok()).unwrap_or(request.seed)
}

impl fmt::Debug for OpenAi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAi").field("info", &self.info).finish_non_exhaustive()
    }
}

impl ChatModel for OpenAi {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn answers(&self, _purpose: Purpose) -> bool {
        true
    }

    fn defaults(&self) -> Option<&Parameters> {
        Some(&self.settings.parameters)
    }

    fn merges_roles(&self) -> bool {
        self.settings.system == SystemRole::Merge
    }

    fn identity(&self) -> String {
        let OpenAiSettings { base_url, replicas, api, extra, .. } = &self.settings;
        let servers: BTreeSet<&String> = replicas.iter().chain([base_url]).collect();
        let template = match api {
            Api::Chat => None,
            Api::Completions(template) => Some(template.text()),
        };
        let merges = self.merges_roles();
        serde_json::json!([self.info.provider, self.info.model, servers, template, merges, extra]).to_string()
    }

    fn servers(&self) -> BoxFuture<'_, Vec<ServerFacts>> {
        let urls = std::iter::once(&self.settings.base_url).chain(&self.settings.replicas);
        Box::pin(join_all(urls.map(|url| ServerFacts::ask(&self.settings, url))))
    }

    fn terms(&self) -> Terms {
        self.settings.terms()
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        Box::pin(async move {
            let mut attempts = Vec::new();
            let mut result = self.complete(request, &mut attempts).await;
            while let Err(failure) = &result {
                if !self.dialect.learn(failure, request, &self.settings) {
                    break;
                }
                result = self.complete(request, &mut attempts).await;
            }
            match result {
                Ok(Completion { choices, usage, model, id }) => {
                    let model = model.unwrap_or_else(|| self.info.model.clone());
                    Ok(ChatReply { choices, usage, model, id, attempts })
                }
                Err(failure) => Err(failure.into_error(attempts)),
            }
        })
    }
}
