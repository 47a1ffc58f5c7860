//! Folders of trace files, and the command run in them.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Output,
    sync::Arc,
};

use assert_cmd::Command;
use rolecall::{
    conversation::ConversationRecord,
    telemetry::{Look, Projection, ReadTrace, TraceOptions, Traces, show},
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{
    stage,
    support::{seidr, task},
    telemetry::files::tell,
};

/// A folder with `traces` in it.
pub struct Scene {
    pub folder: tempfile::TempDir,
}

impl Scene {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("traces")).unwrap();
        Self { folder }
    }

    /// Writes a conversation's file as a run does.
    pub fn write(&self, record: &ConversationRecord) -> PathBuf {
        self.write_with(record, false)
    }

    /// The same, with or without content.
    pub fn write_with(&self, record: &ConversationRecord, content: bool) -> PathBuf {
        let mut options = TraceOptions::new(self.folder.path().join("traces"));
        options.projection = Projection { content, context: None };
        tell(&Traces::open(record.head.run, options), record)
    }

    /// Keeps the first `lines` lines of a file, and so many bytes of the next.
    pub fn cut(file: &Path, lines: usize, bytes: usize) {
        let text = fs::read_to_string(file).unwrap();
        let all: Vec<&str> = text.lines().collect();
        let half = all.get(lines).map_or("", |line| &line[..bytes]);
        fs::write(file, all[..lines].join("\n") + "\n" + half).unwrap();
    }

    /// `rolecall trace …` in the folder, without a collector.
    pub fn run(&self, arguments: &[&str]) -> Output {
        self.run_with(arguments, &[])
    }

    /// The same with variables of the environment.
    pub fn run_with(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
        let mut command = Command::cargo_bin("rolecall").unwrap();
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("OTEL_")) {
            command.env_remove(name);
        }
        command.current_dir(&self.folder).arg("trace").args(arguments).envs(variables.iter().copied());
        command.output().unwrap()
    }

    /// The stdout of a command that must succeed.
    pub fn stdout(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    /// The objects that a command prints.
    pub fn json(&self, arguments: &[&str]) -> Vec<Value> {
        let all: Vec<&str> = arguments.iter().copied().chain(["--json"]).collect();
        self.stdout(&all).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// A page of `trace show`, as a pipe gets it.
pub fn page(text: &str) -> String {
    show(&ReadTrace::read(text.as_bytes()).unwrap(), false, Look::default())
}

/// A real conversation, held on the stage.
pub fn held(seed: u64, sample: u32, programs: u32) -> ConversationRecord {
    stage::on_stage(async move {
        let company = stage::company(seidr(3, 2, programs), stage::talkative(), stage::MadeUpSandbox::by_text(), None);
        let mut assignment = stage::assignment(task(4, Some("def f(x):\n    return 0\n")), sample);
        assignment.seed = seed;
        rolecall::conversation::hold(company, assignment, CancellationToken::new()).await.unwrap()
    })
}

/// A span of a hand-made file: id, parent (0: none), name and attributes.
pub fn span(own: usize, parent: usize, name: &str, attributes: &[(&str, Value)]) -> Value {
    let attribute = |(key, value): &(&str, Value)| {
        let value = match value {
            Value::String(text) => json!({"stringValue": text}),
            Value::Bool(flag) => json!({"boolValue": flag}),
            Value::Number(number) if number.is_f64() => json!({"doubleValue": number}),
            other => json!({"intValue": other.to_string()}),
        };
        json!({"key": key, "value": value})
    };
    json!({
        "traceId": "0".repeat(31) + "1", "spanId": format!("{own:016x}"),
        "parentSpanId": if parent == 0 { String::new() } else { format!("{parent:016x}") },
        "name": name, "startTimeUnixNano": "1", "endTimeUnixNano": "2000",
        "attributes": attributes.iter().map(attribute).collect::<Vec<_>>(),
    })
}

/// A line of a file with these spans of one service.
pub fn line(service: &str, spans: &[Value]) -> String {
    let resource = json!({"attributes": [{"key": "service.name", "value": {"stringValue": service}}]});
    json!({"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": spans}]}]}).to_string() + "\n"
}

/// An open trace of a run: what a conversation has written while it goes on.
pub fn begun(scene: &Scene, record: &ConversationRecord) -> rolecall::telemetry::ConversationTrace {
    let options = TraceOptions::new(scene.folder.path().join("traces"));
    let traces = Traces::open(record.head.run, options);
    let mut trace = traces.conversation(Arc::new(record.head.clone()));
    trace.started();
    trace
}
