//! What a model is told: everything byte for byte, and nothing of the hidden tests.

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    process::Stdio,
    sync::{Arc, Mutex},
};

use rolecall::{
    conversation::{Assignment, hold},
    domain::{Assertion, FeedbackSet, HiddenTests, Problem, TestSuite, Verdict},
    llm::{ChatModel, Purpose, scripted::Line, scripted::Scripted},
};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::{
    openai::server::{Server, answer},
    stage::{MadeUpSandbox, assignment, company, hold_all, on_stage},
    support::{judgement, seidr, task},
};

/// Marks of every template language that comes to mind; none of them is ours to read.
const MARKS: &str = "{{ task }} {# {% raw %} ${HOME} $HOME {{ 7 * 7 }} {% include 'x' %} %(task)s {0} \\n";

#[test]
fn a04_braces_in_task_diagnosis_and_program_reach_the_next_prompt_byte_for_byte() {
    on_stage(async {
        let model = Arc::new(Scripted::with(|request, _| match request.purpose {
            Purpose::Diagnose => Line::say(format!("DIAGNOSIS {MARKS}")),
            _ => Line::say(format!("```python\ndef f(x):\n    return '''PROGRAM {MARKS} {}'''\n```", request.seed)),
        }));
        let mut task = task(5, None);
        task.statement = format!("STATEMENT {MARKS}");
        let shared: Arc<dyn ChatModel> = model.clone();
        let company = company(seidr(1, 1, 3), shared, MadeUpSandbox::by_text(), None);
        let record = hold_all(&company, &task, 1, 1).await.remove(0);
        assert_eq!(record.end.spend.programs, 3);
        let mut seen = BTreeMap::new();
        for request in model.requests() {
            let said: String = request.messages.iter().map(|message| message.content.as_str()).collect();
            assert!(said.contains(&format!("STATEMENT {MARKS}")), "{said}");
            if request.purpose != Purpose::Draft {
                assert!(said.contains(&format!("PROGRAM {MARKS}")), "{said}");
            }
            if request.purpose == Purpose::Repair {
                assert!(said.contains(&format!("DIAGNOSIS {MARKS}")), "{said}");
            }
            *seen.entry(request.purpose.name()).or_insert(0) += 1;
        }
        assert_eq!(seen.len(), 3, "{seen:?}");
    });
}

/// Every file below `folder`, as one text.
fn everything_in(folder: &Path) -> String {
    let mut text = String::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        if entry.path().is_dir() {
            text += &everything_in(&entry.path());
        } else {
            text += &String::from_utf8_lossy(&fs::read(entry.path()).unwrap());
        }
    }
    text
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a13_e47_hidden_and_validation_tests_are_in_no_prompt_trace_or_output() {
    // Passes what is visible and fails what is hidden, then there is a program that fails what is visible.
    for body in ["return n + 1 if n < 50 else 'WRONG'", "return n"] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("task.toml");
        fs::write(
            &file,
            "id = 'planted'\nlanguage = 'python'\nentry_point = 'f'\nstatement = 'Add one.'\n\
             starter = '''\ndef f(n):\n    return n - 1\n'''\n[visible]\ncode = '''\nassert f(1) == 2\n'''\n\
             [validation]\ncode = '''\nassert f(123454) == 123455, 'VALIDATION'\n'''\n\
             [hidden]\ncode = '''\nassert f(987654) == 987655, 'SENTINEL'\n'''\n",
        )
        .unwrap();
        let reply = json!({
            "choices": [{ "message": { "content": format!("```python\ndef f(n):\n    {body}\n```") } }],
            "usage": { "prompt_tokens": 10, "completion_tokens": 5 },
        });
        let server = Server::start(vec![answer(200, "", reply.to_string())]).await;
        let traces = folder.path().join("traces");
        let output = tokio::process::Command::new(env!("CARGO_BIN_EXE_rolecall"))
            .env("ROLECALL_STORE", "memory")
            .args([
                "run",
                "--topology",
                "seidr",
                "--model",
                "openai:m",
                "--seed",
                "1",
                "--budget",
                "programs=4",
                "--json",
            ])
            .args(["--task".as_ref(), file.as_os_str(), "--traces".as_ref(), traces.as_os_str()])
            .env("OPENAI_BASE_URL", &server.base_url)
            .env("OPENAI_API_KEY", "k")
            .env("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true")
            .env_remove("OTEL_EXPORTER_OTLP_ENDPOINT")
            .stdin(Stdio::null())
            .output()
            .await
            .unwrap();
        let (stdout, stderr) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert_eq!(output.status.code(), Some(0), "{stderr}");
        assert!(stdout.contains("\"solved\":false") && stdout.contains("\"scored_on\":\"hidden\""), "{stdout}");
        let prompts = server.seen().iter().map(|seen| seen.body.to_string()).collect::<String>();
        let traces = everything_in(&traces);
        // What is searched holds what there is to find.
        assert!(prompts.contains("f(1) == 2") && traces.contains("Add one.") && traces.contains(body), "{traces}");
        for (place, said) in [("prompts", &prompts), ("traces", &traces), ("stdout", &stdout), ("stderr", &stderr)] {
            for secret in ["SENTINEL", "987654", "987655", "VALIDATION", "123454", "123455"] {
                assert!(!said.contains(secret), "{secret} in {place}: {said}");
            }
        }
    }
}

