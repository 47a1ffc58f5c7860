//! Model files: what is read from them, and what is wrong with them.

use std::fs;

use rolecall::{
    config::load_model,
    llm::openai::{ApiKey, OpenAiSettings},
};
use serde_json::json;

fn nothing_is_set(_: &str) -> Option<String> {
    None
}

/// Loads `text` as `m.toml`; messages name the file alone.
fn load(text: &str) -> Result<OpenAiSettings, String> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("m.toml"), text).unwrap();
    load_model("m.toml", Some(folder.path()), |name| (name == "K").then(|| "sk-SENTINEL".to_owned()))
        .map_err(|error| error.to_string().replace(&format!("{}/", folder.path().display()), ""))
}

#[test]
fn the_shipped_model_works_and_says_what_the_defaults_say() {
    let local = load_model("local", None, nothing_is_set).unwrap();
    let mut expected = OpenAiSettings::new("local", "http://127.0.0.1:8080/v1");
    expected.parameters.temperature = Some(0.8);
    expected.parameters.max_output_tokens = Some(2_048);
    assert_eq!(local, expected);
}

#[test]
fn a05_every_key_of_the_file_reaches_the_settings() {
    let settings = load(
        r#"
        kind = "openai"
        model = "m $HOME"
        base_url = "https://h/v1"
        api_key_env = "K"
        max_tokens_field = "max_completion_tokens"
        limits = { timeout_secs = 1, total_secs = 2.5, max_retries = 3, backoff_secs = 0.25 }
        parameters = { temperature = 0, top_p = 0.5, max_output_tokens = 7, context_tokens = 90, stop = ["<END>"] }
        extra = { top_k = 40, nested = { a = [1, 2.5, true] } }
        "#,
    )
    .unwrap();
    assert_eq!(settings.api_key, ApiKey::new("sk-SENTINEL"));
    assert!(!format!("{settings:?}").contains("SENTINEL"));
    assert_eq!((settings.model.as_deref(), settings.base_url.as_str()), (Some("m $HOME"), "https://h/v1"));
    assert_eq!((settings.timeout_secs, settings.total_secs, settings.backoff_secs), (1.0, 2.5, 0.25));
    assert_eq!((settings.max_retries, settings.max_tokens_field.as_str()), (3, "max_completion_tokens"));
    let parameters = &settings.parameters;
    assert_eq!(
        (parameters.temperature, parameters.top_p, parameters.max_output_tokens),
        (Some(0.0), Some(0.5), Some(7))
    );
    assert_eq!((parameters.context_tokens, parameters.stop.as_slice()), (Some(90), &["<END>".to_owned()][..]));
    assert_eq!(serde_json::Value::Object(settings.extra), json!({"nested": {"a": [1, 2.5, true]}, "top_k": 40}));
}

#[test]
fn mistakes_of_a_model_file_have_a_place() {
    let mistakes: Vec<String> = [
        "",
        "kind = ",
        "kind = \"openai\"\nbase_url = \"http://h/v1\"\napi_key = \"sk-1\"\n",
        "kind = \"openai\"\nbase_url = 3\n",
        "kind = \"openai\"\nbase_url = \"http://h/v1\"\n[limits]\ntimeout_sec = 3\n",
        "kind = \"llama\"\nbase_url = \"http://h\"\napi_key_env = \"UNSET\"\nmodel = \"\"\n[limits]\ntimeout_secs = -1\n\
         total_secs = nan\n[parameters]\ntop_p = 1.5\nmax_output_tokens = 0\n[extra]\ntemperature = 1\nwhen = 2020-01-01\n",
        "kind = \"openai\"\nbase_url = \"http://h/v1\"\n[parameters]\nmax_output_tokens = 9\ncontext_tokens = 9\nstop = [\"<end>\", \"def\"]\n",
    ]
    .into_iter()
    .map(|text| format!("{text}\n--> {}\n", load(text).unwrap_err()))
    .collect();
    insta::assert_snapshot!(mistakes.join("\n"));
    let unknown = load_model("locale", None, nothing_is_set).unwrap_err().to_string();
    insta::assert_snapshot!(unknown, @"no model `locale` is built in (did you mean `local`?); there are local; a file's name ends in .toml");
    assert!(load_model("nowhere.toml", None, nothing_is_set).unwrap_err().to_string().starts_with("nowhere.toml: "));
}
