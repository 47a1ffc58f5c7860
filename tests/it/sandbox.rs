//! Programs that attack, exhaust or confuse, each with its verdict, and what they leave behind: nothing.

use std::path::PathBuf;
use std::sync::Arc;

use rolecall::domain::{Assertion, IoCase, Judgement, Language, Limits, OutputRule, Program, TestSuite, Verdict};
use rolecall::sandbox::{Job, LocalSandbox, Sandbox};
use tokio_util::sync::CancellationToken;

/// A sandbox of the built `rolecall` with one slot.
pub(crate) async fn sandbox() -> LocalSandbox {
    LocalSandbox::start(PathBuf::from(env!("CARGO_BIN_EXE_rolecall")), 1).await.unwrap()
}

/// A suite from test text in which every line that begins with `assert` is an assertion.
pub(crate) fn assertions(code: &str) -> TestSuite {
    let assertions = code
        .lines()
        .enumerate()
        .filter(|(_, line)| line.trim_start().starts_with("assert "))
        .map(|(index, line)| Assertion { line: u32::try_from(index).unwrap() + 1, text: line.trim().to_owned() })
        .collect();
    TestSuite::Assertions { code: code.to_owned(), assertions }
}

pub(crate) fn job(program: &str, entry_point: Option<&str>, tests: TestSuite) -> Job {
    Job {
        program: Arc::new(Program::new(Language::Python, program)),
        tests: Arc::new(tests),
        entry_point: entry_point.map(str::to_owned),
        support: None,
        preamble: None,
        limits: Limits::default(),
    }
}

pub(crate) fn io(program: &str, stdin: &str, stdout: &str) -> Job {
    let cases = vec![IoCase { stdin: stdin.to_owned(), stdout: stdout.to_owned() }];
    job(program, None, TestSuite::Io { cases, rule: OutputRule::Tokens })
}

pub(crate) async fn judge(sandbox: &LocalSandbox, job: &Job) -> Judgement {
    sandbox.judge(job, &CancellationToken::new()).await.unwrap()
}

pub(crate) fn verdicts(judgement: &Judgement) -> Vec<Verdict> {
    judgement.tests.iter().map(|test| test.verdict).collect()
}

#[tokio::test]
async fn every_assertion_has_its_own_verdict() {
    let sandbox = sandbox().await;
    let program = "def f(n):\n    if n == 2:\n        raise ValueError('two')\n    return n + (n == 3)\n";
    let tests = "assert f(1) == 1\nassert f(2) == 2\nassert f(3) == 3\nassert f(4) == 4\n";
    let judgement = judge(&sandbox, &job(program, Some("f"), assertions(tests))).await;
    println!("{judgement:#?}");
    assert_eq!(verdicts(&judgement), [Verdict::Passed, Verdict::Crashed, Verdict::Wrong, Verdict::Passed]);
    assert_eq!(judgement.verdict, Verdict::Crashed);
    assert_eq!(judgement.tests[2].expected.as_deref(), Some("3"));
    assert_eq!(judgement.tests[2].actual.as_deref(), Some("4"));
    assert_eq!(judgement.tests[1].message.as_deref(), Some("ValueError: two (line 3 of the program)"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "prints times"]
async fn speed() {
    let sandbox = sandbox().await;
    let tests = "assert f(1) == 2\nassert f(2) == 3\nassert f(3) == 4\nassert f([1, 2]) == 3\nassert f('ab') == 3\nassert f(6) == 7\nassert f(7) == 8\nassert f(8) == 9\n";
    let mut times = Vec::new();
    for round in 0..300 {
        let program = format!("def f(n):\n    return (n if isinstance(n, int) else len(n)) + 1\n# {round}\n");
        let job = job(&program, Some("f"), assertions(tests));
        let started = std::time::Instant::now();
        assert!(judge(&sandbox, &job).await.passed());
        times.push(started.elapsed());
    }
    times.sort();
    println!("first-last {:?} median {:?} p90 {:?}", times[0], times[150], times[270]);
}
