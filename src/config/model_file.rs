use std::{collections::BTreeMap, path::Path};

use serde::Deserialize;
use serde_spanned::Spanned;
use thiserror::Error;

use super::{
    embedded_file,
    reference::{FileKind, ReferenceError, follow},
};
use crate::{
    domain::Place,
    llm::{
        Capabilities, Parameters, STOP_FORM, STOP_REASON, capabilities,
        http::{VARIABLE_FORM, is_key_variable},
        may_cut_a_word,
        openai::{ApiKey, OpenAiSettings, check_base_url},
    },
};

const MODEL: FileKind = FileKind { noun: "model", folder: "models", extension: ".toml" };

/// Fields of a request that `[extra]` may not set, and what does.
const RESERVED: [(&str, &str); 9] = [
    ("model", "the key `model`"),
    ("messages", "the prompt"),
    ("n", "the role's settings"),
    ("seed", "the run's seed"),
    ("stream", "nothing: replies are read whole"),
    ("temperature", "[parameters]"),
    ("top_p", "[parameters]"),
    ("stop", "[parameters]"),
    ("max_tokens", "`max_output_tokens` in [parameters]"),
];

/// Why a reference leads to no usable model.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ModelFileError {
    /// It leads nowhere.
    #[error(transparent)]
    Reference(#[from] ReferenceError),
    /// The file describes no model; every mistake in it that was found.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Mistakes(Vec<ModelFileMistake>),
}

/// A mistake in a model file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{place}: {message}")]
pub struct ModelFileMistake {
    /// Where.
    pub place: Place,
    /// What.
    pub message: String,
}

/// The file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawModel {
    /// `openai`, the only kind so far.
    kind: Spanned<String>,
    /// The model id; without it, the only one that the server lists.
    model: Option<Spanned<String>>,
    /// Where the interface begins, up to `/v1`.
    base_url: Spanned<String>,
    /// The environment variable that holds the key; without it, no key is sent.
    api_key_env: Option<Spanned<String>>,
    /// The field that carries the limit of the reply.
    max_tokens_field: Option<Spanned<String>>,
    #[serde(default)]
    limits: RawLimits,
    #[serde(default)]
    parameters: RawParameters,
    /// Fields that are sent as they are.
    #[serde(default)]
    extra: BTreeMap<Spanned<String>, toml::Value>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawLimits {
    /// One request, in seconds.
    timeout_secs: Option<Spanned<f64>>,
    /// One call with its retries, in seconds.
    total_secs: Option<Spanned<f64>>,
    /// How often a failed request is sent again.
    max_retries: Option<u32>,
    /// Wait before the first retry, in seconds.
    backoff_secs: Option<Spanned<f64>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawParameters {
    /// Softmax temperature.
    temperature: Option<Spanned<f64>>,
    /// Nucleus sampling.
    top_p: Option<Spanned<f64>>,
    /// Upper bound of the reply, in tokens.
    max_output_tokens: Option<Spanned<u32>>,
    /// Most tokens of a prompt and its reply together.
    context_tokens: Option<Spanned<u32>>,
    /// Strings that end the reply.
    #[serde(default)]
    stop: Vec<Spanned<String>>,
}

/// What the model of this name can do; `None` where the name means no model. Shipped model files count by their name.
pub fn model_capabilities(name: &str) -> Option<Capabilities> {
    let shipped = || embedded_file(&format!("{}/{name}{}", MODEL.folder, MODEL.extension));
    capabilities(name).or_else(|| shipped().and_then(|_| capabilities("openai")))
}

/// The settings of the model that `reference` names: a file that ends in `.toml`, or an embedded one (`local`); see
/// [`follow`](super::follow).
///
/// `variable` looks up the environment variable that holds the key; the file never holds the key itself. A form that
/// cannot be read is one mistake; what a readable file says wrong is reported all at once.
pub fn load_model(
    reference: &str,
    base_dir: Option<&Path>,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<OpenAiSettings, ModelFileError> {
    let found = follow(MODEL, reference, base_dir)?;
    let mistake = |offset: usize, message: String| ModelFileMistake {
        place: Place::of(&found.name, &found.text, offset),
        message,
    };
    let raw: RawModel = toml::from_str(&found.text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start);
        ModelFileError::Mistakes(vec![mistake(start, error.message().to_owned())])
    })?;
    let mut mistakes = Vec::new();
    let settings = resolve(reference, raw, variable, &mut |offset, message| mistakes.push(mistake(offset, message)));
    mistakes.sort_by_key(|mistake| (mistake.place.line, mistake.place.column));
    if mistakes.is_empty() { Ok(settings) } else { Err(ModelFileError::Mistakes(mistakes)) }
}

