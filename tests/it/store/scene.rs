//! The built command on a store of its own, with a model server of this test.

use std::{
    collections::BTreeMap,
    fs,
    process::{Child, Command, Output, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;

use super::model_server::ModelServer;

pub struct Scene {
    pub folder: TempDir,
}

impl Scene {
    /// A folder with two tasks and the model file `m.toml` of this server.
    pub fn new(server: &ModelServer) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let scene = Self { folder };
        scene.model_file("m.toml", &server.base_url, "");
        for task in ["robot-walk.toml", "bank-ledger.toml"] {
            let from = format!("{}/examples/tasks/{task}", env!("CARGO_MANIFEST_DIR"));
            fs::create_dir_all(scene.folder.path().join("tasks")).unwrap();
            fs::copy(from, scene.folder.path().join("tasks").join(task)).unwrap();
        }
        scene
    }

    pub fn model_file(&self, name: &str, base_url: &str, more: &str) {
        let text = format!("kind = 'openai'\nbase_url = '{base_url}'\nmodel = 'm'\n{more}");
        fs::write(self.folder.path().join(name), text).unwrap();
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rolecall"));
        command.args(arguments).current_dir(self.folder.path()).stdin(Stdio::null());
        command.env("ROLECALL_STORE", self.folder.path().join("store")).env_remove("OTEL_EXPORTER_OTLP_ENDPOINT");
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Starts it and does not wait.
    pub fn start(&self, arguments: &[&str]) -> Child {
        self.command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// How many spans of each name the trace of each conversation has, beside those of calls in doubt.
    pub fn spans(&self, output: &Output) -> BTreeMap<(String, u64), BTreeMap<String, usize>> {
        let mut all = BTreeMap::new();
        for (key, event) in conversations(output) {
            let names: &mut BTreeMap<String, usize> = all.entry(key).or_default();
            let text = fs::read_to_string(self.folder.path().join(event["trace"].as_str().unwrap())).unwrap();
            for line in text.lines() {
                let request: Value = serde_json::from_str(line).unwrap();
                let scopes = request["resourceSpans"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .flat_map(|it| it["scopeSpans"].as_array().unwrap());
                for span in scopes.flat_map(|it| it["spans"].as_array().unwrap()) {
                    if !span.to_string().contains("at_most_tokens") {
                        *names.entry(span["name"].as_str().unwrap().to_owned()).or_default() += 1;
                    }
                }
            }
        }
        all
    }

    /// The runs of the store, the newest first.
    pub fn runs(&self) -> Vec<Value> {
        let output = self.run(&["runs", "list", "--json"]);
        assert_eq!(output.status.code(), Some(0), "{}", words(&output));
        String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

pub fn words(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The conversations that a run printed, by task and sample.
pub fn conversations(output: &Output) -> BTreeMap<(String, u64), Value> {
    let lines = String::from_utf8(output.stdout.clone()).unwrap();
    let events = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let conversations = events.filter(|event| event["event"] == "conversation_finished");
    conversations
        .map(|event| ((event["task"].as_str().unwrap().to_owned(), event["sample"].as_u64().unwrap()), event))
        .collect()
}

/// What does not depend on when and how a conversation was held.
pub fn results(output: &Output) -> BTreeMap<(String, u64), Value> {
    let mut all = conversations(output);
    for event in all.values_mut() {
        let fields = event.as_object_mut().unwrap();
        let paid = ["cost", "cost_saved", "currency", "calls_without_cost", "calls_in_doubt", "answers_from_cache"];
        let when = ["seconds", "conversation", "trace", "run", "started_ns", "ended_ns", "answers_resumed"];
        for provenance in paid.into_iter().chain(when) {
            assert!(fields.remove(provenance).is_some(), "{provenance}");
        }
    }
    all
}
