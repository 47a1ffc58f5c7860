//! What a server can do, found out by asking it: everything at once in one call, and, where the server refuses that, each thing
//! by itself.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use reqwest::{Client, Response, header::CONTENT_TYPE};
use serde_json::{Map, Value, json};
use url::Url;

use super::{
    facts::{FactAsker, whole, with_key, words},
    reply::{error_inside, model_ids, usage},
    settings::{OpenAiSettings, check_base_url},
};
use crate::{
    domain::{Usage, shorten},
    llm::{
        ModelError,
        http::{Class, EventReader, Failure, Policy, lenient_json},
    },
};

/// What is read of an answer, in bytes.
const MOST_BYTES: usize = 1 << 20;
/// The longest reply that is asked for, in tokens.
const REPLY_TOKENS: u32 = 64;
const PROMPT: &str = "Reply with the JSON object {\"ok\": true} and nothing else.";

/// Whether a server does something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Does {
    /// It does, as far as one call shows.
    Yes,
    /// It does not: why, in words, the server's own where it has some.
    No(String),
}

/// What a server was found to do.
#[derive(Clone, Debug)]
pub struct Probe {
    /// Where calls go.
    pub url: String,
    /// What `/models` lists, or why nothing.
    pub models: Result<Vec<String>, String>,
    /// What `/version` says, where there is one.
    pub version: Option<String>,
    /// The model asked for.
    pub model: String,
    /// The model that answered, as the server says.
    pub served_model: Option<String>,
    /// Why a plain call is not answered, where it is not; nothing else is known then.
    pub error: Option<ModelError>,
    /// By word: `n`, `seed`, `logprobs`, `json_schema`, `streaming`, `usage`.
    pub does: BTreeMap<&'static str, Does>,
    /// Calls that were made.
    pub calls: u32,
    /// Until the first piece of a streamed reply, in ms.
    pub first_piece_ms: Option<u64>,
    /// Until the end of the call, in ms.
    pub whole_ms: u64,
    /// Tokens, as the server says.
    pub usage: Usage,
}

