//! JSON Lines files of any kind, by a mapping of their fields.

use std::path::{Path, PathBuf};

use rolecall::{
    benchmarks::load_mapped,
    domain::{FeedbackSet, Language, OutputRule, Problem, ScoredOn, TestSuite},
};
use tempfile::TempDir;

use super::{assertion_texts, code, problem_named};

const CODE: &str = "data = 'set.jsonl'\nlanguage = 'python'\n[fields]\nid = 'n'\nstatement = ['a', 'b']\nentry_point = 'f'\n\
                    reference = ['head', 'body']\n[visible]\ncode = ['imports', 'tests']\nfirst = 1\n[hidden]\ncode = 'all'\n";

const RECORD: &str = r#"{"n": 7, "a": "Add one.", "b": "To n.", "f": "inc", "head": "def inc(n):", "body": "    return n + 1\n", "imports": "import math", "tests": ["assert inc(1) == 2", "assert inc(2) == 3"], "all": "def check(candidate):\n    assert candidate(1) == 2\n    assert candidate(9) == 10\n"}"#;

const IO: &str = "name = 'sums'\ndata = 'set.jsonl'\nlanguage = 'c++'\n[fields]\nid = 'id'\nstatement = 'text'\n[visible]\nio = \
                  'shown'\nstdin = 'in'\nstdout = 'out'\n[hidden]\nio = 'rest'\nstdin = 'in'\nstdout = 'out'\n[limits]\ntest_cpu_ms = 77\n";

const IO_RECORD: &str = r#"{"id": "sum", "text": "Add two numbers.", "shown": [{"in": "1 2\n", "out": "3\n"}], "rest": {"in": ["1 2\n", "4 5\n"], "out": ["3\n", "9\n"]}}"#;

fn written(mapping: &str, data: &str) -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("set.jsonl"), data).unwrap();
    let path = dir.path().join("own.toml");
    std::fs::write(&path, mapping).unwrap();
    (dir, path)
}

fn load(mapping: &str, data: &str) -> Vec<Problem> {
    let (_dir, path) = written(mapping, data);
    load_mapped(&path, None, FeedbackSet::Visible).unwrap()
}

/// What is said of a pair of files, without their folder.
fn said(mapping: &str, data: &str) -> String {
    let (dir, path) = written(mapping, data);
    let error = load_mapped(&path, None, FeedbackSet::Visible).err().unwrap_or_else(|| panic!("no mistake: {mapping}"));
    error.to_string().replace(&format!("{}/", dir.path().display()), "")
}

#[test]
fn assertions_are_read_by_the_names_of_their_fields() {
    let problems = load(CODE, RECORD);
    let [problem] = problems.as_slice() else { panic!() };
    let task = &problem.task;
    assert_eq!((task.id.0.as_str(), task.dataset.as_str(), task.language), ("7", "own", Language::Python));
    assert_eq!((task.statement.as_str(), task.entry_point.as_deref()), ("Add one.\nTo n.", Some("inc")));
    assert_eq!(problem.reference.as_ref().unwrap().text, "def inc(n):\n    return n + 1\n");
    assert_eq!(code(&task.visible), "import math\nassert inc(1) == 2\n");
    // The visible assertion is not hidden too.
    assert_eq!(problem.scored_on(), ScoredOn::Hidden);
    assert_eq!(assertion_texts(problem.hidden.as_ref().unwrap().reveal()), ["assert candidate(9) == 10"]);
}

