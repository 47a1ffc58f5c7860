use std::{collections::BTreeSet, fs, path::Path, sync::Arc};

use assert_cmd::Command;
use rolecall::{
    benchmarks::{benchmark, with_feedback},
    domain::{FeedbackSet, Language, Problem, Program, ScoredOn, TestSuite, Verdict},
    llm::{ChatModel, scripted::Line, scripted::Scripted},
    messages::Message,
    sandbox::Job,
};
use serde_json::{Value, json};

use crate::{
    benchmarks::datasets,
    sandbox::{judge, sandbox, verdicts},
    stage::{MadeUpSandbox, company, hold_all, on_stage},
    support::{seidr, task},
};

fn load(name: &str, folder: &str, language: Language, feedback: FeedbackSet) -> Vec<Problem> {
    benchmark(name).unwrap().load(&datasets().join(folder), language, feedback).unwrap()
}

fn named<'p>(problems: &'p [Problem], id: &str) -> &'p Problem {
    problems.iter().find(|problem| problem.task.id.0 == id).unwrap()
}

/// A program for each test of a task that is right there and nowhere else.
fn right_once(problem: &Problem) -> Vec<String> {
    match problem.task.visible.as_ref() {
        TestSuite::Io { cases, .. } => {
            let program = |case: &rolecall::domain::IoCase| {
                let [stdin, stdout] = [&case.stdin, &case.stdout].map(|text| json!(text).to_string());
                format!("import sys\nprint({stdout} if sys.stdin.read() == {stdin} else 'no', end='')\n")
            };
            cases.iter().map(program).collect()
        }
        TestSuite::Assertions { assertions, .. } => {
            let name = problem.task.entry_point.as_ref().unwrap();
            let program = |text: &str| {
                let (call, value) = text.trim_start_matches("assert ").split_once(" == ").unwrap();
                let argument = call.trim_start_matches(name.as_str());
                format!("def {name}(given):\n    return {value} if given == {argument} else None\n")
            };
            assertions.iter().map(|assertion| program(&assertion.text)).collect()
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn defect_01_each_test_runs_against_its_own_data() {
    let psb2 = load("psb2", "psb2", Language::Python, FeedbackSet::Visible);
    let quixbugs = load("quixbugs", "quixbugs", Language::Python, FeedbackSet::Visible);
    let sandbox = sandbox().await;
    for problem in [named(&psb2, "psb2/gcd"), named(&quixbugs, "QuixBugs/python/bitcount")] {
        let programs = right_once(problem);
        assert!(programs.len() >= 5, "{}", problem.task.id);
        for (place, text) in programs.into_iter().enumerate() {
            let program = Arc::new(Program::new(Language::Python, text));
            let job = Job::of(&problem.task, program, problem.task.feedback.clone());
            let judgement = judge(&sandbox, &job).await;
            let passed: Vec<usize> = verdicts(&judgement)
                .iter()
                .enumerate()
                .filter(|(_, verdict)| **verdict == Verdict::Passed)
                .map(|(test, _)| test)
                .collect();
            assert_eq!(passed, [place], "{}: {}\n{judgement:#?}", problem.task.id, job.program.text);
        }
    }
}

/// What fed back and what scores have a test in common.
fn overlap(problem: &Problem) -> bool {
    let Some(hidden) = &problem.hidden else { return true };
    match (problem.task.feedback.as_ref(), hidden.reveal().as_ref()) {
        (TestSuite::Io { cases, .. }, TestSuite::Io { cases: scored, .. }) => {
            scored.iter().any(|case| cases.contains(case))
        }
        (fed_back, scored) => {
            let fed_back: BTreeSet<String> = fed_back.names().into_iter().collect();
            scored.names().iter().any(|name| fed_back.contains(name))
        }
    }
}

#[test]
fn defect_09_feedback_and_scoring_tests_are_separate_or_the_record_says_so() {
    let sets = [
        ("humaneval", "humaneval", Language::Python),
        ("humaneval-x", "humaneval-x", Language::Python),
        ("humanevalfix", "humanevalpack", Language::Cpp),
        ("humaneval-java", "humaneval-java", Language::Java),
        ("quixbugs", "quixbugs", Language::Java),
        ("mbpp", "mbpp/sanitized-mbpp.json", Language::Python),
        ("psb2", "psb2", Language::Python),
    ];
    for (name, folder, language) in sets {
        let mut separate = 0;
        for problem in load(name, folder, language, FeedbackSet::Visible) {
            let validated = with_feedback(problem.clone(), FeedbackSet::Validation);
            for problem in [problem, validated] {
                let said =
                    problem.scored_on() == ScoredOn::Feedback || problem.notes.iter().any(|note| note.contains("too"));
                assert!(said || !overlap(&problem), "{}: {:?}", problem.task.id, problem.notes);
                separate += usize::from(!overlap(&problem));
            }
        }
        assert_eq!(separate > 0, !["humaneval-java", "quixbugs", "mbpp"].contains(&name), "{name}");
    }
    let all = load("psb2", "psb2", Language::Cpp, FeedbackSet::All);
    let said = |problem: &Problem| (problem.scored_on(), problem.feedback) == (ScoredOn::Feedback, FeedbackSet::All);
    assert!(all.iter().all(|problem| said(problem) && problem.task.feedback.len() >= 1888 + 50));
}

/// One test is visible, two validate, three are hidden. The starter passes what is visible.
const TASK: &str = "id = 'inc'\nlanguage = 'python'\nentry_point = 'inc'\nstatement = 'Add one.'\n\
                    starter = '''\ndef inc(n):\n    return 2\n'''\n\
                    [visible]\ncode = '''\nassert inc(1) == 2\n'''\n\
                    [validation]\ncode = '''\nassert inc(2) == 3\nassert inc(3) == 4\n'''\n\
                    [hidden]\ncode = '''\nassert inc(4) == 5\nassert inc(5) == 6\nassert inc(6) == 7\n'''\n";

#[test]
fn defect_09_the_record_says_what_fed_back_and_what_scored() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("task.toml");
    fs::write(&file, TASK).unwrap();
    for (feedback, tests, scored_on, passes) in
        [("visible", 1, "hidden", true), ("validation", 3, "hidden", false), ("all", 6, "feedback", false)]
    {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rolecall"));
        command.args(["run", "--topology", "self_debug", "--model", "templates", "--seed", "1", "--json"]);
        command.args(["--budget", "programs=1", "--feedback", feedback]);
        command.args(["--task".as_ref(), file.as_os_str(), "--traces".as_ref(), folder.path().as_os_str()]);
        command.env("ROLECALL_STORE", "memory");
        let output = command.env_remove("OTEL_EXPORTER_OTLP_ENDPOINT").output().unwrap();
        let stdout = String::from_utf8(output.stdout).unwrap();
        let finished: Value = serde_json::from_str(stdout.lines().next().unwrap()).unwrap();
        let said = [&finished["feedback"], &finished["feedback_tests"], &finished["scored_on"]];
        assert_eq!(said, [&json!(feedback), &json!(tests), &json!(scored_on)], "{finished}");
        // Which tests the executor runs shows in the starter.
        let error_type = if passes { Value::Null } else { json!("assertion") };
        assert_eq!([&finished["starter_passed"], &finished["error_type"]], [&json!(passes), &error_type], "{finished}");
        assert_eq!(finished["solved"], false);
        let trace = fs::read_to_string(Path::new(finished["trace"].as_str().unwrap())).unwrap();
        for attribute in ["rolecall.feedback", "rolecall.feedback.tests", "rolecall.scored_on"] {
            assert!(trace.contains(&format!("\"{attribute}\"")), "{attribute}: {trace}");
        }
        let run: Value = serde_json::from_str(stdout.lines().last().unwrap()).unwrap();
        let of_one = json!({ "error_type": "assertion", "conversations": 1, "solved": 0 });
        assert_eq!(run["error_types"], if passes { json!([]) } else { json!([of_one]) });
    }
}

#[test]
fn defect_09_a_reply_without_a_program_is_judged_by_every_test_that_feeds_back() {
    on_stage(async {
        let mut task = task(1, None);
        task.feedback = crate::support::task(3, None).visible;
        let model: Arc<dyn ChatModel> = Arc::new(Scripted::with(|_, _| Line::say("I cannot.")));
        let company = company(seidr(1, 1, 1), model, MadeUpSandbox::by_text(), None);
        let record = hold_all(&company, &task, 1, 1).await.remove(0);
        let reports = record.turns.iter().flat_map(|turn| turn.messages()).filter_map(|message| match message {
            Message::ExecutionReport(report) => Some(report.judgement.tests.len()),
            _ => None,
        });
        assert_eq!((reports.collect::<Vec<_>>(), record.head.feedback_tests), (vec![3], 3));
        assert_eq!(record.error_type(), None);
    });
}

#[test]
fn defect_17_strings_of_a_data_set_are_parsed_and_never_run() {
    let folder = tempfile::tempdir().unwrap();
    let trap = folder.path().join("trap");
    let call = format!("open('{}', 'w')", trap.display());
    let files = [
        (
            "humaneval",
            "HumanEval.jsonl",
            json!({
                "task_id": "HumanEval/0", "entry_point": "inc", "canonical_solution": "    return n + 1\n",
                "prompt": format!("def inc(n):\n    \"\"\"Add one.\n    >>> inc({call})\n    2\n    inc(1) == {call}\n    >>> inc(2)\n    3\n    \"\"\"\n"),
                "test": format!("def check(candidate):\n    assert candidate({call}) == 2\n"),
            }),
        ),
        (
            "quixbugs",
            "quixbugs_python.jsonl",
            json!({
                "task_id": "q", "language": "python", "entry_point": "inc", "signature": "def inc(n):", "prompt": "Add one",
                "buggy_code": format!("{call}\ndef inc(n):\n    return n\n"), "reference": format!("{call}\ndef inc(n):\n    return n + 1\n"),
                "tests": format!("testdata = [[[{call}], 2]]\nfor input_data, expected in testdata:\n    assert inc(*input_data) == expected\n"),
            }),
        ),
        (
            "mbpp",
            "mbpp.jsonl",
            json!({
                "task_id": 1, "text": "Add one.", "code": format!("{call}\ndef inc(n):\n    return n + 1"),
                "test_setup_code": call, "test_list": [format!("assert inc({call}) == 2")],
            }),
        ),
    ];
    for (name, file, record) in files {
        fs::write(folder.path().join(file), record.to_string()).unwrap();
        let problems = benchmark(name).unwrap().load(folder.path(), Language::Python, FeedbackSet::All).unwrap();
        assert_eq!(problems.len(), 1, "{name}");
        if name == "humaneval" {
            // An example is made of literals, or it is none.
            assert_eq!(problems[0].task.visible.names(), ["assert inc(2) == 3"]);
        }
        assert!(!trap.exists(), "{name}");
    }
}
