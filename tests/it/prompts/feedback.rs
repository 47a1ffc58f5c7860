//! What a prompt shows of test results, by the settings of its role.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use rolecall::{
    domain::{Excerpt, Profile, TestCoverage, Verdict},
    llm::{Ancestor, Purpose, Subject},
    prompts::{ExecutionFeedback, PromptData, ReportData},
};
use serde_json::{Value, json};

use super::{
    carries::{REPAIRING, render, shipped_prompts},
    function_task,
    rendering::{failed, subject},
};

/// The feedback that these settings ask for.
pub fn feedback(settings: Value) -> ExecutionFeedback {
    serde_json::from_value(settings).unwrap()
}

const PROGRAM: &str = "import os\n\ndef inc(n):\n    m = n\n    return m - 1\n";

/// A program with a report of five tests, of which three fail; the third with the lowest score.
fn failing() -> Subject {
    let tests = vec![
        failed(Verdict::Passed, "assert inc(0) == 1", 1.0, None, None),
        failed(Verdict::Wrong, "assert inc(1) == 2", 0.5, Some("0"), None),
        failed(Verdict::Crashed, "assert inc(2) == 3", 0.25, None, Some("KeyError: 2 (line 4 of the program)")),
        failed(Verdict::TimeoutCpu, "assert inc(3) == 4", 0.25, None, None),
        failed(Verdict::NotRun, "assert inc(4) == 5", 0.0, None, None),
    ];
    let mut subject = subject(function_task("inc", "def inc(n):", None), PROGRAM, tests, None);
    let mut judgement = subject.judgement.as_deref().unwrap().clone();
    judgement.compile_output = Some("a warning".to_owned());
    judgement.stdout = Excerpt { text: "printed\n".to_owned(), total_bytes: 8, truncated: false };
    judgement.stderr = Excerpt { text: "warned\n".to_owned(), total_bytes: 7, truncated: false };
    subject.judgement = Some(Arc::new(judgement));
    subject
}

/// The same with a profile: line 5 runs in the failing tests only, lines 1 and 3 are loaded before all of them.
fn profiled() -> Subject {
    let covered = |verdict, lines: &[u32]| TestCoverage { verdict, lines: lines.iter().copied().collect() };
    let values = |pairs: &[(&str, &[&str])]| -> BTreeMap<String, Vec<String>> {
        pairs
            .iter()
            .map(|(name, seen)| ((*name).to_owned(), seen.iter().map(|it| (*it).to_owned()).collect()))
            .collect()
    };
    let mut subject = failing();
    subject.profile = Some(Arc::new(Profile {
        tests: vec![
            covered(Verdict::Passed, &[1, 3, 4]),
            covered(Verdict::Wrong, &[1, 3, 4, 5]),
            covered(Verdict::Crashed, &[1, 3, 4, 5]),
            covered(Verdict::TimeoutCpu, &[1, 3, 4]),
            covered(Verdict::NotRun, &[]),
        ],
        types: BTreeMap::new(),
        values: BTreeMap::from([
            (1, values(&[])),
            (4, values(&[("n", &["1", "2"]), ("empty", &[])])),
            (5, values(&[("m", &["1"]), ("n", &["1"])])),
        ]),
    }));
    subject
}

fn report(subject: &Subject, settings: Value) -> Option<ReportData> {
    PromptData::new(Purpose::Repair, subject, &feedback(settings)).report
}

#[test]
fn the_settings_choose_the_tests() {
    for (settings, numbers, more, compiled) in [
        (json!({}), vec![2, 3, 4], 0, true),
        (json!({"tests": "all", "test_tokens": 10}), vec![2], 2, true),
        (json!({"tests": "all", "test_tokens": 25}), vec![2, 3], 1, true),
        (json!({"tests": "first"}), vec![2], 2, true),
        (json!({"tests": "worst"}), vec![3], 2, true),
        (json!({"tests": "worst", "compile_output": false}), vec![3], 2, false),
        (json!({"tests": "none"}), vec![], 0, true),
    ] {
        let report = report(&failing(), settings.clone()).unwrap();
        let shown: Vec<usize> = report.shown.iter().map(|test| test.number).collect();
        assert_eq!((shown, report.more_failing), (numbers, more), "{settings}");
        assert_eq!(report.compile_output.is_some(), compiled, "{settings}");
        assert_eq!((report.passed, report.total, report.verdict.as_str()), (1, 5, "timeout_cpu"), "{settings}");
        assert_eq!((report.output, report.suspicious.len(), report.values.len()), (None, 0, 0), "{settings}");
    }
}

