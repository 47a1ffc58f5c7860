use std::{io::Write, path::PathBuf};

use flate2::{Compression, write::GzEncoder};
use proptest::{collection::vec, prelude::*, sample::Index, test_runner::Config};
use rolecall::{
    benchmarks::{BENCHMARKS, BenchmarkError, SampleText, benchmark, load_samples, load_task},
    domain::{FeedbackSet, Language},
};
use tempfile::TempDir;

/// A small good file of each public format.
const GOOD: [(&str, &str); 7] = [
    (
        "humaneval",
        r#"{"task_id": "HumanEval/0", "prompt": "def inc(n):\n    \"\"\"add one\"\"\"\n", "entry_point": "inc", "canonical_solution": "    return n + 1\n", "test": "def check(candidate):\n    assert candidate(1) == 2\n"}"#,
    ),
    (
        "humanevalfix",
        r#"{"task_id": "Python/0", "prompt": "def inc(n):\n    \"\"\"add one\"\"\"\n", "declaration": "def inc(n):\n", "instruction": "Add one.", "entry_point": "inc", "canonical_solution": "    return n + 1\n", "buggy_solution": "    return n - 1\n", "example_test": "", "test": "def check(inc):\n    assert inc(1) == 2\ncheck(inc)\n"}"#,
    ),
    (
        "quixbugs",
        r#"{"task_id": "QuixBugs/python/inc", "language": "python", "entry_point": "inc", "signature": "def inc(n):", "prompt": "Add one", "buggy_code": "def inc(n):\n    return n\n", "reference": "def inc(n):\n    return n + 1\n", "tests": "testdata = [[[1], 2]]\nfor input_data, expected in testdata:\n    assert inc(*input_data) == expected\n"}"#,
    ),
    (
        "mbpp",
        r#"{"text": "Add one.", "code": "def inc(n):\r\n    return n + 1", "task_id": 1, "test_setup_code": "", "test_list": ["assert inc(1) == 2", "assert inc(2) == 3"], "challenge_test_list": []}"#,
    ),
    (
        "mbpp",
        "[\n{\"prompt\": \"Add one.\", \"code\": \"def inc(n): return n + 1\", \"task_id\": 1,\n\"test_imports\": [\"import math\"], \"test_list\": [\"assert inc(1) == 2\"]}\n]\n",
    ),
    (
        "humaneval-java",
        r#"{"task_id": "HumanEval-Java/INC", "language": "java", "entry_point": "inc", "prompt": "Add one", "buggy_code": "package b;\n\npublic class INC {\n    public static int inc(int n) {\n        return n;\n    }\n}\n", "reference": "package b;\n\npublic class INC {\n    public static int inc(int n) {\n        return n + 1;\n    }\n}\n", "tests": "package t;\n\npublic class TEST_INC {\n    @org.junit.Test\n    public void test_0() {\n        org.junit.Assert.assertEquals(2, b.INC.inc(1));\n    }\n}\n", "fault_lines": "5-6", "support_files": {}}"#,
    ),
    ("psb2", r#"{"problem": "inc", "input1": [1, 2], "output1": 2, "output2": "x"}"#),
];

/// The files beside the edge cases of PSB2.
const PSB2: [(&str, &str); 3] = [
    (
        "problems.jsonl",
        r#"{"problem": "inc", "description": "Add one.", "input_types": ["int_vector"], "output_types": ["int", "string"], "note": ""}"#,
    ),
    ("random_train.jsonl", r#"{"problem": "inc", "input1": [3], "output1": 4, "output2": ""}"#),
    ("random_test.jsonl", r#"{"problem": "inc", "input1": [], "output1": 1, "output2": "y"}"#),
];

const TASK: &str = "id = 'inc'\nlanguage = 'python'\nentry_point = 'inc'\nstatement = 'Add one.'\nstarter = '''\ndef inc(n):\n    return n\n'''\nfaulty_lines = [2]\n[visible]\ncode = '''\nassert inc(1) == 2\n'''\n[limits]\nprocesses = 4\n";

const SAMPLES: &str = "{\"task_id\": \"HumanEval/0\", \"completion\": \"    return n + 1\\n\"}\n\n{\"task_id\": \"HumanEval/0\", \"solution\": \"x\", \"completion\": 1}\n";

fn written(bytes: &[u8]) -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("data");
    std::fs::write(&path, bytes).unwrap();
    (dir, path)
}

/// What the benchmark says of a file with these bytes, its path written as `FILE`.
fn outcome(name: &str, bytes: &[u8]) -> Result<usize, String> {
    let (dir, mut path) = written(bytes);
    if name == "psb2" {
        // Its examples of one kind; the other files are good.
        std::fs::rename(&path, dir.path().join("edge.jsonl")).unwrap();
        path = dir.path().join("edge.jsonl");
        for (file, text) in PSB2 {
            std::fs::write(dir.path().join(file), text).unwrap();
        }
    }
    let benchmark = benchmark(name).unwrap();
    let loaded = benchmark.load(&path, benchmark.languages()[0], FeedbackSet::Visible);
    let file = path.display().to_string();
    loaded.map(|problems| problems.len()).map_err(|error| error.to_string().replace(&file, "FILE"))
}

fn refusal(name: &str, bytes: impl AsRef<[u8]>) -> String {
    outcome(name, bytes.as_ref()).expect_err("a mistake")
}

/// Whether every complaint begins with the file and a line from 1.
fn is_located(error: &str) -> bool {
    let place = error.strip_prefix("FILE:").and_then(|rest| rest.split_once(':'));
    place.is_some_and(|(line, _)| line.parse::<u32>().is_ok_and(|line| line > 0))
}

fn gzipped(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn the_good_files_load_plain_packed_and_with_a_byte_order_mark() {
    for (name, text) in GOOD {
        assert_eq!(outcome(name, text.as_bytes()), Ok(1));
        assert_eq!(outcome(name, &gzipped(text)), Ok(1));
        assert_eq!(outcome(name, format!("\u{feff}{text}").as_bytes()), Ok(1));
    }
    for (name, text) in &GOOD[..4] {
        assert_eq!(outcome(name, format!("\n{text}\r\n\n").as_bytes()), Ok(1));
    }
}

#[test]
fn bad_data_is_refused_by_line_record_and_field() {
    let (_, good) = GOOD[0];
    let other = good.replace("HumanEval/0", "HumanEval/1");
    let cases = [
        String::new(),
        "[]".to_owned(),
        format!("{good}\n{}\n", &good[..good.len() - 30]),
        format!("{good}\n\n{other}\n{good}\n"),
        format!("{good}\n{}", other.replace("\"prompt\"", "\"promt\"")),
        good.replace("\"inc\"", "7"),
        good.replace("\"inc\"", "\"two words\""),
        good.replace("\"inc\"", "\"dec\""),
        good.replace("assert candidate(1) == 2", "candidate(1)"),
        good.replace("assert candidate(1) == 2", "assert candidate(1 == 2"),
        good.replace("\"entry_point\"", "\"task_id\""),
        good.replace("add one", "add \\u0000 one"),
        good.replace("add one", "add \\ud800 one"),
        "[1]".to_owned(),
        "3".to_owned(),
        format!("[{good},\n{good}"),
        format!("[{good},\n {other},\n  {{\"task_id\": nil}}]"),
        format!("{{\"x\": {}", "[".repeat(100_000)),
    ];
    let refusals: Vec<_> = cases.iter().map(|case| refusal("humaneval", case)).collect();
    for error in &refusals {
        assert!(is_located(error), "{error}");
    }
    insta::assert_snapshot!(refusals.join("\n"));
}

#[test]
fn other_formats_refuse_what_would_pass_any_program() {
    let mbpp = |from: &str, to: &str| refusal("mbpp", GOOD[3].1.replace(from, to));
    let refusals = [
        mbpp(r#"["assert inc(1) == 2", "assert inc(2) == 3"]"#, "[]"),
        mbpp("inc(n)", "dec(n)"),
        mbpp("\"task_id\": 1", "\"task_id\": -1"),
        mbpp("[\"assert inc(1)", "[3, \"assert inc(1)"),
        mbpp("\"assert inc(2) == 3\"]", "\"assert inc(2) == 3\"], \"text\": \"\""),
        refusal("quixbugs", GOOD[2].1.replace("[[[1], 2]]", "[]")),
        refusal("quixbugs", GOOD[2].1.replace("\"python\"", "\"java\"")),
        refusal("humanevalfix", GOOD[1].1.replace("Python/0", "CPP/0")),
    ];
    insta::assert_snapshot!(refusals.join("\n"));
}

#[test]
fn binary_damaged_and_huge_files_are_refused() {
    let (name, good) = GOOD[0];
    assert!(refusal(name, [good.as_bytes(), b"\n\0"].concat()).starts_with("FILE:2:1: NUL byte"));
    assert!(refusal(name, [good.as_bytes(), b"\nab\xff"].concat()).starts_with("FILE:2:3: not UTF-8"));
    let utf16: Vec<u8> = good.encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert!(refusal(name, utf16).starts_with("FILE:1:2: NUL byte"));
    let packed = gzipped(good);
    assert!(refusal(name, &packed[..packed.len() - 9]).starts_with("FILE:1: damaged gzip data: it ends too early"));
    let long = good.replace("add one", &"x".repeat(16 << 20));
    assert!(refusal(name, long).starts_with("FILE:1: record 1 is longer than 16777216 bytes"));
    let code = good.replace("add one", &"x".repeat(2 << 20));
    assert!(
        refusal(name, code).starts_with("FILE:1: record 1: the code in field `prompt` is longer than 1048576 bytes")
    );
    let error = benchmark(name).unwrap().load(std::path::Path::new("/dev/zero"), Language::Python, FeedbackSet::All);
    assert!(matches!(error, Err(BenchmarkError::Read { .. })));
}

#[test]
fn samples_are_read_in_order_and_a_solution_wins() {
    for bytes in [SAMPLES.as_bytes().to_vec(), gzipped(SAMPLES)] {
        let (_dir, path) = written(&bytes);
        let samples = load_samples(&path).unwrap();
        let texts: Vec<_> = samples.iter().map(|sample| sample.text.clone()).collect();
        let expected = [SampleText::Completion("    return n + 1\n".to_owned()), SampleText::Solution("x".to_owned())];
        assert_eq!(texts, expected);
        assert_eq!((samples[1].task.0.as_str(), samples[1].place.line), ("HumanEval/0", 3));
    }
    let (_dir, path) = written(b"{\"task_id\": \"a\"}");
    let error = load_samples(&path).unwrap_err().to_string();
    assert!(
        error.ends_with(":1: record 1 (task_id `a`): expected field `completion`, or `solution` for a whole program")
    );
}

#[derive(Clone, Debug)]
enum Damage {
    Cut(Index),
    Replace(Index, u8),
    Insert(Index, Vec<u8>),
    Remove(Index, usize),
}

fn damage() -> impl Strategy<Value = Damage> {
    let text = prop_oneof![
        vec(any::<u8>(), 1..6),
        prop::sample::select(vec![
            "[", "{", "}", "]", "\"", "'''", "\\", "\n", "null", "=", "\\u0000", "((((", "assert "
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
    ];
    prop_oneof![
        any::<Index>().prop_map(Damage::Cut),
        (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Damage::Replace(at, byte)),
        (any::<Index>(), text).prop_map(|(at, bytes)| Damage::Insert(at, bytes)),
        (any::<Index>(), 1..40usize).prop_map(|(at, count)| Damage::Remove(at, count)),
    ]
}

fn damaged(text: &str, damages: &[Damage]) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for damage in damages {
        let at = |index: &Index, bytes: &[u8]| index.index(bytes.len() + 1);
        match damage {
            Damage::Cut(index) => bytes.truncate(at(index, &bytes)),
            Damage::Replace(index, byte) => {
                let at = at(index, &bytes);
                bytes.splice(at..(at + 1).min(bytes.len()), [*byte]);
            }
            Damage::Insert(index, text) => {
                let at = at(index, &bytes);
                bytes.splice(at..at, text.iter().copied());
            }
            Damage::Remove(index, count) => {
                let at = at(index, &bytes);
                bytes.drain(at..(at + count).min(bytes.len()));
            }
        }
    }
    bytes
}

/// Every reader is given the bytes: each accepts them or says where they are wrong.
fn judged(bytes: &[u8]) -> Result<(), TestCaseError> {
    for reader in BENCHMARKS {
        if let Err(error) = outcome(reader.name(), bytes) {
            prop_assert!(is_located(&error), "{}: {error}", reader.name());
        }
    }
    let (_dir, path) = written(bytes);
    let errors = [load_task(&path).err(), load_samples(&path).err()];
    for error in errors.into_iter().flatten() {
        let error = error.to_string().replace(&path.display().to_string(), "FILE");
        prop_assert!(is_located(&error), "{error}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(Config { cases: 128, failure_persistence: None, ..Config::default() })]

    #[test]
    fn random_bytes_are_refused_with_a_place(bytes in vec(any::<u8>(), 0..300)) {
        judged(&bytes)?;
    }

    #[test]
    fn a_good_file_that_was_damaged_is_refused_with_a_place_or_still_good(
        which in 0..GOOD.len() + 2,
        damages in vec(damage(), 1..4),
    ) {
        let text = GOOD.get(which).map_or(if which == GOOD.len() { TASK } else { SAMPLES }, |(_, text)| text);
        judged(&damaged(text, &damages))?;
    }
}
