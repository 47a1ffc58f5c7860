//! Suspicious lines and values as the sandbox finds them, in a prompt.

use std::sync::Arc;

use rolecall::{
    llm::{Purpose, Subject},
    prompts::PromptData,
    sandbox::{Job, Sandbox},
};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{feedback::feedback, function_task, rendering::subject};
use crate::sandbox::{assertions, io, job, judge, sandbox};

/// What a repair prompt can say of a program: `line: suspiciousness` and `line name: values`.
async fn traced(job: &Job) -> (Vec<String>, Vec<String>) {
    let sandbox = sandbox().await;
    let judgement = judge(&sandbox, job).await;
    let profile = sandbox.profile(job, &CancellationToken::new()).await.unwrap();
    let subject = Subject {
        program: Some(job.program.clone()),
        judgement: Some(Arc::new(judgement)),
        profile: Some(Arc::new(profile)),
        ..subject(function_task("f", "def f(xs):", None), "", Vec::new(), None)
    };
    let settings = json!({"localisation": 2, "values": true});
    let report = PromptData::new(Purpose::Repair, &subject, &feedback(settings)).report.unwrap();
    let lines = report.suspicious.iter().map(|line| format!("{}: {}", line.number, line.suspiciousness));
    let values = report.values.iter().map(|one| format!("{} {}: {}", one.line, one.name, one.values.join(", ")));
    (lines.collect(), values.collect())
}

#[tokio::test]
async fn a_wrong_value_points_to_the_line_that_only_failing_tests_execute() {
    let program =
        "def f(xs):\n    top = xs[0]\n    for x in xs:\n        if x > top:\n            top = x - 1\n    return top\n";
    let tests = assertions("assert f([2]) == 2\nassert f([1, 5]) == 5\nassert f([3, 1]) == 3\n");
    let (lines, values) = traced(&job(program, Some("f"), tests)).await;
    assert_eq!(lines, ["5: 1", "2: 0.58"]);
    assert_eq!(values, ["5 top: 1", "5 x: 5", "5 xs: [1, 5]"]);
}

#[tokio::test]
async fn an_exception_points_to_its_own_line() {
    let program = "def f(xs):\n    size = len(xs)\n    mean = sum(xs) // size\n    return mean\n";
    let tests = assertions("assert f([2]) == 2\nassert f([]) == 0\n");
    let (lines, values) = traced(&job(program, Some("f"), tests)).await;
    assert_eq!(lines[0], "2: 0.71", "both lines are executed by both tests");
    assert!(values.iter().all(|value| value.starts_with("3 ")), "{values:?}");
    assert!(values.contains(&"3 size: 1, 0".to_owned()), "{values:?}");
}

#[tokio::test]
async fn whole_programs_have_lines_and_values_too() {
    let program = "n = int(input())\nif n % 2:\n    m = n + 1\nelse:\n    m = n\nprint(m)\n";
    let (lines, values) = traced(&io(program, "3\n", "3\n")).await;
    assert_eq!(lines, ["2: 1", "3: 1"]);
    assert_eq!(values, ["2 n: 3"]);
    let (_, values) = traced(&io("n = int(input())\nm = 0\nprint(n // m)\n", "3\n", "3\n")).await;
    assert_eq!(values, ["3 m: 0", "3 n: 3"]);
}
