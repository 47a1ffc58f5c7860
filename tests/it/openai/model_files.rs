//! Model files: what is read from them, and what is wrong with them.

use std::fs;

use rolecall::{
    config::{MODEL_KEYS, load_model},
    llm::{
        Parameters, SeedRule, Temperature,
        http::PaceLimits,
        openai::{Api, ApiKey, OpenAiSettings, PromptTemplate},
    },
};
use serde_json::json;

fn nothing_is_set(_: &str) -> Option<String> {
    None
}

/// Loads `text` as `m.toml`; messages name the file alone.
fn load(text: &str) -> Result<OpenAiSettings, String> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("m.toml"), text).unwrap();
    load_model("m.toml", Some(folder.path()), |name| match name {
        "K" => Some("sk-SENTINEL".to_owned()),
        "U" => Some(" http://a/v1, http://b/v1 ".to_owned()),
        _ => None,
    })
    .map_err(|error| error.to_string().replace(&format!("{}/", folder.path().display()), ""))
}

#[test]
fn the_shipped_model_works_and_says_what_the_defaults_say() {
    let local = load_model("local", None, nothing_is_set).unwrap();
    let mut expected = OpenAiSettings::new("local", "http://127.0.0.1:8080/v1");
    expected.parameters.temperature = Some(0.8.into());
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
        api = "completions"
        prompt_template = "{{ messages[0].content }}"
        stream = true
        limits = { timeout_secs = 1, total_secs = 2.5, max_retries = 3, backoff_secs = 0.25, connect_secs = 4, first_token_secs = 5, idle_secs = 6, concurrency = 7, requests_per_minute = 8, tokens_per_minute = 9 }
        extra = { guided = 40, nested = { a = [1, 2.5, true] } }
        [parameters]
        temperature = [0, 0.5]
        top_p = 0.5
        top_k = 40
        min_p = 0.05
        repetition_penalty = 1.1
        presence_penalty = -2
        frequency_penalty = 2
        min_output_tokens = 7
        max_output_tokens = 7
        context_tokens = 90
        stop = ["<END>"]
        response_schema = '{"type":"object","properties":{"answer":{"type":"string"}}}'
        logprobs = true
        seed = "none"
        "#,
    )
    .unwrap();
    assert_eq!(settings.api_key, ApiKey::new("sk-SENTINEL"));
    assert!(!format!("{settings:?}").contains("SENTINEL"));
    assert_eq!((settings.model.as_deref(), settings.base_url.as_str()), (Some("m $HOME"), "https://h/v1"));
    assert_eq!((settings.timeout_secs, settings.total_secs, settings.backoff_secs), (1.0, 2.5, 0.25));
    assert_eq!((settings.connect_secs, settings.first_token_secs, settings.idle_secs), (4.0, 5.0, 6.0));
    let pace = PaceLimits { concurrency: 7, requests_per_minute: Some(8), tokens_per_minute: Some(9) };
    assert_eq!(settings.pace, pace);
    let template = PromptTemplate::parse("{{ messages[0].content }}").unwrap();
    assert_eq!((&settings.api, settings.stream), (&Api::Completions(template), true));
    assert_eq!((settings.max_retries, settings.max_tokens_field.as_str()), (3, "max_completion_tokens"));
    let expected = Parameters {
        temperature: Some(Temperature::ByChoice(vec![0.0, 0.5])),
        top_p: Some(0.5),
        top_k: Some(40),
        min_p: Some(0.05),
        repetition_penalty: Some(1.1),
        presence_penalty: Some(-2.0),
        frequency_penalty: Some(2.0),
        min_output_tokens: Some(7),
        max_output_tokens: Some(7),
        context_tokens: Some(90),
        stop: vec!["<END>".to_owned()],
        response_schema: Some(r#"{"type":"object","properties":{"answer":{"type":"string"}}}"#.to_owned()),
        logprobs: Some(true),
        seed: Some(SeedRule::None),
    };
    assert_eq!(settings.parameters, expected);
    assert_eq!(serde_json::Value::Object(settings.extra), json!({"guided": 40, "nested": {"a": [1, 2.5, true]}}));
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
        "kind = \"openai\"\nbase_url = \"http://h/v1\"\nmax_tokens_field = \"max_new\"\n[parameters]\ntemperature = [1, -1]\n\
         repetition_penalty = 0\nmin_output_tokens = 9\nmax_output_tokens = 8\nseed = \"none at all\"\nlogprobs = 5\n\
         [extra]\nprompt = 1\nmax_new = 1\ntop_k = 40\nmin_tokens = 3\nfree = 1\n",
        "kind = \"openai\"\nbase_url = []\n",
        "kind = \"openai\"\nbase_url = \"http://h/v1\"\ngpus = -1\n[price]\ninput_per_million = 0.15\n",
        "kind = \"openai\"\nbase_url = \"http://h/v1\"\n[price]\ninput_per_million = 1e-10\noutput_per_million = -3\n\
         currency = \"usd\"\ncached = 1\n",
        "kind = \"openai\"\nbase_url_env = \"UNSET\"\n",
        "kind = \"openai\"\nbase_url_env = \"U\"\nbase_url = \"http://h/v1\"\n",
        "kind = \"openai\"\nbase_url = [\"http://h/v1\", \"http://i\", \"http://h/v1\"]\n",
        "kind = \"openai\"\nbase_url = \"http://h/v1/completions\"\nprompt_template = \"x\"\n[limits]\nidle_secs = 3\n",
        "kind = \"openai\"\nbase_url = \"http://h/v1\"\napi = \"completions\"\nprompt_template = \"{{ prompt }}\"\n",
    ]
    .into_iter()
    .map(|text| format!("{text}\n--> {}\n", load(text).unwrap_err()))
    .collect();
    insta::assert_snapshot!(mistakes.join("\n"));
    let unknown = load_model("locale", None, nothing_is_set).unwrap_err().to_string();
    insta::assert_snapshot!(unknown, @"no model `locale` is built in (did you mean `local`?); there are local; a file's name ends in .toml");
    assert!(load_model("nowhere.toml", None, nothing_is_set).unwrap_err().to_string().starts_with("nowhere.toml: "));
}

#[test]
fn the_document_names_every_key() {
    let manual = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/models.md")).unwrap();
    for key in MODEL_KEYS {
        let name = key.path.rsplit('.').next().unwrap();
        assert!(manual.contains(&format!("`{name}`")), "docs/models.md says nothing of `{}`", key.path);
    }
}

#[test]
fn several_servers_may_serve_one_model() {
    let settings = load("kind = \"openai\"\nbase_url = [\"http://a/v1\", \"http://b/v1\"]\n").unwrap();
    assert_eq!((settings.base_url.as_str(), &settings.replicas), ("http://a/v1", &vec!["http://b/v1".to_owned()]));
    let named = load("kind = \"openai\"\nbase_url_env = \"U\"\n").unwrap();
    assert_eq!((named.base_url, named.replicas), (settings.base_url, settings.replicas));
}
