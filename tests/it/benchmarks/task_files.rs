use std::path::{Path, PathBuf};

use rolecall::{
    benchmarks::{BenchmarkError, load_dir, load_task, with_feedback},
    domain::{FeedbackSet, Limits, OutputRule, Problem, ScoredOn, TestSuite, TimeoutPolicy, Tolerance},
};
use tempfile::TempDir;

use super::{assertion_texts, code};

/// A task with assertions that uses every key.
const FULL: &str = r#"
id = "group/clamp"
language = "python"
entry_point = "clamp"
signature = "def clamp(value, low, high):"
statement = '''
Return `value`, or the limit that it passes.
'''
preamble = "import math\n"
support = "class Range:\n    pass\n"
starter = '''
def clamp(value, low, high):
    return max(low, max(value, high))
'''
reference = '''
def clamp(value, low, high):
    return max(low, min(value, high))
'''
faulty_lines = [2]

[visible]
code = '''
assert clamp(5, 1, 3) == 3
'''

[hidden]
code = """
def check(candidate):
    assert candidate(0, 1, 3) == 1
    assert candidate(2, 1, 3) == 2
"""

[limits]
test_cpu_ms = 250
process_cpu_ms = 2_000
memory_bytes = 0x1000_0000
processes = 8
file_bytes = 1024
output_bytes = 2048
output_kept_bytes = 512
timeouts = "all"
compile_cpu_ms = 9_000
compile_memory_bytes = 0x4000_0000
"#;

const IO: &str = r#"
id = "echo"
language = "python"
statement = "Print what you read."
compare = "exact"

[[visible.io]]
stdin = "a\n"
stdout = "a\n"

[[hidden.io]]
stdin = ""
stdout = ""

[[hidden.io]]
stdin = "b"
stdout = "b"
"#;

fn written(text: impl AsRef<[u8]>) -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("task.toml");
    std::fs::write(&path, text).unwrap();
    (dir, path)
}

fn loaded(text: &str) -> Problem {
    let (_dir, path) = written(text);
    load_task(&path).unwrap_or_else(|error| panic!("{error}"))
}

/// What the file is refused with, its path written as `FILE`.
pub fn refusal(text: impl AsRef<[u8]>) -> String {
    let (_dir, path) = written(text);
    let error = load_task(&path).err().expect("a mistake");
    error.to_string().replace(&path.display().to_string(), "FILE")
}

#[test]
fn every_key_reaches_the_task() {
    let problem = loaded(FULL);
    let task = &problem.task;
    assert_eq!((task.id.0.as_str(), task.dataset.as_str()), ("group/clamp", "file"));
    assert_eq!(task.statement, "Return `value`, or the limit that it passes.");
    assert_eq!(task.entry_point.as_deref(), Some("clamp"));
    assert_eq!(task.signature.as_deref(), Some("def clamp(value, low, high):"));
    assert_eq!(task.preamble.as_deref(), Some("import math\n"));
    assert_eq!(task.support.as_deref(), Some("class Range:\n    pass\n"));
    assert!(task.starter.as_ref().unwrap().text.contains("max(value, high)"));
    assert!(problem.reference.as_ref().unwrap().text.contains("min(value, high)"));
    assert_eq!(task.faulty_lines, [2]);
    assert_eq!(assertion_texts(&task.visible), ["assert clamp(5, 1, 3) == 3"]);
    let hidden = problem.hidden.as_ref().unwrap().reveal();
    assert!(code(hidden).ends_with("\n\ncheck(clamp)\n"));
    assert_eq!(hidden.len(), 2);
    let limits = Limits {
        test_cpu_ms: 250,
        process_cpu_ms: 2000,
        memory_bytes: 256 << 20,
        processes: 8,
        file_bytes: 1024,
        output_bytes: 2048,
        output_kept_bytes: 512,
        timeouts: TimeoutPolicy::All,
        compile_cpu_ms: 9000,
        compile_memory_bytes: 1 << 30,
        calibrated: false,
    };
    assert_eq!(task.limits, limits);
    assert_eq!(problem.scored_on(), ScoredOn::Hidden);
}

#[test]
fn the_examples_in_the_documents_load() {
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/tasks.md")).unwrap();
    let blocks = page.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let (mappings, tasks): (Vec<&str>, Vec<&str>) = blocks.partition(|block| block.contains("[fields]"));
    let ids: Vec<_> = tasks.into_iter().map(|block| loaded(block).task.id.0.clone()).collect();
    assert_eq!(ids, ["clamp", "line-lengths", "spare-digit"]);
    // The mapping is the shipped one, which another test loads, below its comment.
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/mapping/small-repairs.toml");
    let shipped = std::fs::read_to_string(file).unwrap();
    assert_eq!(mappings, [shipped.split_once('\n').unwrap().1]);
}

