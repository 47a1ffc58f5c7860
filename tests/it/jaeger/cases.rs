//! Published faults of tracing, each tried on conversations whose traces go to a real Jaeger.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    sync::Arc,
    time::{Duration, Instant},
};

use rolecall::{
    conversation::{Assignment, Company, ConversationRecord, Outcome, hold},
    llm::scripted::{Line, Scripted},
    sandbox::SandboxError,
    telemetry::{Endpoint, Projection, TraceOptions, Traces, project},
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{
    api::SeenSpan,
    binary::{command, ended},
    gate::{Gate, Manner},
    play::{Run, files_below, pushed, spans_of, written},
    server::{Jaeger, LIMIT, Site},
};
use crate::{
    cli::text,
    openai::server::{Server, answer},
    stage::{MadeUpSandbox, assignment, company, on_stage, talkative},
    support::{seidr, task},
    telemetry::files::tell,
};

const CAST: [&str; 6] = ["rolecall", "synthesizer", "executor", "ranker", "instructor", "debugger"];

fn services(spans: &[SeenSpan]) -> BTreeSet<&str> {
    spans.iter().map(|span| span.service.as_str()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t31_the_spans_of_every_role_arrive_however_a_run_ends() {
    let refusing = Server::start(vec![answer(401, "", r#"{"error":{"message":"no"}}"#)]).await;
    let look = move || {
        let site = &Jaeger::shared().site;
        for (arguments, code, outcome, cast) in [
            (["--topology", "self_debug", "--budget", "programs=200"], 0, "tests_passed", 3),
            (["--topology", "seidr", "--budget", "programs=2"], 0, "budget_programs", 5),
            (["--topology", "self_debug", "--model", "openai:m"], 4, "failed", 3),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let mut command = command(folder.path(), &site.otlp_url(), &arguments);
            command.env("OPENAI_BASE_URL", &refusing.base_url).env("OPENAI_API_KEY", "k");
            let output = command.output().unwrap();
            let said = text(&output.stderr);
            let (ids, run) = ended(&output);
            assert_eq!(output.status.code(), Some(code), "{said}");
            let seen = site.trace(&ids[0]);
            assert_eq!(seen.len(), written(&files_below(folder.path()))[&ids[0]], "{said}");
            let root = seen.iter().find(|span| span.parent.is_none()).unwrap();
            assert_eq!((root.tag("rolecall.outcome"), services(&seen).len()), (outcome, cast), "{:?}", services(&seen));
            assert_eq!((&run["traces"]["waiting"], &run["traces"]["lost"]), (&json!(0), &json!(0)));
        }
    };
    tokio::task::spawn_blocking(look).await.unwrap();
}

#[test]
fn t31_a_collector_that_never_answers_costs_one_limit_however_many_roles_wait() {
    let site = &Jaeger::shared().site;
    let gate = Gate::before(site, Manner::Silence);
    let run = Run::to(Some(Endpoint::at(format!("{}/v1/traces", gate.url).parse().unwrap())));
    let record = run.hold(seidr(2, 4, 12), talkative(), 1).remove(0);
    let begin = Instant::now();
    let summary = run.finish_within(Duration::from_secs(1));
    let spans = spans_of(&record) as u64;
    assert_eq!((summary.written, summary.acknowledged, summary.waiting()), (spans, 0, spans));
    // Far from six services times the ten seconds of a request.
    assert!(begin.elapsed() < Duration::from_secs(30), "{:?}", begin.elapsed());
    assert!(summary.words().unwrap().contains("not delivered"), "{summary:?}");
    assert_eq!(pushed(&run.files(), site.endpoint(), LIMIT).acknowledged, spans);
    let seen = site.trace(&record.head.id.trace_id());
    assert_eq!((seen.len() as u64, services(&seen)), (spans, CAST.into()));
}

#[test]
fn t32_the_end_of_a_run_delivers_on_a_runtime_of_one_thread() {
    let site = &Jaeger::shared().site;
    let record = Run::to(None).hold(seidr(2, 4, 6), talkative(), 1).remove(0);
    for (index, endpoint) in [site.endpoint(), site.grpc_endpoint()].into_iter().enumerate() {
        for (more, mut builder) in
            [tokio::runtime::Builder::new_current_thread(), tokio::runtime::Builder::new_multi_thread()]
                .into_iter()
                .enumerate()
        {
            let mut record = record.clone();
            record.head.id.0 = uuid::Uuid::from_u128(0x32_0000 + (index * 2 + more) as u128);
            let folder = tempfile::tempdir().unwrap();
            let options = TraceOptions { endpoint: Some(endpoint.clone()), ..TraceOptions::new(folder.path()) };
            let summary = builder.worker_threads(1).enable_all().build().unwrap().block_on(async {
                let traces = Traces::open(record.head.run, options);
                tell(&traces, &record);
                traces.finish(LIMIT)
            });
            assert_eq!((summary.waiting(), summary.refused), (0, 0), "{summary:?}");
            assert_eq!(site.trace(&record.head.id.trace_id()).len(), spans_of(&record));
        }
    }
}

#[test]
fn t37_long_content_is_cut_between_characters_and_stays_json() {
    let site = &Jaeger::shared().site;
    let long = "aaaaaaaaa🌍\u{202e}\n".repeat(12_000);
    let model = Scripted::with(move |request, _| {
        let reply = format!("\u{0}\u{202e}{long}\n```python\ndef f(x): return {}\n```", request.seed);
        Line::say_all((0..request.choices).map(|_| reply.clone()))
    });
    let record = Run::to(None).hold(seidr(1, 1, 2), Arc::new(model), 1).remove(0);
    let folder = tempfile::tempdir().unwrap();
    let options = TraceOptions {
        projection: Projection { content: true, context: None },
        endpoint: Some(site.endpoint()),
        ..TraceOptions::new(folder.path())
    };
    let traces = Traces::open(record.head.run, options);
    tell(&traces, &record);
    assert_eq!(traces.finish(LIMIT).waiting(), 0);
    let seen = site.trace(&record.head.id.trace_id());
    let mut looked_at = 0;
    for span in &seen {
        for key in ["gen_ai.output.messages", "gen_ai.input.messages", "gen_ai.tool.call.arguments"] {
            let content = span.tag(key);
            if content.is_empty() {
                continue;
            }
            assert!(content.len() <= 64 << 10, "{} bytes", content.len());
            let _: Value = serde_json::from_str(content).unwrap_or_else(|error| panic!("{error}: {}", span.name));
            if content.len() > 10_000 {
                assert_eq!(span.tag("rolecall.truncated"), "true", "{} {key}", span.name);
                looked_at += 1;
            }
        }
        if span.name == "execute_tool run_tests" {
            assert_eq!(span.tag("rolecall.program_hash").len(), 64, "what it is a part of");
        }
    }
    assert!(looked_at >= 2, "{looked_at}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t48_sending_spans_makes_none_whatever_is_logged() {
    let told = |log: &'static str| async move {
        let reply = json!({
            "choices": [{ "message": { "content": "```python\nprint(1)\n```" }, "finish_reason": "stop" }],
            "usage": { "prompt_tokens": 10, "completion_tokens": 5 },
        });
        let server = Server::start(vec![answer(200, "", reply.to_string()); 3]).await;
        let look = move || {
            let site = &Jaeger::shared().site;
            let folder = tempfile::tempdir().unwrap();
            let arguments = ["--topology", "self_debug", "--model", "openai:m", "--budget", "programs=2"];
            let output = command(folder.path(), &site.otlp_url(), &arguments)
                .env("OPENAI_BASE_URL", &server.base_url)
                .env("OPENAI_API_KEY", "sk-SENTINEL-of-the-log")
                .env("RUST_LOG", log)
                .output()
                .unwrap();
            let (ids, _) = ended(&output);
            let said = text(&output.stderr);
            let seen = site.trace(&ids[0]);
            assert!(!said.contains("SENTINEL") && !format!("{seen:?}").contains("SENTINEL"), "{said}");
            (seen.len(), seen.iter().map(|span| span.name.clone()).collect::<BTreeSet<_>>(), said.lines().count())
        };
        tokio::task::spawn_blocking(look).await.unwrap()
    };
    let (quiet, loud) = (told("off").await, told("trace").await);
    assert_eq!(quiet, loud);
    assert!(quiet.0 >= 8, "{quiet:?}");
}

/// Keys and types of the attributes of a trace's `chat` spans, as Jaeger stores them.
fn chat_tags(site: &Site, trace: &str) -> BTreeMap<String, String> {
    let answer = site.ask(&format!("/api/traces/{trace}"));
    let mut spans = answer["data"][0]["spans"].as_array().unwrap().iter();
    let chat = spans.find(|span| span["operationName"].as_str().unwrap().starts_with("chat ")).unwrap();
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    chat["tags"].as_array().unwrap().iter().map(|tag| (word(&tag["key"]), word(&tag["type"]))).collect()
}

#[test]
fn t49_a_chat_span_says_the_same_in_both_vocabularies() {
    let site = &Jaeger::shared().site;
    let run = Run::to(Some(site.endpoint()));
    let record = run.hold(seidr(1, 1, 2), talkative(), 1).remove(0);
    run.finish();
    let id = record.head.id.trace_id();
    let tags = chat_tags(site, &id);
    for (ours, theirs, kind) in [
        ("gen_ai.provider.name", "llm.provider", "string"),
        ("gen_ai.request.model", "llm.model_name", "string"),
        ("gen_ai.usage.input_tokens", "llm.token_count.prompt", "int64"),
        ("gen_ai.usage.output_tokens", "llm.token_count.completion", "int64"),
        ("gen_ai.conversation.id", "session.id", "string"),
        ("gen_ai.agent.name", "agent.name", "string"),
    ] {
        assert_eq!((tags[ours].as_str(), tags[theirs].as_str()), (kind, kind), "{ours}");
    }
    // Six facts are said twice, the kind is theirs alone, and nothing else is theirs.
    let theirs = tags
        .keys()
        .filter(|key| ["llm.", "session.", "agent.", "openinference."].iter().any(|prefix| key.starts_with(prefix)));
    assert_eq!(theirs.count(), 7, "{tags:?}");
    for span in site.trace(&id).iter().filter(|span| span.name.starts_with("chat ")) {
        assert_eq!(span.tag("openinference.span.kind"), "LLM");
        for (ours, theirs) in
            [("gen_ai.usage.input_tokens", "llm.token_count.prompt"), ("gen_ai.request.model", "llm.model_name")]
        {
            assert_eq!(span.tag(ours), span.tag(theirs));
        }
    }
    let root = site.trace(&id).into_iter().find(|span| span.parent.is_none()).unwrap();
    assert_eq!((root.tag("input.value"), root.tag("output.value")), ("t", root.tag("rolecall.outcome")));
    let text = fs::read_to_string(&run.files()[0]).unwrap();
    for line in text.lines() {
        let request: Value = serde_json::from_str(line).unwrap();
        for resource in request["resourceSpans"].as_array().unwrap() {
            let url = resource["schemaUrl"].as_str().unwrap();
            assert!(url.starts_with("https://opentelemetry.io/schemas/"), "{url}");
        }
    }
}

/// A conversation as Jaeger has it after its spans were delivered.
fn sent(record: &ConversationRecord) -> Vec<SeenSpan> {
    let site = &Jaeger::shared().site;
    let folder = tempfile::tempdir().unwrap();
    let options = TraceOptions { endpoint: Some(site.endpoint()), ..TraceOptions::new(folder.path()) };
    let traces = Traces::open(record.head.run, options);
    tell(&traces, record);
    assert_eq!(traces.finish(LIMIT).waiting(), 0);
    site.trace(&record.head.id.trace_id())
}

#[test]
fn a_sandbox_that_fails_is_an_error_where_it_failed_and_at_the_root() {
    let record = on_stage(async {
        let broken = || std::io::Error::other("no more processes");
        let sandbox =
            MadeUpSandbox::new(move |_| Err(SandboxError::Io { during: "starting a program", source: broken() }));
        let assignment = Assignment { run: rolecall::ids::RunId::new(), ..assignment(task(5, None), 0) };
        let company = company(seidr(1, 1, 4), talkative(), sandbox, None);
        hold(company, assignment, CancellationToken::new()).await.unwrap()
    });
    assert_eq!(record.end.outcome, Outcome::Failed);
    let seen = sent(&record);
    let failed = seen.iter().filter(|span| span.failed());
    let failed: BTreeSet<(&str, bool)> =
        failed.map(|span| (span.name.as_str(), span.tag("error.type").is_empty())).collect();
    assert_eq!(failed, [("execute_tool run_tests", false), ("invoke_workflow test", false)].into());
    let root = seen.iter().find(|span| span.parent.is_none()).unwrap();
    assert!(root.tag("rolecall.outcome_detail").contains("no more processes"), "{:?}", root.tags);
}

#[test]
fn t50_what_is_cancelled_ends_when_it_was_cancelled_and_says_so() {
    let model = Arc::new(Scripted::with(|request, _| {
        if request.purpose == rolecall::llm::Purpose::Repair {
            return Line::say("late").delay(Duration::from_secs(600));
        }
        Line::say_all((0..request.choices).map(|choice| format!("```python\ndef f(x): return {choice}\n```")))
    }));
    let record = on_stage(async move {
        let asked = model.clone();
        let company: Arc<Company> = company(seidr(1, 4, 20), model, MadeUpSandbox::by_text(), None);
        let stop = CancellationToken::new();
        let assignment = Assignment { run: rolecall::ids::RunId::new(), ..assignment(task(5, None), 0) };
        let conversation = hold(company, assignment, stop.clone());
        let interrupt = async {
            while !asked.requests().iter().any(|request| request.purpose == rolecall::llm::Purpose::Repair) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            stop.cancel();
        };
        let (record, ()) = futures_util::future::join(conversation, interrupt).await;
        record.unwrap()
    });
    assert_eq!(record.end.outcome, Outcome::Cancelled);
    let told = project(&record, Projection::default());
    let seen = sent(&record);
    assert_eq!(seen.len(), told.len());
    let root = seen.iter().find(|span| span.parent.is_none()).unwrap();
    assert_eq!(root.tag("rolecall.outcome"), "cancelled");
    for name in ["chat scripted", "invoke_agent debugger"] {
        let cancelled: Vec<&SeenSpan> =
            seen.iter().filter(|span| span.name == name && span.service == "debugger").collect();
        assert!(!cancelled.is_empty(), "{name}");
        for span in cancelled {
            assert_eq!((span.tag("rolecall.ended_by"), span.failed()), ("cancelled", false), "{name} {:?}", span.tags);
            assert!(span.microseconds <= root.microseconds, "{name}");
        }
    }
    assert!(seen.iter().all(|span| span.warnings.is_empty()));
    assert!(services(&seen).is_subset(&CAST.into()));
    // Kept or dropped, it is what was written down: the record alone makes the spans.
    let kept = record.clone();
    drop(record);
    assert_eq!(project(&kept, Projection::default()), told);
}