/// One thing that a server may do, and what a request says that asks for it.
type Wish = (&'static str, fn(&mut Map<String, Value>));

const WISHES: &[Wish] = &[
    ("n", |body| set(body, "n", json!(2))),
    ("seed", |body| set(body, "seed", json!(7))),
    ("logprobs", |body| set(body, "logprobs", json!(true))),
    ("json_schema", |body| {
        let schema = json!({ "type": "object", "properties": { "ok": { "type": "boolean" } }, "required": ["ok"],
            "additionalProperties": false });
        let named = json!({ "name": "answer", "strict": true, "schema": schema });
        set(body, "response_format", json!({ "type": "json_schema", "json_schema": named }));
    }),
    ("streaming", |body| {
        set(body, "stream", json!(true));
        set(body, "stream_options", json!({ "include_usage": true }));
    }),
];

fn set(body: &mut Map<String, Value>, key: &str, value: Value) {
    body.insert(key.to_owned(), value);
}

/// An answer, whichever way it came.
#[derive(Default)]
struct Answer {
    streamed: bool,
    model: Option<String>,
    texts: BTreeMap<u64, String>,
    logprobs: bool,
    usage: Option<Usage>,
    first_piece: Option<Duration>,
    whole: Duration,
}

/// Asks a server what it can do. Chat completions only. `model` is what requests carry.
///
/// # Errors
/// In words, where the settings cannot work.
pub async fn probe(settings: &OpenAiSettings) -> Result<Probe, String> {
    let base = check_base_url(&settings.base_url)?;
    let seconds = |value: f64| Duration::try_from_secs_f64(value).map_err(|error| error.to_string());
    let http = Policy::client(&base, seconds(settings.connect_secs)?)?;
    let asker = Asker { settings, http, base, timeout: seconds(settings.timeout_secs)? };
    let facts = FactAsker::new(settings, asker.base.clone())?;
    let models = facts.models().await.and_then(|list| {
        let list = lenient_json(list.as_bytes()).ok_or_else(|| "the answer is no JSON".to_owned())?;
        Ok(model_ids(&list))
    });
    let model = match (&settings.model, models.as_deref()) {
        (Some(model), _) => model.clone(),
        (None, Ok([only])) => only.clone(),
        _ => "default".to_owned(),
    };
    let mut probe = Probe {
        url: asker.url("chat/completions").to_string(),
        version: facts.version().await,
        models,
        model,
        served_model: None,
        error: None,
        does: BTreeMap::new(),
        calls: 0,
        first_piece_ms: None,
        whole_ms: 0,
        usage: Usage::default(),
    };
    match asker.ask(&mut probe, WISHES).await {
        Ok(answer) => probe.conclude(&answer, WISHES),
        Err(_) => match asker.ask(&mut probe, &[]).await {
            Ok(plain) => {
                probe.conclude(&plain, &[]);
                for wish in WISHES {
                    let one = std::slice::from_ref(wish);
                    match asker.ask(&mut probe, one).await {
                        Ok(answer) => probe.conclude(&answer, one),
                        Err(failure) => drop(probe.does.insert(wish.0, Does::No(said(&failure)))),
                    }
                }
            }
            Err(failure) => probe.error = Some(failure.into_error(Vec::new())),
        },
    }
    Ok(probe)
}

impl Probe {
    /// Tokens of the reply for each second from its first piece on, or of the whole call where it came at once.
    pub fn tokens_per_second(&self) -> Option<f64> {
        let millis = self.whole_ms.saturating_sub(self.first_piece_ms.unwrap_or(0));
        let tokens = self.usage.output_tokens.filter(|tokens| *tokens > 0)?;
        (millis > 0).then(|| tokens as f64 * 1e3 / millis as f64)
    }

    fn conclude(&mut self, answer: &Answer, wished: &[Wish]) {
        let is_json = |text: &String| lenient_json(text.trim().as_bytes()).is_some_and(|value| value.is_object());
        for (wish, _) in wished {
            let does = match *wish {
                "n" if answer.texts.len() < 2 => Does::No("it gives one choice".to_owned()),
                "logprobs" if !answer.logprobs => Does::No("it gives none".to_owned()),
                "json_schema" if !answer.texts.values().all(is_json) => {
                    Does::No(format!("the reply is no JSON object: {}", self.shown(answer)))
                }
                "streaming" if !answer.streamed => Does::No("it answers at once".to_owned()),
                _ => Does::Yes,
            };
            self.does.insert(wish, does);
        }
        let usage = answer.usage.unwrap_or_default();
        let tells = usage.input_tokens.is_some() && usage.output_tokens.is_some();
        if tells || !self.does.contains_key("usage") {
            self.does.insert("usage", if tells { Does::Yes } else { Does::No("it says none".to_owned()) });
            self.usage = usage;
        }
        self.served_model = answer.model.clone().or(self.served_model.take());
        if answer.streamed || self.whole_ms == 0 {
            self.first_piece_ms = answer.first_piece.map(millis);
            self.whole_ms = millis(answer.whole);
        }
    }

    fn shown(&self, answer: &Answer) -> String {
        let text = answer.texts.values().next().map_or("", String::as_str);
        shorten(&text.split_whitespace().collect::<Vec<_>>().join(" "), 80)
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn said(failure: &Failure) -> String {
    match failure.status {
        Some(status) => format!("{status}: {failure}"),
        None => failure.to_string(),
    }
}

struct Asker<'a> {
    settings: &'a OpenAiSettings,
    http: Client,
    base: Url,
    timeout: Duration,
}

impl Asker<'_> {
    fn url(&self, path: &str) -> Url {
        let mut url = self.base.clone();
        url.set_path(&format!("{}/{path}", self.base.path().trim_end_matches('/')));
        url
    }

    async fn ask(&self, probe: &mut Probe, wishes: &[Wish]) -> Result<Answer, Failure> {
        let mut body = self.settings.extra.clone();
        set(&mut body, "model", json!(probe.model));
        set(&mut body, "messages", json!([{ "role": "user", "content": PROMPT }]));
        set(&mut body, &self.settings.max_tokens_field, json!(REPLY_TOKENS));
        wishes.iter().for_each(|(_, add)| add(&mut body));
        probe.calls += 1;
        let begun = Instant::now();
        let broken =
            |error: reqwest::Error| Failure::transport("send", Class::Retry, words(&self.settings.api_key, &error));
        let request = with_key(&self.settings.api_key, self.http.post(self.url("chat/completions")))
            .json(&body)
            .timeout(self.timeout);
        let response = request.send().await.map_err(broken)?;
        let status = response.status().as_u16();
        let is_stream = response
            .headers()
            .get(CONTENT_TYPE)
            .is_some_and(|kind| kind.to_str().is_ok_and(|kind| kind.contains("event-stream")));
        let mut answer = Answer { streamed: is_stream, ..Answer::default() };
        if is_stream && response.status().is_success() {
            self.read_events(response, &mut answer, begun).await?;
        } else {
            let bytes = whole(response, MOST_BYTES).await.map_err(broken)?;
            let value = lenient_json(&bytes).filter(|_| (200..300).contains(&status));
            let value = value.ok_or_else(|| self.masked(Failure::answer(status, &bytes)))?;
            error_inside(status, &value).map_err(|failure| self.masked(failure))?;
            answer.read(&value);
        }
        answer.whole = begun.elapsed();
        if answer.texts.is_empty() {
            let message = "the answer has no choices";
            return Err(Failure::transport("body", Class::Retry, message));
        }
        Ok(answer)
    }

    async fn read_events(&self, mut response: Response, answer: &mut Answer, begun: Instant) -> Result<(), Failure> {
        let broken =
            |error: reqwest::Error| Failure::transport("body", Class::Retry, words(&self.settings.api_key, &error));
        let (mut reader, mut read) = (EventReader::default(), 0);
        let mut events = Vec::new();
        while let Some(bytes) = response.chunk().await.map_err(broken)? {
            read += bytes.len();
            events.extend(reader.take(&bytes));
            if answer.first_piece.is_none() && !events.is_empty() {
                answer.first_piece = Some(begun.elapsed());
            }
            if read > MOST_BYTES {
                break;
            }
        }
        events.extend(reader.finish());
        for value in events.iter().filter_map(|event| lenient_json(event.data.as_bytes())) {
            error_inside(200, &value).map_err(|failure| self.masked(failure))?;
            answer.read(&value);
        }
        Ok(())
    }

    fn masked(&self, failure: Failure) -> Failure {
        Failure { message: self.settings.api_key.mask(&failure.message), ..failure }
    }
}

impl Answer {
    /// Takes a reply, or a piece of one.
    fn read(&mut self, value: &Value) {
        if let Some(model) = value.get("model").and_then(Value::as_str).filter(|model| !model.is_empty()) {
            self.model = Some(model.to_owned());
        }
        if let Some(said) = value.get("usage").filter(|usage| usage.is_object()) {
            self.usage = Some(usage(said));
        }
        let choices = value.get("choices").and_then(Value::as_array);
        for (place, choice) in choices.into_iter().flatten().enumerate() {
            let index = choice.get("index").and_then(Value::as_u64).unwrap_or(place as u64);
            let message = choice.get("message").or_else(|| choice.get("delta"));
            let text = message.and_then(|message| message.get("content")).and_then(Value::as_str);
            self.texts.entry(index).or_default().push_str(text.unwrap_or_default());
            self.logprobs |= choice.get("logprobs").is_some_and(Value::is_object);
        }
    }
}
