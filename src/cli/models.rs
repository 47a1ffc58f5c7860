//! `rolecall models`: which models can be named, and what the server of one can do.

use comfy_table::{ContentArrangement, Table, presets::NOTHING};
use serde::Serialize;

use super::{
    args::ModelsVerb,
    cast::{self, TEMPLATES},
    exit::{Exit, Failure},
    terminal,
};
use crate::{
    config::embedded_names,
    llm::{
        ModelError,
        openai::{Does, Probe, probe},
    },
};

/// Carries out `rolecall models`.
///
/// # Errors
/// A model that is not known; settings that cannot work.
pub async fn models(verb: ModelsVerb) -> Result<Exit, Failure> {
    match verb {
        ModelsVerb::List { json } => {
            list(json);
            Ok(Exit::Ended)
        }
        ModelsVerb::Check { name, json } => check(&name, json).await,
    }
}

/// `event = "model"`: a name and what answers.
#[derive(Serialize)]
struct Listed {
    event: &'static str,
    name: String,
    what: String,
}

fn list(json: bool) {
    let fixed = [
        (TEMPLATES, "built in: repairs Python programs, no server"),
        ("openai", "the server of OPENAI_BASE_URL, else OpenAI's own, and the model of OPENAI_MODEL"),
        ("openai:ID", "the same server, and the model ID"),
        ("replay:RUN", "what was answered in a run that is kept, for all actors together"),
    ];
    let fixed = fixed.map(|(name, what)| (name.to_owned(), what.to_owned())).into_iter();
    let files =
        embedded_names("models", ".toml").into_iter().map(|name| (name, "a model file that is built in".to_owned()));
    let own = [("FILE.toml".to_owned(), "a model file of your own".to_owned())];
    let all = fixed.chain(files).chain(own).map(|(name, what)| Listed { event: "model", name, what });
    if json {
        all.for_each(|one| terminal::json(&one));
        return;
    }
    let mut table = Table::new();
    table.load_preset(NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    for one in all {
        table.add_row([one.name, one.what]);
    }
    terminal::data(&table.to_string());
}

/// `event = "model_checked"`.
#[derive(Serialize)]
struct Checked {
    event: &'static str,
    name: String,
    url: String,
    model: String,
    served_model: Option<String>,
    models: Option<Vec<String>>,
    models_error: Option<String>,
    version: Option<String>,
    answers: bool,
    error: Option<String>,
    calls: u32,
    does: Vec<Found>,
    first_piece_ms: Option<u64>,
    whole_ms: u64,
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    tokens_per_second: Option<f64>,
}

/// Whether the server does one thing.
#[derive(Serialize)]
struct Found {
    what: &'static str,
    does: bool,
    why: Option<String>,
}

impl Checked {
    fn of(name: &str, probe: &Probe) -> Self {
        let does = probe.does.iter().map(|(what, does)| match does {
            Does::Yes => Found { what, does: true, why: None },
            Does::No(why) => Found { what, does: false, why: Some(why.clone()) },
        });
        Self {
            event: "model_checked",
            name: name.to_owned(),
            url: probe.url.clone(),
            model: probe.model.clone(),
            served_model: probe.served_model.clone(),
            models: probe.models.as_ref().ok().cloned(),
            models_error: probe.models.as_ref().err().cloned(),
            version: probe.version.clone(),
            answers: probe.error.is_none(),
            error: probe.error.as_ref().map(ToString::to_string),
            calls: probe.calls,
            does: does.collect(),
            first_piece_ms: probe.first_piece_ms,
            whole_ms: probe.whole_ms,
            input_tokens: probe.usage.input_tokens,
            output_tokens: probe.usage.output_tokens,
            tokens_per_second: probe.tokens_per_second(),
        }
    }
}

async fn check(name: &str, json: bool) -> Result<Exit, Failure> {
    if name == TEMPLATES {
        return Err(Failure::usage("templates is built in and asks no server: there is nothing to check"));
    }
    let found = probe(&cast::settings(name)?).await.map_err(Failure::usage)?;
    let checked = Checked::of(name, &found);
    if json {
        terminal::json(&checked);
    } else {
        say(&checked);
    }
    Ok(match &found.error {
        None => Exit::Ended,
        Some(ModelError::Refused { .. }) => Exit::Refused,
        Some(_) => Exit::SomeFailed,
    })
}

fn say(checked: &Checked) {
    let mut lines = vec![("calls go to", checked.url.clone())];
    lines.push(match (&checked.models, &checked.models_error) {
        (Some(models), _) if models.is_empty() => ("models", "it lists none".to_owned()),
        (Some(models), _) => ("models", models.join(", ")),
        (None, error) => ("models", format!("not listed: {}", error.as_deref().unwrap_or("no answer"))),
    });
    lines.extend(checked.version.clone().map(|version| ("version", version)));
    let served = checked.served_model.as_deref().filter(|served| *served != checked.model);
    let served = served.map(|served| format!(" (it calls itself {served})"));
    lines.push(("asked for", format!("{}{}", checked.model, served.unwrap_or_default())));
    lines.push(("answers", checked.error.clone().map_or_else(|| "yes".to_owned(), |error| format!("no: {error}"))));
    for Found { what, does, why } in &checked.does {
        let words = why.as_deref().map_or_else(String::new, |why| format!(": {why}"));
        lines.push((what, format!("{}{words}", if *does { "yes" } else { "no" })));
    }
    if checked.answers {
        let first = checked.first_piece_ms.map(|first| format!("first piece after {first} ms, "));
        let speed = checked.tokens_per_second.map(|speed| format!(", {speed:.1} tokens a second"));
        let (first, speed) = (first.unwrap_or_default(), speed.unwrap_or_default());
        lines.push(("speed", format!("{first}whole after {} ms{speed}", checked.whole_ms)));
    }
    let calls = if checked.calls == 1 { "call" } else { "calls" };
    lines.push(("made", format!("{} {calls}", checked.calls)));
    let mut table = Table::new();
    table.load_preset(NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    for (what, words) in lines {
        table.add_row([what.to_owned(), words]);
    }
    terminal::data(&table.to_string());
}
