//! Outputs that are compared with tolerance or by a checker of the task, and limits that are measured.

use std::{fs, sync::Arc};

use rolecall::{
    domain::{IoCase, Language, OutputRule, TestSuite, Tolerance, Verdict},
    sandbox::{Job, Sandbox, SandboxError},
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{
    cli::{events, run, text},
    languages,
    sandbox::{Alone, alone, assert_at_rest, judge, sandbox, verdicts},
};

/// `Print any digit that is not a + b`, whatever else the text holds.
const CHECKER: &str = "
def check(stdin, stdout):
    a, b = map(int, stdin.split())
    if stdout.strip() not in list('0123456789'):
        return False, 'not a digit'
    return int(stdout) != a + b
";

fn ruled(language: Language, program: &str, cases: &[(&str, &str)], rule: OutputRule) -> Job {
    let mut job = languages::io(language, program, "", "");
    let case = |(stdin, stdout): &(&str, &str)| IoCase { stdin: (*stdin).to_owned(), stdout: (*stdout).to_owned() };
    job.tests = Arc::new(TestSuite::Io { cases: cases.iter().map(case).collect(), rule });
    job
}

fn checked(language: Language, program: &str, stdin: &str, checker: &str) -> Job {
    ruled(language, program, &[(stdin, "0")], OutputRule::Checker(checker.into()))
}

async fn fault(sandbox: &Alone, checker: &str) -> String {
    let job = checked(Language::Python, "print(9)\n", "2 5", checker);
    match sandbox.judge(&job, &CancellationToken::new()).await {
        Err(SandboxError::Checker { reason }) => reason,
        other => panic!("{checker}\n{other:?}"),
    }
}

#[tokio::test]
async fn e11_numbers_are_compared_with_tolerance_and_nan_is_near_nothing() {
    let sandbox = sandbox().await;
    let rule = OutputRule::Tolerance(Tolerance::new(1e-6).unwrap());
    let cases = [("3.5", "3.5"), ("nan", "3.5"), ("inf", "3.5"), ("-inf", "3.5"), ("1e999", "3.5"), ("nan", "nan")];
    let job = ruled(Language::Python, "print(input())\n", &cases, rule.clone());
    let mut expected = [Verdict::Wrong; 6];
    (expected[0], expected[5]) = (Verdict::Passed, Verdict::Passed);
    assert_eq!(verdicts(&judge(&sandbox, &job).await), expected);
    let near = ruled(Language::Python, "print('pi', 3.14159265, 2)\n", &[("", "pi 3.1415927 2.0\n")], rule);
    assert_eq!(judge(&sandbox, &near).await.verdict, Verdict::Passed);
}

#[tokio::test]
async fn e15_a_checker_decides_where_several_answers_are_right_in_every_language() {
    const PROGRAMS: [(Language, &str); 6] = [
        (Language::Python, "a, b = map(int, input().split())\nprint(DIGIT)\n"),
        (Language::Cpp, "#include <iostream>\nint main() { std::cout << DIGIT << std::endl; }\n"),
        (
            Language::Java,
            "public class Main { public static void main(String[] words) { System.out.println(DIGIT); } }\n",
        ),
        (Language::JavaScript, "console.log(DIGIT);\n"),
        (Language::Go, "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(DIGIT) }\n"),
        (Language::Rust, "fn main() { println!(\"{}\", DIGIT); }\n"),
    ];
    for (language, program) in PROGRAMS {
        let sandbox = alone(&[language]).await;
        for (digit, verdict) in [("9", Verdict::Passed), ("7", Verdict::Wrong)] {
            let program = program.replace("DIGIT", digit);
            let judgement = judge(&sandbox, &checked(language, &program, "2 5", CHECKER)).await;
            assert_eq!(judgement.verdict, verdict, "{judgement:#?}");
            assert_eq!(judgement.tests[0].score, if digit == "9" { 1.0 } else { 0.0 });
            assert_eq!(judgement.tests[0].expected, None);
        }
    }
}

#[tokio::test]
async fn e15_a_checker_says_why_and_never_sees_a_program_that_failed() {
    let sandbox = sandbox().await;
    let outcome = async |program: &str, checker: &str| {
        let judgement = judge(&sandbox, &checked(Language::Python, program, "2 5", checker)).await;
        (judgement.verdict, judgement.tests[0].message.clone())
    };
    assert_eq!(outcome("print('seven')\n", CHECKER).await, (Verdict::Wrong, Some("not a digit".to_owned())));
    assert_eq!(outcome("print(0)\n", CHECKER).await, (Verdict::Passed, None));
    let never = "def check(stdin, stdout):\n    raise AssertionError('asked')\n";
    let (verdict, message) = outcome("print(0)\nraise ValueError('late')\n", never).await;
    assert_eq!((verdict, message.as_deref()), (Verdict::Crashed, Some("ValueError: late (line 2 of the program)")));
    assert_eq!(outcome("import os\nos._exit(3)\n", never).await.0, Verdict::Crashed);
    let no_text = "import sys\nsys.stdout.buffer.write(b'\\xff')\n";
    assert_eq!(outcome(no_text, never).await, (Verdict::Wrong, None));
    // Each output meets the checker as it was written.
    let once = "seen = []\ndef check(stdin, stdout):\n    seen.append(stdout)\n    return len(seen) == 1\n";
    let job = ruled(Language::Python, "print(1)\n", &[("", ""), ("", "")], OutputRule::Checker(once.into()));
    assert_eq!(judge(&sandbox, &job).await.verdict, Verdict::Passed);
    let large = "def check(stdin, stdout):\n    return stdout == '\\u00e9\"' * 100000 + '\\n'\n";
    assert_eq!(outcome("print('\\u00e9\"' * 100000)\n", large).await.0, Verdict::Passed);
    assert_at_rest().await;
}

#[tokio::test]
async fn e15_a_checker_that_fails_is_never_the_candidates_fault() {
    let sandbox = sandbox().await;
    for (checker, said) in [
        (
            "def check(stdin, stdout):\n    return 1 / 0\n",
            "ZeroDivisionError: division by zero (line 2 of the checker)",
        ),
        ("def check(stdin, stdout):\n    return 1\n", "TypeError: check must give a bool, or a bool and a text, not 1"),
        ("def check(stdin, stdout):\n    pass\n", "not None"),
        ("def check(stdin, stdout):\n    return True, 3\n", "not (True, 3)"),
        ("def check(stdin, stdout):\n    raise SystemExit(0)\n", "SystemExit: 0"),
        ("import os\ndef check(stdin, stdout):\n    os._exit(0)\n", "exited with code 0 before its answer"),
        ("def check(stdin, stdout):\n    while True: pass\n", "CPU time limit exceeded"),
        ("def check(stdin, stdout):\n    return bytearray(3 << 30) == stdout\n", "MemoryError"),
        ("x = 3\n", "KeyError: 'check'"),
        ("def check(stdin, stdout)\n", "it cannot be compiled: SyntaxError"),
    ] {
        let reason = fault(&sandbox, checker).await;
        assert!(reason.contains(said), "{checker}\n{reason}");
    }
    assert_eq!(
        judge(&sandbox, &checked(Language::Python, "print(9)\n", "2 5", CHECKER)).await.verdict,
        Verdict::Passed
    );
}

/// Counts the texts that hold the word of [`e15_a_candidate_cannot_find_the_checker`] among all that a process reaches.
const SPY: &str = "
import gc, os, sys
halves = ['SENTI', 'NEL_OF_CHECKER']
def holds(text):
    return isinstance(text, str) and ''.join(halves) in text
found = 0
for one in gc.get_objects():
    try:
        found += sum(map(holds, one.values() if isinstance(one, dict) else one if isinstance(one, (list, tuple)) else ()))
    except Exception:
        pass
frame = sys._getframe()
while frame:
    found += sum(map(holds, frame.f_locals.values()))
    frame = frame.f_back
for root, _, names in os.walk('/tmp'):
    for name in names:
        found += holds(open(os.path.join(root, name)).read())
found += holds(str(sys.argv) + str(os.environ))
print(found)
";

#[tokio::test]
async fn e15_a_candidate_cannot_find_the_checker() {
    let sandbox = sandbox().await;
    let checker = "NAME = 'SENTINEL_OF_CHECKER'\ndef check(stdin, stdout):\n    return stdout == '0\\n', stdout\n";
    let judgement = judge(&sandbox, &checked(Language::Python, SPY, "", checker)).await;
    assert_eq!(judgement.verdict, Verdict::Passed, "{judgement:#?}");
    // It would find it.
    let kept = format!("kept = ['SENTINEL' + '_OF_CHECKER']\n{SPY}");
    assert_eq!(judge(&sandbox, &checked(Language::Python, &kept, "", checker)).await.verdict, Verdict::Wrong);
}

/// A folder with a task of the digit that is no sum, the text of `head` in it, and a program that answers right.
fn folder(head: &str) -> (tempfile::TempDir, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let task = format!(
        "id = 'digit'\nlanguage = 'python'\nstatement = 'Print any digit that is not a+b.'\n{head}\n[[visible.io]]\nstdin = \
         '2 5'\nstdout = '0'\n"
    );
    let (file, program) = (folder.path().join("digit.toml"), folder.path().join("nine.py"));
    fs::write(&file, task).unwrap();
    fs::write(&program, "a, b = map(int, input().split())\nprint(next(d for d in range(9, -1, -1) if d != a + b))\n")
        .unwrap();
    let (file, program) = (file.display().to_string(), program.display().to_string());
    (folder, file, program)
}

fn judged(head: &str, options: &[&str]) -> (Value, String) {
    let (_folder, task, program) = folder(head);
    let output = run(&[&["judge", "--task", &task, "--json", &program], options].concat());
    let said = text(&output.stderr);
    let [event] = events(&output).try_into().unwrap_or_else(|_| panic!("{said}"));
    (event, said)
}

#[test]
fn e15_without_a_checker_the_loader_notes_that_one_answer_is_stored() {
    let (event, said) = judged("", &[]);
    assert_eq!((&event["verdict"], &event["compare"]), (&"wrong".into(), &"tokens".into()));
    assert!(said.contains("note: digit: unchecked: several answers may be right"), "{said}");
    assert!(event["notes"][0].as_str().unwrap().starts_with("unchecked: "), "{event}");
    let (event, said) = judged(&format!("compare = 'checker'\nchecker = '''{CHECKER}'''"), &[]);
    assert_eq!((&event["verdict"], &event["compare"]), (&"passed".into(), &"checker".into()), "{event}");
    assert!(!said.contains("note:") && event["notes"].as_array().unwrap().is_empty(), "{said}");
}

const REFERENCE: &str = "reference = '''\na, b = map(int, input().split())\nprint(int(a + b == 0))\n'''\n";

#[test]
fn calibrated_limits_come_from_the_reference_and_are_said() {
    let (event, said) = judged(REFERENCE, &[]);
    assert_eq!((&event["limits_calibrated"], &event["test_cpu_ms"]), (&false.into(), &1_000.into()));
    assert!(!said.contains("calibrated"), "{said}");
    let (event, said) = judged(REFERENCE, &["--calibrate-limits"]);
    assert_eq!(event["limits_calibrated"], true, "{said}");
    let limit = event["test_cpu_ms"].as_u64().unwrap();
    let told =
        format!("note: digit: limits calibrated: test_cpu_ms = {limit}, the slowest test of the reference took ");
    assert!(said.contains(&told), "{said}");
    let measured: u64 = said.split("reference took ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    assert_eq!(limit, (20 * measured).max(500));
}

#[test]
fn a_slow_reference_is_measured_beyond_the_fixed_limit_and_gives_room() {
    // CPU time by its own clock: as slow on every machine.
    let slow = "reference = '''\nimport time\nwhile time.process_time() < 0.3: pass\nprint(0)\n'''\n[limits]\ntest_cpu_ms = 50";
    let (event, said) = judged(slow, &["--calibrate-limits"]);
    assert_eq!(event["limits_calibrated"], true, "{said}");
    assert!(event["test_cpu_ms"].as_u64().unwrap() >= 4_000, "{said}");
}

#[test]
fn what_cannot_be_calibrated_keeps_its_limits_and_says_why() {
    let broken = "compare = 'checker'\nchecker = '''\ndef check(stdin, stdout):\n    return None\n'''\n";
    for (head, reason) in [
        (String::new(), "there is no reference and no starter"),
        ("starter = 'print(1)'".to_owned(), "the starter does not pass (wrong)"),
        ("reference = 'x ='".to_owned(), "the reference does not pass (compile_error)"),
    ] {
        let (event, said) = judged(&head, &["--calibrate-limits"]);
        assert_eq!((&event["limits_calibrated"], &event["test_cpu_ms"]), (&false.into(), &1_000.into()), "{said}");
        assert!(said.contains(&format!("note: digit: limits not calibrated: {reason}")), "{said}");
    }
    let (_folder, task, program) = folder(&format!("{broken}{REFERENCE}"));
    let output = run(&["judge", "--task", &task, "--json", "--calibrate-limits", &program]);
    let said = text(&output.stderr);
    assert!(said.contains("limits not calibrated: the task's checker failed: TypeError"), "{said}");
    assert_eq!(output.status.code(), Some(1), "{said}");
}

#[test]
fn a_run_records_calibrated_limits_unless_the_arrangement_sets_them() {
    let traces = tempfile::tempdir().unwrap();
    let places = traces.path().display().to_string();
    let starter = "starter = '''\nprint(0)\n'''\n";
    let (_folder, task, _) = folder(starter);
    let fixed = traces.path().join("fixed.toml");
    let shipped = fs::read_to_string("config/topologies/self_debug.toml").unwrap();
    assert!(!shipped.contains("[feedback]"), "{shipped}");
    fs::write(&fixed, format!("{shipped}\n[feedback]\ntest_cpu_ms = 700\n")).unwrap();
    let conversation = |topology: &str| {
        let mut arguments = vec!["run", "--topology", topology, "--task", &task, "--traces", &places];
        arguments.extend(["--calibrate-limits", "--json"]);
        let output = run(&arguments);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        events(&output).remove(0)
    };
    let measured = conversation("self_debug");
    assert_eq!((&measured["limits_calibrated"], &measured["python_hash_seed"]), (&true.into(), &0.into()));
    assert_eq!(measured["compare"], "tokens");
    assert!(measured["test_cpu_ms"].as_u64().unwrap() >= 500, "{measured}");
    let trace = fs::read_to_string(measured["trace"].as_str().unwrap()).unwrap();
    assert!(trace.contains("rolecall.limits.calibrated"), "{trace}");
    let set = conversation(&fixed.display().to_string());
    assert_eq!((&set["limits_calibrated"], &set["test_cpu_ms"]), (&false.into(), &700.into()));
    let note = set["notes"].as_array().unwrap().last().unwrap().as_str().unwrap();
    assert_eq!(note, "limits not calibrated: `[feedback] test_cpu_ms` of the arrangement decides");
}
