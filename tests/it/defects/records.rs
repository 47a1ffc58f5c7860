//! Defects in what is counted, kept, shown as solved and written down.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
};

use rolecall::{
    conversation::{ConversationRecord, Outcome, hold},
    domain::{HiddenTests, TestSuite, Verdict},
    llm::{
        Purpose,
        scripted::{Line, Scripted},
    },
    messages::{ExecutionReport, Message},
    runtime::{CallRecord, NoteValue},
    sandbox::Sandbox,
    telemetry::{Projection, project},
    topology::Duplicates,
};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::{
    cli::{self, EASY, events, text},
    examples::task_files,
    openai::server::{Server, answer},
    stage::{MadeUpSandbox, assignment, company, hold_all, on_stage, talkative},
    support::{chain, judgement, node, seidr, task},
};

fn calls(record: &ConversationRecord) -> impl Iterator<Item = &CallRecord> {
    record.turns.iter().flat_map(|turn| &turn.attempts).flat_map(|attempt| &attempt.log.calls)
}

fn reports(record: &ConversationRecord) -> Vec<Arc<ExecutionReport>> {
    let executor = record.turns.iter().filter(|turn| turn.role == "executor");
    let said = executor.flat_map(|turn| turn.messages());
    said.filter_map(|message| if let Message::ExecutionReport(report) = message { Some(report.clone()) } else { None })
        .collect()
}

#[test]
fn defect_10_programs_calls_tokens_and_time_are_all_counted() {
    on_stage(async {
        let model = talkative();
        let company_of = |plan| company(plan, model.clone(), MadeUpSandbox::by_text(), None);
        let record = hold_all(&company_of(seidr(2, 4, 9)), &task(5, None), 1, 1).await.remove(0);
        let (end, requests) = (&record.end, model.requests());
        let diagnoses = requests.iter().filter(|request| request.purpose == Purpose::Diagnose).count();
        assert!(diagnoses > 1, "the budget of a diagnosis is what went uncounted");
        let made = u32::try_from(requests.len()).unwrap();
        assert_eq!((end.spend.programs, end.spend.model_calls), (9, made));
        assert_eq!((end.spend.input_tokens, end.spend.output_tokens), (10 * u64::from(made), 5 * u64::from(made)));
        assert_eq!(calls(&record).count(), requests.len());
        // Every call lies within the conversation, whose time is what the summary says.
        for call in calls(&record) {
            assert!(record.head.started_ns <= call.started_ns && call.started_ns <= call.ended_ns);
            assert!(call.ended_ns <= end.ended_ns);
        }
        // And each of them is a budget that diagnoses count against.
        let mut plan = seidr(2, 4, 100);
        plan.budget.model_calls = Some(3);
        let record = hold_all(&company_of(plan), &task(5, None), 1, 1).await.remove(0);
        assert_eq!((record.end.outcome, record.end.spend.model_calls), (Outcome::BudgetModelCalls, 3));
        let purposes: Vec<Purpose> = calls(&record).map(|call| call.purpose).collect();
        assert!(purposes.contains(&Purpose::Diagnose), "{purposes:?}");
        let mut plan = seidr(2, 4, 100);
        plan.budget.wall_secs = Some(0.0);
        let record = hold_all(&company_of(plan), &task(5, None), 1, 1).await.remove(0);
        assert_eq!(record.end.outcome, Outcome::BudgetWall);
    });
}