#[test]
fn inputs_and_outputs_are_read_in_each_form() {
    let problems = load(IO, IO_RECORD);
    let [problem] = problems.as_slice() else { panic!() };
    assert_eq!((problem.task.dataset.as_str(), problem.task.limits.test_cpu_ms), ("sums", 77));
    let cases = |suite: &TestSuite| match suite {
        TestSuite::Io { cases, rule: OutputRule::Tokens } => {
            cases.iter().map(|case| (case.stdin.clone(), case.stdout.clone())).collect::<Vec<_>>()
        }
        other => panic!("{other:?}"),
    };
    let pair = |stdin: &str, stdout: &str| (stdin.to_owned(), stdout.to_owned());
    assert_eq!(cases(&problem.task.visible), [pair("1 2\n", "3\n")]);
    assert_eq!(cases(problem.hidden.as_ref().unwrap().reveal()), [pair("4 5\n", "9\n")]);
    let pairs = IO_RECORD.replace(r#"[{"in": "1 2\n", "out": "3\n"}]"#, r#"[["1 2\n", "3\n"], ["x", "y"]]"#);
    assert_eq!(cases(&load(IO, &pairs)[0].task.visible), [pair("1 2\n", "3\n"), pair("x", "y")]);
    let first = IO.replacen("io = ", "first = 1\nio = ", 1);
    assert_eq!(cases(&load(&first, &pairs)[0].task.visible), [pair("1 2\n", "3\n")]);
}

#[test]
fn every_mistake_of_a_mapping_is_said_at_once_with_its_place() {
    let mapping =
        "name = 'mbpp'\ndatum = 'x'\nlanguage = 'pyton'\n[fields]\nid = 3\nstarter = []\n[visible]\nfirst = 0\n";
    assert_eq!(
        said(mapping, "").lines().filter(|line| line.starts_with("own.toml")).collect::<Vec<_>>(),
        [
            "own.toml:1:1: missing key `data`: the JSON Lines file, seen from here",
            "own.toml:1:8: `mbpp` is the name of a public data set",
            "own.toml:2:1: unknown key `datum`",
            "own.toml:3:12: unknown language `pyton`",
            "own.toml:4:1: missing key `fields.statement`: the field with what the program must do",
            "own.toml:5:6: `fields.id`: expected a string, found 3",
            "own.toml:6:11: `fields.starter`: expected the name of a field, or an array of names, found array",
            "own.toml:7:1: `visible` has no test",
            "own.toml:8:9: `visible.first`: expected a whole number from 1, found 0"
                .replace("1, found", "1 to 4294967295, found")
                .as_str(),
        ]
    );
    for (from, to, message) in [
        ("entry_point = 'f'\n", "", "missing key `fields.entry_point`"),
        ("code = 'all'", "io = 'all'", "must all have `code`, or all `io`"),
        ("code = 'all'", "code = 'all'\nstdin = 'x'", "own.toml:13:9: `hidden.stdin` has no use without `io`"),
        ("[fields]", "compare = 'exact'\n[fields]", "own.toml:3:11: `compare` is for stdin/stdout tests only"),
        (
            "[visible]",
            "preambel = 'x'\n[visible]",
            "own.toml:8:1: unknown key `fields.preambel`\n  hint: did you mean `preamble`?",
        ),
        ("[visible]", "[visible", "own.toml:8:"),
    ] {
        let wrong = CODE.replacen(from, to, 1);
        assert!(wrong != CODE && said(&wrong, RECORD).contains(message), "{}", said(&wrong, RECORD));
    }
    let with_function = IO.replace("[visible]", "entry_point = 'f'\n[visible]");
    assert!(said(&with_function, IO_RECORD).starts_with("own.toml:7:15: `fields.entry_point` has no meaning"));
}

#[test]
fn mistakes_of_the_data_are_said_with_their_line_and_field() {
    for (from, to, message) in [
        (r#""n": 7"#, r#""n": "7 8""#, "set.jsonl:1: record 1: field `n`: letters, digits and - _ . / make an id"),
        (r#""f": "inc""#, r#""f": "dec""#, "field `body`: does not define the function `dec`"),
        (r#""b": "To n.""#, r#""c": "To n.""#, "field `b`: missing; this record has"),
        (
            r#"["assert inc(1) == 2", "assert inc(2) == 3"]"#,
            r#""assert inc(1) == 2""#,
            "field `tests`: expected an array of lines",
        ),
        ("assert inc(1) == 2", "inc(1)", "field `tests`: line 1, column 1: no assertion: any program would pass"),
    ] {
        let wrong = RECORD.replacen(from, to, 1);
        assert!(wrong != RECORD && said(CODE, &wrong).contains(message), "{}", said(CODE, &wrong));
    }
    let twice = format!("{RECORD}\n\n{RECORD}\n");
    assert!(said(CODE, &twice).contains("duplicate task id `7`"), "{}", said(CODE, &twice));
    for wrong in [r#"[{"in": "1"}]"#, r#"[["a", "b", "c"]]"#, r#"[[1, "b"]]"#, r#"{"in": ["a"], "out": []}"#, r#""x""#]
    {
        let wrong = IO_RECORD.replace(r#"[{"in": "1 2\n", "out": "3\n"}]"#, wrong);
        assert!(
            said(IO, &wrong).contains("field `shown`: expected an array of objects with the strings `in` and `out`")
        );
    }
    let none = IO_RECORD.replace(r#"[{"in": "1 2\n", "out": "3\n"}]"#, "[]");
    assert!(said(IO, &none).contains("field `shown`: no test: any program would pass"));
}

#[test]
fn a_checker_needs_no_output() {
    let checked = IO.replace(
        "[fields]",
        "compare = 'checker'\nchecker = '''\ndef check(stdin, stdout):\n    return True\n'''\n[fields]",
    );
    let without = IO_RECORD.replace(r#", "out": "3\n"}"#, "}");
    assert_eq!(load(&checked, &without)[0].task.visible.len(), 1);
    assert!(said(IO, &without).contains("field `shown`"));
}

#[test]
fn the_shipped_example_is_read() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/mapping/small-repairs.toml");
    let problems = load_mapped(&file, None, FeedbackSet::Visible).unwrap();
    assert_eq!(problems.len(), 3);
    for problem in &problems {
        assert_eq!((problem.task.dataset.as_str(), problem.task.visible.len()), ("small-repairs", 2));
        assert_eq!(problem.hidden.as_ref().unwrap().reveal().len(), 2);
    }
    assert_eq!(problem_named(&problems, "wrap-hour").task.faulty_lines, [2, 3]);
}