#[test]
fn e47_hidden_tests_never_reach_a_role() {
    let suite = |value: u32| {
        let assertion = Assertion { line: 1, text: format!("assert f({value}) == {value}") };
        TestSuite::Assertions { code: format!("{}\n", assertion.text), assertions: vec![assertion] }
    };
    let (validation, hidden) = (suite(123_454), suite(987_654));
    let withheld = [validation.clone(), hidden.clone()];
    on_stage(async {
        // A model that repeats all that it was ever told.
        let heard = Mutex::new(String::new());
        let model = Arc::new(Scripted::with(move |request, _| {
            let mut heard = heard.lock().unwrap();
            heard.extend(request.messages.iter().map(|message| message.content.as_str()));
            match request.purpose {
                Purpose::Diagnose => Line::say(heard.clone()),
                _ => Line::say(format!("```python\ndef f(x):\n    return {}\n```\n{heard}", request.seed)),
            }
        }));
        let executed = Arc::new(Mutex::new(Vec::new()));
        let suites = executed.clone();
        let sandbox = MadeUpSandbox::new(move |job| {
            suites.lock().unwrap().push(job.tests.clone());
            let mut judged = judgement(&vec![false; job.tests.len()]);
            for (test, name) in judged.tests.iter_mut().zip(job.tests.names()) {
                test.message = Some(format!("wrong: {name}"));
                test.test = name;
            }
            Ok(judged)
        });
        let shared: Arc<dyn ChatModel> = model.clone();
        let company = company(seidr(2, 1, 6), shared, sandbox, None);
        let problem = Problem {
            task: Arc::new(task(5, None)),
            feedback: FeedbackSet::Visible,
            validation: Some(HiddenTests::new(validation)),
            hidden: Some(HiddenTests::new(hidden.clone())),
            reference: None,
            notes: Vec::new(),
        };
        let assignment = Assignment { problem: Arc::new(problem), ..assignment(task(5, None), 0) };
        let record = hold(company, assignment, CancellationToken::new()).await.unwrap();
        assert_eq!((record.end.spend.programs, record.end.solved), (6, false));
        assert_eq!(record.end.hidden_verdict, Some(Verdict::Wrong));

        // The hidden tests are run once, when all is over; those that validate never, since they do not feed back.
        let executed = executed.lock().unwrap();
        let secret: Vec<usize> =
            executed.iter().enumerate().filter(|(_, suite)| withheld.contains(suite)).map(|(place, _)| place).collect();
        assert_eq!((secret.as_slice(), &*executed[executed.len() - 1]), (&[executed.len() - 1][..], &hidden));

        let prompts = model.requests().into_iter().flat_map(|request| request.messages);
        let prompts: String = prompts.map(|message| message.content).collect();
        let turns = serde_json::to_string(&record.turns).unwrap();
        assert!(prompts.contains("wrong: assert f(3) == 3") && turns.contains("wrong: assert f(3) == 3"), "{prompts}");
        for (place, said) in [("prompts", &prompts), ("record", &turns)] {
            for secret in ["123454", "987654"] {
                assert!(!said.contains(secret), "{secret} in {place}");
            }
        }
    });
}