#[test]
fn defect_11_every_sample_keeps_its_own_record() {
    on_stage(async {
        let company = company(chain(1, 4, 3), talkative(), MadeUpSandbox::by_text(), None);
        let records = hold_all(&company, &task(5, None), 5, 5).await;
        let samples: Vec<u32> = records.iter().map(|record| record.head.sample).collect();
        assert_eq!(samples, [0, 1, 2, 3, 4]);
        let ids: BTreeSet<String> = records.iter().map(|record| record.head.id.to_string()).collect();
        assert_eq!(ids.len(), 5);
        let programs: BTreeSet<String> =
            records.iter().map(|record| reports(record)[0].candidate.program.as_ref().unwrap().text.clone()).collect();
        assert_eq!(programs.len(), 5, "each is a conversation of its own");
    });
    let folder = tempfile::tempdir().unwrap();
    let traces = folder.path().display().to_string();
    let budget = ["--samples", "3", "--budget", "programs=2", "--seed", "1", "--traces", &traces, "--json"];
    let output = cli::run(&[&["run", "--topology", "self_debug", "--task", EASY][..], &budget].concat());
    let mut events = events(&output);
    assert_eq!(events.pop().unwrap()["conversations"], 3, "{}", text(&output.stderr));
    let distinct = |key: &str| events.iter().map(|event| event[key].to_string()).collect::<BTreeSet<_>>().len();
    assert_eq!((events.len(), distinct("sample"), distinct("conversation"), distinct("trace")), (3, 3, 3, 3));
    for event in &events {
        let trace = std::fs::read_to_string(event["trace"].as_str().unwrap()).unwrap();
        let id = event["conversation"].as_str().unwrap().replace('-', "");
        assert!(trace.contains(&id) && trace.lines().all(|line| line.contains(&id)), "{}", event["trace"]);
    }
}

#[test]
fn defect_13_the_best_program_is_the_result_and_not_the_last() {
    on_stage(async {
        // Two of three tests, then one, then two again: the earliest of the best is the result.
        let scores = BTreeMap::from([("return 1", 2), ("return 2", 1), ("return 3", 2)]);
        let asked = ["return 1", "return 2", "return 3"].map(|line| format!("```python\ndef f(x):\n    {line}\n```"));
        let graded: Arc<Mutex<Vec<String>>> = Arc::default();
        let seen = graded.clone();
        let sandbox = MadeUpSandbox::new(move |job| {
            let (_, passed) = scores.iter().find(|(line, _)| job.program.text.contains(**line)).unwrap();
            if job.tests.len() == 7 {
                seen.lock().unwrap().push(job.program.text.clone());
                return Ok(judgement(&[true; 7]));
            }
            Ok(judgement(&(0..job.tests.len()).map(|test| test < *passed).collect::<Vec<_>>()))
        });
        let company = company(chain(1, 1, 3), teaching(asked), sandbox, None);
        let mut assignment = assignment(task(3, None), 0);
        let hidden: TestSuite = TestSuite::clone(&task(7, None).visible);
        Arc::make_mut(&mut assignment.problem).hidden = Some(HiddenTests::new(hidden));
        let record = hold(company, assignment, CancellationToken::new()).await.unwrap();

        let reports = reports(&record);
        let judged: Vec<f64> = reports.iter().map(|report| report.judgement.score()).collect();
        assert_eq!(judged, [2.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0]);
        assert_eq!((record.end.best, record.end.best_score), (Some(reports[0].candidate.id), Some(2.0 / 3.0)));
        assert_eq!(*graded.lock().unwrap(), [reports[0].candidate.program.as_ref().unwrap().text.clone()]);
        assert_eq!((record.end.solved, record.end.hidden_verdict), (true, Some(Verdict::Passed)));
    });
}

/// Writes these programs one after the other; diagnoses are words.
fn teaching<const N: usize>(replies: [String; N]) -> Arc<Scripted> {
    let written = Mutex::new(replies.into_iter());
    Arc::new(Scripted::with(move |request, _| match request.purpose {
        Purpose::Diagnose => Line::say("It is wrong."),
        _ => Line::say(written.lock().unwrap().next().unwrap()),
    }))
}

const SOLVED: [(&str, &str, &str); 3] = [
    ("plus", "Give back x and one more.", "def f(x):\n    return x + 1\n"),
    ("twin", "Give back what is given.", "def f(x):\n    return x\n"),
    ("minus", "Give back x and one less.", "def f(x):\n    return x - 1\n"),
];