fn resolve(
    name: &str,
    raw: RawModel,
    variable: impl Fn(&str) -> Option<String>,
    complain: &mut dyn FnMut(usize, String),
) -> OpenAiSettings {
    if raw.kind.get_ref() != "openai" {
        let message = format!("no kind `{}`; there is `openai` (every OpenAI-compatible server)", raw.kind.get_ref());
        complain(raw.kind.span().start, message);
    }
    if let Err(message) = check_base_url(raw.base_url.get_ref()) {
        complain(raw.base_url.span().start, message);
    }
    for (text, key) in [(&raw.model, "model"), (&raw.max_tokens_field, "max_tokens_field")] {
        if let Some(text) = text.as_ref().filter(|text| text.get_ref().trim().is_empty()) {
            complain(text.span().start, format!("`{key}` is empty; leave it out"));
        }
    }
    let mut settings = OpenAiSettings::new(name, raw.base_url.into_inner());
    settings.model = raw.model.map(Spanned::into_inner);
    if let Some(named) = raw.api_key_env {
        let start = named.span().start;
        match variable(named.get_ref()).filter(|key| !key.trim().is_empty()) {
            Some(key) => settings.api_key = ApiKey::new(key.trim()),
            // Whoever pastes the key in place of its variable's name is told so without it.
            None if !is_key_variable(named.get_ref()) => {
                complain(start, format!("`api_key_env` must be {VARIABLE_FORM}, never the key itself"));
            }
            None => {
                let name = named.get_ref();
                complain(start, format!("`api_key_env` names the environment variable {name}, which is not set"));
            }
        }
    }
    let mut number = |value: Option<Spanned<f64>>, key: &str, most: f64| {
        let value = value?;
        if !(0.0..=most).contains(value.get_ref()) {
            complain(value.span().start, format!("`{key}` is {}; it must be between 0 and {most}", value.get_ref()));
        }
        Some(value.into_inner())
    };
    const DAY_SECS: f64 = 86_400.0;
    settings.timeout_secs = number(raw.limits.timeout_secs, "timeout_secs", DAY_SECS).unwrap_or(settings.timeout_secs);
    settings.total_secs = number(raw.limits.total_secs, "total_secs", DAY_SECS).unwrap_or(settings.total_secs);
    settings.backoff_secs = number(raw.limits.backoff_secs, "backoff_secs", DAY_SECS).unwrap_or(settings.backoff_secs);
    settings.parameters = Parameters {
        temperature: number(raw.parameters.temperature, "temperature", 100.0),
        top_p: number(raw.parameters.top_p, "top_p", 1.0),
        max_output_tokens: raw.parameters.max_output_tokens.as_ref().map(|tokens| *tokens.get_ref()),
        context_tokens: raw.parameters.context_tokens.as_ref().map(|tokens| *tokens.get_ref()),
        stop: raw.parameters.stop.iter().map(|stop| stop.get_ref().clone()).collect(),
    };
    if let Some(tokens) = raw.parameters.max_output_tokens.as_ref().filter(|tokens| *tokens.get_ref() == 0) {
        complain(tokens.span().start, "`max_output_tokens` is 0; a reply needs at least 1".to_owned());
    }
    let longest = settings.parameters.max_output_tokens.unwrap_or(0);
    if let Some(tokens) = raw.parameters.context_tokens.filter(|tokens| *tokens.get_ref() <= longest) {
        let message = format!("`context_tokens` is {}; it must be more than `max_output_tokens`", tokens.get_ref());
        complain(tokens.span().start, message);
    }
    for stop in raw.parameters.stop.iter().filter(|stop| may_cut_a_word(stop.get_ref())) {
        complain(stop.span().start, format!("`stop` must hold {STOP_FORM} ({STOP_REASON})"));
    }
    settings.max_retries = raw.limits.max_retries.unwrap_or(settings.max_retries);
    if let Some(field) = raw.max_tokens_field {
        settings.max_tokens_field = field.into_inner();
    }
    for (key, value) in raw.extra {
        let (start, key) = (key.span().start, key.into_inner());
        let reserved = RESERVED.iter().find(|(name, _)| *name == key);
        match (reserved, json(value)) {
            (Some((_, by)), _) => complain(start, format!("`{key}` cannot stand in [extra]; it is set by {by}")),
            (None, None) => complain(start, format!("`{key}` holds a date or a number that JSON does not have")),
            (None, Some(value)) => {
                settings.extra.insert(key, value);
            }
        }
    }
    settings
}

/// The JSON value of a TOML value; `None` where there is none.
fn json(value: toml::Value) -> Option<serde_json::Value> {
    Some(match value {
        toml::Value::String(text) => text.into(),
        toml::Value::Integer(number) => number.into(),
        toml::Value::Float(number) => serde_json::Number::from_f64(number)?.into(),
        toml::Value::Boolean(flag) => flag.into(),
        toml::Value::Datetime(_) => return None,
        toml::Value::Array(items) => items.into_iter().map(json).collect::<Option<Vec<_>>>()?.into(),
        toml::Value::Table(table) => {
            let fields = table.into_iter().map(|(key, value)| Some((key, json(value)?)));
            fields.collect::<Option<serde_json::Map<_, _>>>()?.into()
        }
    })
}