#[test]
fn one_test_is_always_shown_shortened_to_the_tokens() {
    let long = "x".repeat(3_000);
    let tests = (0..3).map(|_| failed(Verdict::Wrong, &long, 0.0, Some(&long), Some(&long))).collect();
    let subject = subject(function_task("f", "def f():", None), "x", tests, None);
    let report = report(&subject, json!({"test_tokens": 50})).unwrap();
    assert_eq!((report.shown.len(), report.more_failing), (1, 2));
    let test = &report.shown[0];
    let bytes = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    let all = test.test.len() + bytes(&test.expected) + bytes(&test.actual) + bytes(&test.message);
    // The mark of what was left out has three bytes for its one dot.
    assert!(all <= 4 * (50 + 4) && test.test.contains("left out"), "{all}: {test:?}");
}

#[test]
fn where_nothing_could_be_run_the_compiler_says_it_all() {
    let mut subject = failing();
    let mut judgement = subject.judgement.as_deref().unwrap().clone();
    judgement.verdict = Verdict::CompileError;
    subject.judgement = Some(Arc::new(judgement));
    let said = report(&subject, json!({})).unwrap();
    assert_eq!((said.shown.len(), said.more_failing, said.compile_output.as_deref()), (0, 0, Some("a warning")));
    let silent = report(&subject, json!({"compile_output": false})).unwrap();
    assert_eq!((silent.shown.len(), silent.compile_output), (3, None));
}

#[test]
fn raw_is_one_text_in_place_of_the_tests() {
    let report = report(&failing(), json!({"report": "raw"})).unwrap();
    assert_eq!((report.shown.len(), report.more_failing), (0, 0));
    let expected = "printed\nwarned\nassert inc(1) == 2\nwrong\nassert inc(2) == 3\nKeyError: 2 (line 4 of the program)\n\
                    assert inc(3) == 4\ntimeout_cpu";
    assert_eq!(report.output.as_deref(), Some(expected));
}

#[test]
fn suspicious_lines_come_by_their_measure_then_those_with_values_then_in_order() {
    let lines = |number: u32| -> Vec<(u32, f64)> {
        let report = report(&profiled(), json!({"localisation": number})).unwrap();
        report.suspicious.iter().map(|line| (line.number, line.suspiciousness)).collect()
    };
    // 2 of 3 failing tests and no other: 2 / sqrt(3 * 2). All 3 and one that passes: 3 / sqrt(3 * 4).
    assert_eq!(lines(9), [(4, 0.87), (1, 0.87), (3, 0.87), (5, 0.82)]);
    assert_eq!(lines(1), [(4, 0.87)]);
    assert_eq!(lines(0), []);
    let report = report(&profiled(), json!({"localisation": 1})).unwrap();
    assert_eq!(report.suspicious[0].text, "    m = n");
    assert!(
        super::feedback::report(&failing(), json!({"localisation": 3})).unwrap().suspicious.is_empty(),
        "no profile"
    );
}

#[test]
fn values_are_those_at_the_line_of_the_exception_else_at_the_most_suspicious_one() {
    let of = |subject: &Subject| -> Vec<(u32, String, Vec<String>)> {
        let report = report(subject, json!({"values": true})).unwrap();
        report.values.into_iter().map(|one| (one.line, one.name, one.values)).collect()
    };
    let seen =
        |line, name: &str, values: &[&str]| (line, name.to_owned(), values.iter().map(|it| (*it).to_owned()).collect());
    assert_eq!(of(&profiled()), [seen(4, "n", &["1", "2"])]);
    let mut subject = profiled();
    let mut judgement = subject.judgement.as_deref().unwrap().clone();
    judgement.tests[2].message = Some("KeyError: 2 (line 5 of the program)".to_owned());
    subject.judgement = Some(Arc::new(judgement));
    assert_eq!(of(&subject), [seen(5, "m", &["1"]), seen(5, "n", &["1"])]);
    assert_eq!(of(&failing()), [], "no profile");
}

/// Texts that only a test result can have brought into a prompt.
const RESULTS: [&str; 10] = [
    "SENTINEL",
    "timeout_cpu",
    "crashed",
    "wrong_answer",
    "KeyError",
    "assert inc(",
    "2 of 3",
    "a warning",
    "printed",
    "tests passed",
];

#[test]
fn without_feedback_no_prompt_shows_anything_that_a_test_said() {
    let mut subject = profiled();
    subject.diagnosis = Some("It goes down.".to_owned());
    subject.ancestors = vec![Ancestor {
        program: subject.program.clone().unwrap(),
        judgement: subject.judgement.clone().unwrap(),
        profile: None,
        siblings: Vec::new(),
        diagnosis: Some("Look at the sign.".to_owned()),
    }];
    let silent = json!({"tests": "none", "compile_output": false, "history": "all"});
    let data = PromptData::new(Purpose::Repair, &subject, &feedback(silent.clone()));
    assert!(data.report.is_none() && data.history[0].result.is_none());
    for (name, purpose) in shipped_prompts(REPAIRING) {
        let text = render(&name, purpose, &subject, &feedback(silent.clone()));
        for said in RESULTS {
            assert!(!text.contains(said), "{name} shows {said:?}:\n{text}");
        }
        assert!(!text.contains("Verdict") && !text.contains(" of 5"), "{name}:\n{text}");
        let loud = render(&name, purpose, &subject, &feedback(json!({"history": "all"})));
        assert!(RESULTS.iter().any(|said| loud.contains(said)), "{name} never shows a result:\n{loud}");
    }
}