#[test]
fn defect_15_examples_come_from_a_named_split_and_never_hold_the_scored_task() {
    // The twin is the scored task under another name: its reference is the same.
    let (solved, scored) = (task_files(&SOLVED), task_files(&[("same", "Return the argument.", SOLVED[1].2)]));
    let folder = tempfile::tempdir().unwrap();
    let topology = folder.path().join("few_shot.toml").display().to_string();
    let arrangement = |split: &str, count: u32| {
        let text = format!(
            "model = \"openai:m\"\nedges = [{{ from = \"task\", to = \"a\" }}, {{ from = \"a\", to = \"b\" }}]\n\
             [actors.a]\nrole = \"synthesizer\"\n[actors.b]\nrole = \"executor\"\n[budget]\nprograms = 1\n\
             [examples]\nsplit = \"{split}\"\ncount = {count}\n"
        );
        std::fs::write(&topology, text).unwrap();
    };
    let [solved_path, scored_path, traces] =
        [solved.path(), scored.path(), folder.path()].map(|path| path.display().to_string());
    let run = |examples: &str, url: &str| {
        let options = ["--tasks", &scored_path, "--seed", "3", "--samples", "6", "--traces", &traces, "--json"];
        let from = ["run", "--topology", &topology, "--examples", examples];
        let mut command = cli::rolecall(&[&from[..], &options].concat());
        command.env("OPENAI_BASE_URL", url).env("OPENAI_API_KEY", "k");
        command
    };

    on_stage(async {
        let reply = json!({ "id": "a", "object": "chat.completion", "created": 1, "model": "m", "choices": [{ "index": 0,
            "message": { "role": "assistant", "content": "```python\ndef f(x):\n    return x\n```" }, "finish_reason": "stop" }] });
        let server = Server::start(vec![answer(200, "content-type: application/json\r\n", reply.to_string())]).await;
        arrangement("all", 2);
        let mut command = run(&solved_path, &server.base_url);
        let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let mut events = events(&output);
        events.pop();
        assert_eq!(events.len(), 6);
        for event in &events {
            let shown: BTreeSet<&str> =
                event["examples"].as_array().unwrap().iter().filter_map(|it| it.as_str()).collect();
            assert_eq!(shown, BTreeSet::from(["minus", "plus"]));
            let trace = std::fs::read_to_string(event["trace"].as_str().unwrap()).unwrap();
            assert!(trace.contains("rolecall.examples"), "{trace}");
        }
        let prompts: Vec<String> = server.seen().iter().map(|seen| seen.body["messages"].to_string()).collect();
        assert!(prompts.len() >= 6);
        for prompt in prompts.iter().filter(|prompt| prompt.contains("Return the argument.")) {
            assert!(prompt.contains("Give back x and one more.") && prompt.contains("return x + 1"), "{prompt}");
            assert!(!prompt.contains(SOLVED[1].1) && !prompt.contains("return x\\n"), "{prompt}");
        }
    });

    // What cannot be kept apart is refused before anything starts: no server answers here.
    let refused = |split: &str, count: u32, examples: &str| {
        arrangement(split, count);
        let output = run(examples, "http://127.0.0.1:1/v1").output().unwrap();
        assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(2), ""));
        text(&output.stderr)
    };
    let said = refused("all", 1, &scored_path);
    assert!(said.contains("the examples' split `all` holds task same, which this run scores"), "{said}");
    let said = refused("all", 3, &solved_path);
    assert!(said.contains("has 2 solved tasks in Python that may be shown with task same, and 3 are wanted"), "{said}");
    let said = refused("train", 1, &solved_path);
    assert!(said.contains("there is no split `train` of task files"), "{said}");
}

