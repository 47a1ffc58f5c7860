//! Secrets reach no file, no trace and no output, wherever they were planted.

use std::{fs, path::Path, process::Stdio};

use serde_json::json;

use super::{
    gate::{Gate, Manner},
    play::{files_below, pushed},
    server::{Jaeger, LIMIT},
};
use crate::{
    cli::{EASY, events, rolecall, text},
    openai::server::{Server, answer},
};

/// Part of every secret.
const MARK: &str = "SENTINEL";
const KEY: &str = "sk-SENTINEL-of-the-model-file";
const OTHER_KEY: &str = "sk-SENTINEL-of-another-server";
const TOKEN: &str = "tok-SENTINEL-of-the-reward";
const HEADER: &str = "SENTINEL-of-the-collector";
const PASSWORD: &str = "SENTINEL-in-the-url";

/// A program that prints what it knows of its surroundings, on both streams.
const NOSY: &str = "```python
import os, sys
print('MARKED', dict(os.environ))
print('MARKED', dict(os.environ), open('/proc/self/environ').read(), file=sys.stderr)
```";

const CAST: &str = r#"
name = "watched"

[actors.synthesizer]
role = "synthesizer"
model = "model.toml"
settings = { drafts = 1 }

[actors.executor]
role = "executor"

[actors.critic]
role = "critic"
settings = { reward = "endpoint", endpoint = "REWARD/score", endpoint_env = "THE_TOKEN" }

[actors.debugger]
role = "debugger"
model = "model.toml"
settings = { repairs = 1 }

[[edges]]
from = "task"
to = "synthesizer"

[[edges]]
from = "synthesizer"
to = "executor"

[[edges]]
from = "executor"
to = "critic"

[[edges]]
from = "critic"
to = "debugger"

[[edges]]
from = "debugger"
to = "executor"

[budget]
programs = 4
"#;

fn everything_below(folder: &Path) -> String {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let said = |path: std::path::PathBuf| match path.is_dir() {
        true => everything_below(&path),
        false => String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned(),
    };
    entries.map(said).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a41_no_secret_is_stored_or_shown() {
    // Both servers quote the secret in an error that passes; the model does so again in one that ends the conversation.
    let reply = json!({
        "choices": [{ "message": { "content": NOSY }, "finish_reason": "stop" }],
        "usage": { "prompt_tokens": 10, "completion_tokens": 5 },
    });
    let quoted = |secret: &str| json!({ "error": { "message": format!("what is {secret}?"), "code": 7 } }).to_string();
    let model = Server::start(vec![
        answer(500, "", quoted(KEY)),
        answer(200, "", reply.to_string()),
        answer(200, "", reply.to_string()),
        answer(400, "", quoted(KEY)),
    ])
    .await;
    let reward = Server::start(vec![answer(500, "", quoted(TOKEN)), answer(200, "", r#"{"reward": 0.5}"#)]).await;
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, text: String| fs::write(folder.path().join(name), text).unwrap();
    put("cast.toml", CAST.replace("REWARD", &reward.base_url));
    put(
        "model.toml",
        format!(
            "kind = \"openai\"\nbase_url = \"{}\"\nmodel = \"m\"\napi_key_env = \"THE_KEY\"\n[limits]\nbackoff_secs = 0.01\n",
            model.base_url
        ),
    );
    let (cast, traces) = (folder.path().join("cast.toml"), folder.path().join("traces"));
    let into = traces.clone();
    let (output, gate) = tokio::task::spawn_blocking(move || {
        // The collector quotes its header while the run goes on, and is asked again by a push.
        let quoting = format!("who is Bearer {HEADER}?").into_bytes();
        let gate = Gate::before(&Jaeger::shared().site, Manner::Say("400 Bad Request", "text/plain", quoting));
        let output = rolecall(&["run", "--task", EASY, "--seed", "1", "--json"])
            .args(["--topology".as_ref(), cast.as_os_str(), "--traces".as_ref(), into.as_os_str()])
            .env("THE_KEY", KEY)
            .env("OPENAI_API_KEY", OTHER_KEY)
            .env("THE_TOKEN", TOKEN)
            .env("OTEL_EXPORTER_OTLP_ENDPOINT", gate.url.replace("http://", &format!("http://user:{PASSWORD}@")))
            .env("OTEL_EXPORTER_OTLP_HEADERS", format!("x-key=Bearer%20{HEADER}"))
            .env("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        (output, gate)
    })
    .await
    .unwrap();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    // Every secret was where it belongs: on the wire.
    let sent = |server: &Server| server.seen().iter().map(|seen| seen.head.clone()).collect::<String>();
    assert!(sent(&model).contains(KEY) && sent(&reward).contains(TOKEN), "{stderr}");
    assert!(gate.heads().concat().contains(HEADER));
    assert_eq!((model.seen().len(), reward.seen().len() >= 3), (4, true), "{stderr}");
    let conversation = events(&output)[0].clone();
    assert_eq!(conversation["outcome"], "failed");
    let files = everything_below(&traces);
    // What is searched holds what there is to find: the programs' output, and the errors that quoted a secret.
    let seen = tokio::task::spawn_blocking(move || {
        let site = &Jaeger::shared().site;
        let sent = pushed(&files_below(&traces), site.endpoint(), LIMIT);
        assert!(sent.written > 0 && sent.acknowledged == sent.written, "{sent:?}");
        let id = conversation["conversation"].as_str().unwrap().replace('-', "");
        format!("{}{}", site.ask(&format!("/api/traces/{id}")), site.ask(&format!("/api/v3/traces/{id}")))
    })
    .await
    .unwrap();
    assert!(files.contains("MARKED") && seen.contains("MARKED"), "{files}");
    assert!(files.contains("what is ") && stderr.contains("who is "), "{stderr}");
    for (place, said) in [("files", files), ("Jaeger", seen), ("stdout", stdout), ("stderr", stderr)] {
        let around = |at: usize| &said.as_bytes()[at.saturating_sub(60)..(at + 60).min(said.len())];
        let hit = said.find(MARK).map(|at| String::from_utf8_lossy(around(at)));
        assert_eq!(hit, None, "in {place}");
    }
}

#[test]
fn a41_a_key_in_a_model_file_is_a_mistake_that_does_not_show_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("model.toml");
    for line in [format!("api_key = \"{KEY}\""), format!("api_key_env = \"{KEY}\""), format!("api_key = \"{KEY}")] {
        fs::write(&file, format!("kind = \"openai\"\nbase_url = \"http://127.0.0.1:9/v1\"\n{line}\n")).unwrap();
        let arguments = ["run", "--topology", "self_debug", "--task", EASY, "--model", file.to_str().unwrap()];
        for extra in ["--json", "--explain"] {
            let output = rolecall(&arguments).arg(extra).output().unwrap();
            let said = text(&output.stderr) + &text(&output.stdout);
            assert!(!said.contains(MARK), "{said}");
            assert!(output.status.code() == Some(2) || extra == "--explain", "{said}");
        }
    }
}
