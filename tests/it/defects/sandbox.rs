//! Defects in how programs were run.

use rolecall::domain::{IoCase, OutputRule, TestSuite, TimeoutPolicy, Verdict};

use crate::sandbox::{assertions, job, judge, sandbox, verdicts};

fn io(cases: &[(&str, &str)], rule: OutputRule) -> TestSuite {
    let cases = cases.iter().map(|(stdin, stdout)| IoCase { stdin: (*stdin).to_owned(), stdout: (*stdout).to_owned() });
    TestSuite::Io { cases: cases.collect(), rule }
}

/// A terminal of 80 columns and 24 lines stood between program and judge: long lines were wrapped, and what ran off the
/// screen was lost.
#[tokio::test]
async fn defect_03_long_lines_and_many_lines_arrive_whole() {
    let sandbox = sandbox().await;
    let long: String = (0..5_000).map(|number| format!("{number} ")).collect();
    let many: String = (0..2_000).map(|number| format!("line {number}\n")).collect();
    let program = "import sys\nif input() == 'long':\n    print(' '.join(str(n) for n in range(5000)))\nelse:\n    for n in range(2000):\n        print('line', n)\n";
    for rule in [OutputRule::Exact, OutputRule::Tokens] {
        let cases = io(&[("long\n", &format!("{}\n", long.trim_end())), ("many\n", &many)], rule.clone());
        let judgement = judge(&sandbox, &job(program, None, cases)).await;
        assert_eq!(judgement.verdict, Verdict::Passed, "{rule:?}");
        // One line of two thousand that is wrong is told from the rest.
        let other = many.replace("line 1999\n", "line 2000\n");
        let judgement = judge(&sandbox, &job(program, None, io(&[("many\n", &other)], rule))).await;
        assert_eq!(judgement.verdict, Verdict::Wrong);
        assert!(judgement.tests[0].score > 0.999 && judgement.tests[0].score < 1.0, "{}", judgement.tests[0].score);
    }
}

/// stderr was merged into stdout, so that a warning halved the score.
#[tokio::test]
async fn defect_04_what_goes_to_stderr_is_no_output() {
    let sandbox = sandbox().await;
    let program = "import sys, warnings\nwarnings.warn('old')\nprint('7')\nprint('noise', file=sys.stderr)\n";
    for rule in [OutputRule::Exact, OutputRule::Tokens] {
        let judgement = judge(&sandbox, &job(program, None, io(&[("", "7\n")], rule))).await;
        assert_eq!((judgement.verdict, judgement.tests[0].score), (Verdict::Passed, 1.0));
        assert!(judgement.stderr.text.contains("noise"), "it is kept apart: {:?}", judgement.stderr);
        assert_eq!(judgement.stdout.text, "7\n");
    }
}

/// A hang cost 30 s a test and came back as a message like any other.
#[tokio::test]
async fn defect_05_a_hang_is_a_timeout_of_its_own_test() {
    let sandbox = sandbox().await;
    let program = "def f(n):\n    while n == 2:\n        pass\n    return n\n";
    let mut job = job(program, Some("f"), assertions("assert f(1) == 1\nassert f(2) == 2\nassert f(3) == 3\n"));
    job.limits.test_cpu_ms = 200;
    job.limits.timeouts = TimeoutPolicy::All;
    let judgement = judge(&sandbox, &job).await;
    assert_eq!(verdicts(&judgement), [Verdict::Passed, Verdict::TimeoutCpu, Verdict::Passed]);
    assert_eq!(judgement.verdict, Verdict::TimeoutCpu);
    assert!(judgement.cpu_ms < 5_000, "the limit is one of the test, not of the run: {}", judgement.cpu_ms);
}