#[test]
fn defect_18_a_verdict_belongs_to_one_program_text() {
    on_stage(async {
        for duplicates in [Duplicates::Count, Duplicates::Skip] {
            let mut plan = seidr(3, 4, 40);
            plan.search.duplicates = duplicates;
            // Few texts, so that some come again.
            let model = Arc::new(Scripted::with(|request, _| {
                let text = |choice| format!("```python\ndef f(x):\n    return {}\n```", (request.seed + choice) % 25);
                Line::say_all((0..u64::from(request.choices)).map(text).collect::<Vec<_>>())
            }));
            let sandbox = MadeUpSandbox::by_text();
            let company = company(plan, model, sandbox.clone(), None);
            let record = hold_all(&company, &task(12, None), 1, 1).await.remove(0);
            let reports = reports(&record);
            let distinct: BTreeSet<_> = reports.iter().map(|report| report.candidate.id).collect();
            assert_eq!((reports.len(), distinct.len()), (40, 40), "a report for each program, also for each repair");
            let mut different = BTreeSet::new();
            for report in reports {
                let program = report.candidate.program.clone().unwrap();
                let job = rolecall::sandbox::Job::of(&task(12, None), program.clone(), task(12, None).visible);
                let fresh = sandbox.judge(&job, &CancellationToken::new()).await.unwrap();
                assert_eq!(*report.judgement, fresh, "the results of another text:\n{}", program.text);
                different.insert(format!("{:?}", fresh.tests.iter().map(|test| test.verdict).collect::<Vec<_>>()));
                if let Some(twin) = report.duplicate_of {
                    let twin = record.turns.iter().find(|turn| turn.seq == twin.seq).unwrap().messages();
                    let texts: Vec<_> = twin.iter().filter_map(|it| it.candidate()?.program.clone()).collect();
                    assert!(texts.iter().any(|text| text.normal_hash() == program.normal_hash()));
                }
            }
            assert!(different.len() > 3, "verdicts that are all the same would prove nothing");
        }
    });
}

#[test]
fn defect_19_a_record_carries_code_version_and_prompt_hashes() {
    on_stage(async {
        let mut plan = seidr(1, 4, 4);
        let stat = node("teller", "teacher", json!({ "instruction": "static" }));
        for _ in 0..2 {
            let company = company(plan.clone(), talkative(), MadeUpSandbox::by_text(), None);
            let record = hold_all(&company, &task(5, None), 1, 1).await.remove(0);
            let head = &record.head;
            assert_eq!(head.code_version, env!("CARGO_PKG_VERSION"));
            for node in &plan.nodes {
                for key in node.spec.prompts.iter().filter(|_| !node.spec.asks.is_empty()) {
                    let text = rolecall::config::embedded_file(&format!("prompts/{}.md", key.default)).unwrap();
                    let hash = blake3::hash(text.as_bytes()).to_hex().to_string();
                    assert_eq!(head.prompts[&format!("{}.{}", node.name, key.key)], hash);
                }
            }
            // Every call names the prompt that it was made with, and every program the hash of that prompt.
            for turn in &record.turns {
                for call in turn.attempts.iter().flat_map(|attempt| &attempt.log.calls) {
                    let used = call.prompt.as_ref().unwrap();
                    let expected = match call.purpose {
                        Purpose::Draft => ("synthesizer/draft", "draft"),
                        Purpose::Diagnose => ("instructor/bug_summary", "diagnose"),
                        _ => ("debugger/repair", "repair"),
                    };
                    assert_eq!(used.reference, expected.0);
                    assert_eq!(used.hash, head.prompts[&format!("{}.{}", turn.actor, expected.1)]);
                }
            }
            let spans = project(&record, Projection::default());
            let hash_of = |attributes: &[opentelemetry_proto::tonic::common::v1::KeyValue]| {
                attributes.iter().find(|one| one.key == "rolecall.prompt_hash").map(|one| format!("{:?}", one.value))
            };
            let mut written = 0;
            for event in spans.iter().flat_map(|span| &span.span.events).filter(|it| it.name == "rolecall.written") {
                written += 1;
                let hash = hash_of(&event.attributes).unwrap();
                assert!(head.prompts.values().any(|known| hash.contains(known.as_str())), "{hash}");
            }
            assert_eq!(written, 4);
            let chats = spans.iter().filter(|span| span.span.name.starts_with("chat "));
            assert!(chats.clone().count() > 0 && chats.clone().all(|span| hash_of(&span.span.attributes).is_some()));

            // A diagnosis without a model says whose words it has.
            for turn in record.turns.iter().filter(|turn| turn.actor.0 == "teller") {
                let notes = &turn.attempts[0].log.notes;
                let note = |key: &str| notes.iter().find(|note| note.key == key).map(|note| note.value.clone());
                assert_eq!(note("prompt"), Some(NoteValue::Text("teacher/static".to_owned())));
                assert_eq!(note("prompt_hash"), Some(NoteValue::Text(head.prompts["teller.static"].clone())));
            }
            // The second time the instructor is such a one.
            plan.nodes[3] = stat.clone();
        }
    });
}
