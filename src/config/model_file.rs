use std::{collections::BTreeMap, path::Path, sync::Arc};

use serde_json::{Map, Value};
use thiserror::Error;

use super::{
    ConfigPath, Document, Field, Located, MODEL_KEYS, Medium, Mistake, Mistakes, Place, TextSource, did_you_mean,
    embedded_file, find_key, is_section, listed, names_below, quoted,
    reference::{FileKind, ReferenceError, follow},
};
use crate::{
    domain::{Currency, Money, Price},
    llm::{
        Capabilities, capabilities,
        http::{VARIABLE_FORM, is_key_variable},
        names_file,
        openai::{Api, ApiKey, OpenAiSettings, PromptTemplate, SystemRole, check_base_url, set_by},
    },
};

const MODEL: FileKind = FileKind { noun: "model", folder: "models", extension: ".toml" };

/// The table of fields that are sent as they are.
const EXTRA: &str = "extra";

/// Why a reference leads to no usable model.
#[derive(Clone, Debug, Error)]
pub enum ModelFileError {
    /// It leads nowhere.
    #[error(transparent)]
    Reference(#[from] ReferenceError),
    /// The file describes no model; every mistake in it that was found.
    #[error(transparent)]
    Mistakes(#[from] Mistakes),
}

/// What the model of this name can do; `None` where the name means no model. Shipped model files count by their name.
/// What a model file says of prices, GPUs and the longest reply is read here; whatever else is wrong with it is told when it
/// is loaded.
pub fn model_capabilities(name: &str) -> Option<Capabilities> {
    let shipped = || embedded_file(&format!("{}/{name}{}", MODEL.folder, MODEL.extension));
    let by_name = capabilities(name).or_else(|| shipped().and_then(|_| capabilities("openai")))?;
    let is_file = names_file(name) || shipped().is_some();
    let Some((_, mut file)) = is_file.then(|| open(name, None).ok()).flatten() else { return Some(by_name) };
    let settings = file.settings(name, &|_| None);
    let max_output_tokens = settings.parameters.max_output_tokens;
    Some(Capabilities { terms: settings.terms(), max_output_tokens, ..by_name })
}

/// Reads a model file; what it means is another step.
fn open(reference: &str, base_dir: Option<&Path>) -> Result<(Document, ModelFile), ReferenceError> {
    let found = follow(MODEL, reference, base_dir)?;
    let medium = Medium::File(ConfigPath::Disk(found.name.clone().into()));
    let document = Document::parse(&Arc::new(TextSource::new(found.name, found.text, medium, 0)));
    let mut file = ModelFile { mistakes: document.mistakes.clone(), ..ModelFile::default() };
    for field in &document.fields {
        file.read(field, "");
    }
    Ok((document, file))
}

/// The settings of the model that `reference` names: a file that ends in `.toml`, or an embedded one (`local`); see
/// [`follow`](super::follow).
///
/// `variable` looks up the environment variable that holds the key; the file never holds the key itself. What is wrong
/// with the file is reported all at once.
pub fn load_model(
    reference: &str,
    base_dir: Option<&Path>,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<OpenAiSettings, ModelFileError> {
    let (document, mut file) = open(reference, base_dir)?;
    if document.is_whole() {
        let url = if file.values.contains_key("base_url_env") { "base_url_env" } else { "base_url" };
        file.require(&["kind", url], &Place::start_of(&document.source));
    }
    let settings = file.settings(reference, &variable);
    match Mistakes::collect(file.mistakes) {
        None => Ok(settings),
        Some(mistakes) => Err(mistakes.into()),
    }
}

/// A model file as written.
#[derive(Default)]
struct ModelFile {
    values: BTreeMap<String, Located<Value>>,
    /// Keys with a value that cannot be used.
    broken: Vec<String>,
    extra: Vec<(Located<String>, Value)>,
    mistakes: Vec<Mistake>,
}

impl ModelFile {
    /// Takes a field of the top level, or of the table `section`.
    fn read(&mut self, field: &Field, section: &str) {
        let name = field.key.value.as_str();
        let path = if section.is_empty() { name.to_owned() } else { format!("{section}.{name}") };
        let mut result = Ok(());
        if let Some(key) = find_key(MODEL_KEYS, &path) {
            let place = field.item.place.clone();
            result = key.read(&field.item, &path).map(|value| {
                self.values.insert(path.clone(), Located::new(value, place));
            });
        } else if section.is_empty() && name == EXTRA {
            result = field.item.table(name).map(|fields| fields.iter().for_each(|field| self.read_extra(field)));
        } else if section.is_empty() && is_section(MODEL_KEYS, name) {
            result = field.item.table(name).map(|fields| fields.iter().for_each(|field| self.read(field, name)));
        } else {
            let mut known = names_below(MODEL_KEYS, section);
            known.extend(section.is_empty().then_some(EXTRA));
            let message = format!("{} is no key of a model file{}", quoted(&path), did_you_mean(name, &known));
            self.complain(&field.key.place, message, Some(&format!("keys: {}", listed(known))));
        }
        if let Err(mistake) = result {
            self.broken.push(path);
            self.mistakes.push(mistake);
        }
    }

    fn read_extra(&mut self, field: &Field) {
        match field.item.value(&format!("{EXTRA}.{}", field.key.value)) {
            Ok(value) => self.extra.push((field.key.clone(), value)),
            Err(mistake) => self.mistakes.push(mistake),
        }
    }

    fn require(&mut self, keys: &[&str], start: &Place) {
        for key in keys {
            if !self.values.contains_key(*key) && !self.broken.iter().any(|broken| broken == key) {
                self.complain(
                    start,
                    format!("{} is missing", quoted(key)),
                    find_key(MODEL_KEYS, key).map(|key| key.help),
                );
            }
        }
    }

    fn complain(&mut self, place: &Place, message: String, hint: Option<&str>) {
        let mistake = Mistake::at(place, message);
        self.mistakes.push(match hint {
            Some(hint) => mistake.hint(hint),
            None => mistake,
        });
    }

    fn text(&self, path: &str) -> Option<String> {
        self.values.get(path).and_then(|located| located.value.as_str()).map(|text| text.trim().to_owned())
    }

    fn number(&self, path: &str) -> Option<f64> {
        self.values.get(path).and_then(|located| located.value.as_f64())
    }

    fn whole(&self, path: &str) -> Option<u32> {
        self.values.get(path).and_then(|located| located.value.as_u64()).and_then(|number| number.try_into().ok())
    }

    /// What the file means. Mistakes are added; where a value is wrong its default stands in.
    fn settings(&mut self, name: &str, variable: &dyn Fn(&str) -> Option<String>) -> OpenAiSettings {
        let mut urls = self.base_urls(variable).into_iter();
        let mut settings = OpenAiSettings::new(name, urls.next().unwrap_or_default());
        settings.replicas = urls.collect();
        settings.model = self.text("model");
        settings.api_key = self.api_key(variable);
        settings.api = self.api();
        settings.system = match self.text("system").as_deref() {
            Some("merge") => SystemRole::Merge,
            _ => SystemRole::Own,
        };
        self.refuse_without("api = \"chat\"", settings.api == Api::Chat, &["system"]);
        settings.stream = self.values.get("stream").is_some_and(|located| located.value == true);
        self.refuse_without("stream", settings.stream, &["limits.first_token_secs", "limits.idle_secs"]);
        let limits = &mut settings;
        limits.connect_secs = self.number("limits.connect_secs").unwrap_or(limits.connect_secs);
        limits.first_token_secs = self.number("limits.first_token_secs").unwrap_or(limits.first_token_secs);
        limits.idle_secs = self.number("limits.idle_secs").unwrap_or(limits.idle_secs);
        limits.timeout_secs = self.number("limits.timeout_secs").unwrap_or(limits.timeout_secs);
        limits.total_secs = self.number("limits.total_secs").unwrap_or(limits.total_secs);
        limits.max_retries = self.whole("limits.max_retries").unwrap_or(limits.max_retries);
        limits.backoff_secs = self.number("limits.backoff_secs").unwrap_or(limits.backoff_secs);
        let pace = &mut settings.pace;
        pace.concurrency = self.whole("limits.concurrency").unwrap_or(pace.concurrency);
        pace.requests_per_minute = self.whole("limits.requests_per_minute");
        pace.tokens_per_minute = self.whole("limits.tokens_per_minute").map(u64::from);
        settings.price = self.price();
        settings.gpus = self.whole("gpus");
        if let Some(field) = self.text("max_tokens_field") {
            settings.max_tokens_field = field;
        }
        let of_table = self.values.iter().filter_map(|(path, located)| {
            path.strip_prefix("parameters.").map(|key| (key.to_owned(), located.value.clone()))
        });
        let parameters: Map<String, Value> = of_table.collect();
        // Every value is of the form of its key.
        settings.parameters = serde_json::from_value(Value::Object(parameters)).unwrap_or_default();
        if let Some((key, why)) = settings.parameters.contradiction()
            && let Some(place) = self.values.get(&format!("parameters.{key}")).map(|located| located.place.clone())
        {
            self.complain(&place, format!("`{key}` {why}"), None);
        }
        for (key, value) in std::mem::take(&mut self.extra) {
            match set_by(&key.value, &settings) {
                Some(by) => {
                    let message = format!("{} cannot stand in [extra]; it is set by {by}", quoted(&key.value));
                    self.complain(&key.place, message, None);
                }
                None => drop(settings.extra.insert(key.value, value)),
            }
        }
        settings
    }

    /// The table of prices: of prompts and of replies, or it says nothing that can be counted on.
    fn price(&mut self) -> Option<Price> {
        let all =
            ["price.input_per_million", "price.output_per_million", "price.cached_input_per_million", "price.currency"];
        let first = all.iter().find_map(|key| self.values.get(*key)).map(|located| located.place.clone())?;
        let is_missing =
            |key: &&str| !self.values.contains_key(*key) && !self.broken.iter().any(|broken| broken == key);
        let missing: Vec<&str> = all[..2].iter().copied().filter(is_missing).collect();
        for key in missing {
            self.complain(&first, format!("`{key}` is missing"), Some("write 0 for what costs nothing"));
        }
        let currency = match self.values.get("price.currency").cloned() {
            None => Some(Currency::USD),
            Some(written) => {
                let currency = written.value.as_str().and_then(Currency::from_code);
                if currency.is_none() {
                    let message = format!("`price.currency` must be three capital letters, not {}", written.value);
                    self.complain(&written.place, message, Some("as in ISO 4217: USD, EUR"));
                }
                currency
            }
        };
        let (input, output) = (self.money(all[0]), self.money(all[1]));
        let cached_input = if self.values.contains_key(all[2]) { self.money(all[2]) } else { input };
        Some(Price { input: input?, cached_input: cached_input?, output: output?, currency: currency? })
    }

    fn money(&mut self, key: &str) -> Option<Money> {
        let written = self.values.get(key).cloned()?;
        let money = written.value.as_f64().and_then(Money::from_units);
        if money.is_none() {
            self.complain(&written.place, format!("`{key}` has more than 9 decimals"), None);
        }
        money
    }

    fn api(&mut self) -> Api {
        let is_text = self.text("api").as_deref() == Some("completions");
        self.refuse_without("api = \"completions\"", is_text, &["prompt_template"]);
        if !is_text {
            return Api::Chat;
        }
        let written = self.values.get("prompt_template").cloned();
        let text = written.as_ref().and_then(|located| located.value.as_str()).unwrap_or(PromptTemplate::DEFAULT);
        match (PromptTemplate::parse(text), &written) {
            (Ok(template), _) => Api::Completions(template),
            (Err(message), written) => {
                if let Some(written) = written {
                    self.complain(&written.place, format!("`prompt_template`: {message}"), None);
                }
                Api::Chat
            }
        }
    }

    /// Keys that have no use without another.
    fn refuse_without(&mut self, what: &str, is_there: bool, keys: &[&str]) {
        for key in keys {
            if let Some(place) = self.values.get(*key).filter(|_| !is_there).map(|located| located.place.clone()) {
                self.complain(&place, format!("`{key}` has no use without `{what}`"), None);
            }
        }
    }

    /// The servers, each once.
    fn base_urls(&mut self, variable: &dyn Fn(&str) -> Option<String>) -> Vec<String> {
        let (written, named) = (self.values.get("base_url").cloned(), self.values.get("base_url_env").cloned());
        let (all, place) = match (written, named) {
            (Some(_), Some(named)) => {
                self.complain(&named.place, "`base_url_env` has no use beside `base_url`".to_owned(), None);
                return Vec::new();
            }
            (None, None) => return Vec::new(),
            (Some(Located { value: Value::Array(urls), place }), None) => {
                (urls.iter().filter_map(Value::as_str).map(str::to_owned).collect(), place)
            }
            (Some(Located { value, place }), None) => (vec![value.as_str().unwrap_or_default().to_owned()], place),
            (None, Some(named)) => {
                let urls = self.variable("base_url_env", &named, variable).unwrap_or_default();
                let urls = urls.split(',').map(str::trim).filter(|url| !url.is_empty());
                (urls.map(str::to_owned).collect(), named.place)
            }
        };
        for (index, url) in all.iter().enumerate() {
            if let Err(message) = check_base_url(url) {
                self.complain(&place, message, None);
            }
            if all.iter().take(index).any(|other| other == url) {
                self.complain(&place, format!("`base_url` names {} twice", quoted(url)), None);
            }
        }
        all
    }

    /// The value of the environment variable that a key names; an empty one counts as unset.
    fn variable(
        &mut self,
        key: &str,
        named: &Located<Value>,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Option<String> {
        let name = named.value.as_str().unwrap_or_default().trim();
        let value = variable(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
        if value.is_none() {
            // Whoever pastes the key in place of its variable's name is told so without it.
            let message = match is_key_variable(name) {
                true => format!("`{key}` names the environment variable {name}, which is not set"),
                false => format!("`{key}` must be {VARIABLE_FORM}, never the key itself"),
            };
            self.complain(&named.place, message, None);
        }
        value
    }

    fn api_key(&mut self, variable: &dyn Fn(&str) -> Option<String>) -> ApiKey {
        let Some(named) = self.values.get("api_key_env").cloned() else { return ApiKey::default() };
        self.variable("api_key_env", &named, variable).map(ApiKey::new).unwrap_or_default()
    }
}