#[test]
fn every_shipped_prompt_shows_what_the_settings_choose() {
    let mut subject = profiled();
    subject.diagnosis = Some("It goes down.".to_owned());
    let tests = ["assert inc(1) == 2", "assert inc(2) == 3", "assert inc(3) == 4"];
    for (name, purpose) in shipped_prompts(REPAIRING) {
        for (settings, shown) in [
            (json!({"tests": "first"}), BTreeSet::from([0])),
            (json!({"tests": "worst"}), BTreeSet::from([1])),
            (json!({"tests": "all"}), BTreeSet::from([0, 1, 2])),
            (json!({"tests": "none"}), BTreeSet::new()),
            (json!({"report": "raw"}), BTreeSet::from([0, 1, 2])),
        ] {
            let text = render(&name, purpose, &subject, &feedback(settings.clone()));
            for (index, test) in tests.iter().enumerate() {
                assert_eq!(text.contains(test), shown.contains(&index), "{name}, {settings}, {test}:\n{text}");
            }
        }
        if name.contains("static") {
            continue;
        }
        let text = render(&name, purpose, &subject, &feedback(json!({"localisation": 2, "values": true})));
        assert!(text.contains("line 4 (0.87):     m = n\nline 1 (0.87): import os\n"), "{name}:\n{text}");
        assert!(text.contains("at line 4 (the last ones, of all tests):\nn: 1, then 2\n"), "{name}:\n{text}");
    }
}

#[test]
fn without_the_statement_a_sentence_that_fits_every_task_stands_in_its_place() {
    let subject = failing();
    for (name, purpose) in shipped_prompts(REPAIRING) {
        let text = render(&name, purpose, &subject, &feedback(json!({"statement": false})));
        assert!(!text.contains(&subject.task.statement), "{name}:\n{text}");
        if !name.contains("static") {
            assert!(text.contains("The program must do what its tests ask for."), "{name}:\n{text}");
        }
    }
    let draft = PromptData::new(Purpose::Draft, &subject, &feedback(json!({"statement": false})));
    assert_eq!(draft.task.statement, subject.task.statement, "a draft needs it");
}

#[test]
fn the_past_is_shown_oldest_first_and_as_far_as_the_setting_says() {
    let mut subject = failing();
    let attempt = |number: u32| Ancestor {
        program: Arc::new(rolecall::domain::Program::new(
            rolecall::domain::Language::Python,
            format!("ATTEMPT_{number}\n"),
        )),
        judgement: subject.judgement.clone().unwrap(),
        profile: None,
        siblings: Vec::new(),
        diagnosis: (number != 1).then(|| format!("DIAGNOSIS_{number}")),
    };
    // The parent comes first.
    subject.ancestors = vec![attempt(3), attempt(2), attempt(1)];
    let of = |history: &str| -> Vec<(usize, String)> {
        let data = PromptData::new(Purpose::Repair, &subject, &feedback(json!({"history": history})));
        data.history.into_iter().map(|attempt| (attempt.number, attempt.program)).collect()
    };
    let numbered = |numbers: &[usize]| -> Vec<(usize, String)> {
        numbers.iter().map(|number| (*number, format!("ATTEMPT_{number}\n"))).collect()
    };
    assert_eq!(of("none"), []);
    assert_eq!(of("last:1"), numbered(&[3]));
    assert_eq!(of("last:2"), numbered(&[2, 3]));
    assert_eq!(of("last:7"), numbered(&[1, 2, 3]));
    assert_eq!(of("all"), numbered(&[1, 2, 3]));
    for (name, purpose) in shipped_prompts(REPAIRING).into_iter().filter(|(name, _)| !name.contains("static")) {
        let text = render(&name, purpose, &subject, &feedback(json!({"history": "all"})));
        let places: Vec<Option<usize>> = ["ATTEMPT_1", "ATTEMPT_2", "DIAGNOSIS_2", "ATTEMPT_3", "DIAGNOSIS_3"]
            .into_iter()
            .map(|needle| text.find(needle))
            .collect();
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{name}: {places:?}\n{text}");
        assert!(text.contains("1 of 5 tests passed"), "{name}:\n{text}");
    }
}