#[test]
fn validation_tests_are_a_set_of_their_own() {
    let text = IO.replacen("[[hidden.io]]", "[[validation.io]]\nstdin = 'v'\nstdout = 'w'\n[[hidden.io]]", 1);
    let problem = loaded(&text);
    assert_eq!(problem.validation.as_ref().unwrap().reveal().names(), ["v"]);
    assert_eq!((problem.task.feedback.len(), problem.scored_on()), (1, ScoredOn::Hidden));
    let validated = with_feedback(problem, FeedbackSet::Validation);
    assert_eq!((validated.task.visible.len(), validated.task.feedback.len()), (1, 2));
    assert_eq!((validated.feedback, validated.scored_on()), (FeedbackSet::Validation, ScoredOn::Hidden));
    assert!(validated.validation.is_none() && validated.notes.is_empty());
    // Without such tests the visible ones feed back, and the record says so.
    let none = with_feedback(loaded(IO), FeedbackSet::Validation);
    assert_eq!((none.task.feedback.len(), none.feedback), (1, FeedbackSet::Visible));
    assert_eq!(none.notes, ["no validation tests: the visible tests feed back"]);
    let mixed = IO.replacen("[[hidden.io]]", "[validation]\ncode = 'assert f(1) == 2'\n[[hidden.io]]", 1);
    assert!(refusal(&mixed).contains("`visible`, `validation` and `hidden` must all have `code`, or all `io`"));
}

#[test]
fn stdin_and_stdout_tasks_need_no_entry_point() {
    let problem = loaded(IO);
    let TestSuite::Io { cases, rule } = problem.task.visible.as_ref() else { panic!("io expected") };
    assert_eq!((cases.len(), rule), (1, &OutputRule::Exact));
    assert_eq!(problem.hidden.as_ref().unwrap().reveal().len(), 2);
    assert_eq!(problem.task.limits, Limits::default());
    let all = with_feedback(problem, FeedbackSet::All);
    assert_eq!((all.task.visible.len(), all.task.feedback.len(), all.scored_on()), (1, 3, ScoredOn::Feedback));
}

#[test]
fn outputs_are_compared_as_the_file_says() {
    let rule = |lines: &str| loaded(&IO.replace("compare = \"exact\"", lines)).task.visible.output_rule().cloned();
    assert!(IO.contains("compare = \"exact\""), "{IO}");
    for (number, value) in [("1e-6", 1e-6), ("0", 0.0), ("0.5", 0.5), ("1_0e-3", 0.01)] {
        let tolerance = Tolerance::new(value).unwrap();
        let read = rule(&format!("compare = 'tolerance'\ntolerance = {number}"));
        assert_eq!(read, Some(OutputRule::Tolerance(tolerance)), "{number}");
    }
    let checker = "import math\ndef check(stdin: str, stdout: str) -> bool:\n    return True\n";
    let lines = format!("compare = 'checker'\nchecker = '''\n{checker}'''");
    assert_eq!(rule(&lines), Some(OutputRule::Checker(checker.into())));
    assert_eq!(rule(&lines.replace('\n', "\r\n")), Some(OutputRule::Checker(checker.into())));
    // An example of a right output may be missing then, and only then.
    let problem = loaded(&IO.replace("compare = \"exact\"", &lines).replacen("stdout = ", "# ", 1));
    let TestSuite::Io { cases, .. } = problem.task.visible.as_ref() else { panic!("io expected") };
    assert_eq!(cases[0].stdout, "");
    let refusals = [
        "compare = 'tolerance'",
        "compare = 'tolerance'\ntolerance = 1.0",
        "compare = 'tolerance'\ntolerance = nan",
        "compare = 'tolerance'\ntolerance = -0.1",
        "compare = 'tolerance'\ntolerance = '1e-6'",
        "tolerance = 1e-6",
        "compare = 'checker'",
        "compare = 'checker'\nchecker = '''\ndef check(stdin):\n    return True\n'''",
        "compare = 'checker'\nchecker = '''\ndef test(stdin, stdout):\n    return True\n'''",
        "compare = 'checker'\nchecker = '''\ndef check(stdin, stdout:\n    return True\n'''",
        "compare = 'exact'\nchecker = '''\ndef check(stdin, stdout):\n    return True\n'''",
        "compare = 'checkers'\nchecker = '''\ndef check(stdin, stdout):\n    return True\n'''",
    ];
    let refusals = refusals.map(|lines| refusal(IO.replace("compare = \"exact\"", lines)));
    insta::assert_snapshot!(refusals.join("\n\n"));
}

#[test]
fn without_hidden_tests_the_feedback_tests_decide() {
    let text = IO.split("[[hidden.io]]").next().unwrap();
    assert_eq!(loaded(text).scored_on(), ScoredOn::Feedback);
}

#[test]
fn line_ends_of_windows_and_a_byte_order_mark_change_nothing() {
    let (plain, windows) = (loaded(FULL), loaded(&format!("\u{feff}{}", FULL.replace('\n', "\r\n"))));
    assert_eq!(plain.task.visible, windows.task.visible);
    assert_eq!(plain.task.starter, windows.task.starter);
}

#[test]
fn every_mistake_is_said_at_once_with_its_place_and_what_would_be_right() {
    let text = r#"id = "clamp it"
language = "pyton"
entrypoint = "clamp"
statement = 3
starter = ""
faulty_lines = [7]
compare = "token"

[visible]
code = '''
assert clamp(5, 1, 3) == 3
assert clamp(5, 1, ==
'''
[hidden]
code = 'x = 1'
[[hidden.io]]
stdout = "a"

[limits]
test_cpu_ms = 0
memory = 1
timeouts = "none"
"#;
    insta::assert_snapshot!(refusal(text));
}

#[test]
fn what_parses_is_checked_where_the_rest_does_not() {
    insta::assert_snapshot!(refusal("id = \"a\nlanguage = \"pyhton\"\nstatment = 'x'\n[visible\n"));
}

#[test]
fn starter_and_reference_must_define_the_entry_point_and_tests_must_reach_it() {
    let text = FULL.replace("def clamp(", "def clasp(").replace("assert clamp(5", "assert clasp(5");
    let unreached = FULL.replace("def check(candidate)", "def test_clamp(candidate)");
    insta::assert_snapshot!([refusal(text), refusal(unreached)].join("\n\n"));
}

#[test]
fn e10_a_task_without_tests_is_refused() {
    let head = "id = 'a'\nlanguage = 'python'\nstatement = 's'\n";
    let function = format!("{head}entry_point = 'a'\n");
    let refusals = [
        refusal(head),
        refusal(format!("{head}[visible]\n")),
        refusal(format!("{head}[visible]\nio = []\n")),
        refusal(format!("{function}[visible]\ncode = ''\n")),
        refusal(format!("{head}[visible]\ncode = 'assert a()'\n")),
        refusal(IO.replace("compare", "entry_point = 'a'\ncompare")),
        refusal(FULL.replace("faulty_lines", "compare = 'exact'\nfaulty_lines")),
    ];
    insta::assert_snapshot!(refusals.join("\n\n"));
}

#[test]
fn hostile_files_are_refused_with_their_place() {
    let deep = format!("id = {}\n", "[".repeat(100_000));
    assert!(refusal(deep).starts_with("FILE:1:"));
    assert!(refusal("").starts_with("FILE:1:1: missing key `id`"));
    assert!(refusal(b"id = \"a\"\n\xff\xfe").starts_with("FILE:2:1: not UTF-8"));
    assert!(refusal("id = 'a'\nb\0").starts_with("FILE:2:2: NUL byte"));
    assert!(refusal("id = 'a'\nid = 'b'\n").starts_with("FILE:2:1: not TOML: duplicate key"));
    assert!(refusal(r#"id = "a\u0000b""#).contains("FILE:1:6: `id` holds a NUL character"));
    assert!(refusal("x = 1\n".repeat(1_000_000)).starts_with("FILE:1: this task file is longer than 4194304 bytes"));
    let many = refusal("x\n".repeat(1000));
    assert!(many.lines().count() < 50 && many.contains("and at least"), "{many}");
}

#[test]
fn a_folder_gives_its_tasks_by_name_and_refuses_one_id_twice() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
    let refusal = |dir: &Path| load_dir(dir).err().expect("a mistake");
    assert!(matches!(refusal(dir.path()), BenchmarkError::NoFile { .. }));
    assert!(matches!(refusal(&dir.path().join("none")), BenchmarkError::Read { .. }));
    write("b.toml", FULL);
    write("a.toml", IO);
    write("notes.txt", "not a task");
    std::fs::create_dir(dir.path().join("c.toml")).unwrap();
    let ids: Vec<_> = load_dir(dir.path()).unwrap().iter().map(|problem| problem.task.id.0.clone()).collect();
    assert_eq!(ids, ["echo", "group/clamp"]);
    write("z.toml", IO);
    let error = refusal(dir.path()).to_string();
    let (first, second) = (dir.path().join("a.toml"), dir.path().join("z.toml"));
    let expected = format!("{}:2:6: duplicate task id `echo`, first used at {}:2:6", second.display(), first.display());
    assert_eq!(error, expected);
    write("x.toml", "id = 1\n");
    write("y.toml", "id = 2\n");
    let error = refusal(dir.path()).to_string();
    assert!(error.contains("x.toml:1:6: `id`") && error.contains("y.toml:1:6: `id`"), "{error}");
}
