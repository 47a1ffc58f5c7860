//! `rolecall benchmarks list` and `check`, and data sets that nobody says the place of.

use std::{
    io::{BufRead, BufReader},
    process::{Output, Stdio},
};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::cli::{events, rolecall, run, text};

const HUMANEVAL: &str = r#"{"task_id": "HumanEval/0", "prompt": "def inc(n):\n    \"\"\"Add one.\n    >>> inc(1)\n    2\n    \"\"\"\n", "entry_point": "inc", "canonical_solution": "    return n + 1\n", "test": "def check(candidate):\n    assert candidate(1) == 2\n    assert candidate(5) == 6\n"}"#;

const HUMANEVALFIX: &str = r#"{"task_id": "Python/0", "prompt": "def inc(n):\n    \"\"\"Add one.\"\"\"\n", "declaration": "def inc(n):\n", "instruction": "Add one.", "entry_point": "inc", "canonical_solution": "    return n + 1\n", "buggy_solution": "    return n - 1\n", "example_test": "", "test": "def check(inc):\n    assert inc(1) == 2\ncheck(inc)\n"}"#;

const MAPPING: &str = "data = 'set.jsonl'\nlanguage = 'python'\n[fields]\nid = 'id'\nstatement = 'text'\nentry_point = 'f'\nstarter = \
                       'buggy'\nreference = 'fixed'\n[visible]\ncode = 'tests'\n";

fn record(id: &str, buggy: &str, fixed: &str) -> String {
    let program = |body: &str| format!("def inc(n):\n    {body}\n");
    let record = json!({
        "id": id, "text": "Add one.", "f": "inc", "buggy": program(buggy), "fixed": program(fixed), "tests": "assert inc(1) == 2"
    });
    format!("{record}\n")
}

fn mapped(records: &[String]) -> (TempDir, String) {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("set.jsonl"), records.concat()).unwrap();
    let file = dir.path().join("set.toml");
    std::fs::write(&file, MAPPING).unwrap();
    (dir, file.display().to_string())
}

/// A folder of data sets with a small one.
fn small() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("humaneval")).unwrap();
    std::fs::write(dir.path().join("humaneval/HumanEval.jsonl"), HUMANEVAL).unwrap();
    dir
}

fn with_datasets(folder: &TempDir, arguments: &[&str]) -> Output {
    rolecall(arguments).env("ROLECALL_DATASETS", folder.path()).output().unwrap()
}

#[test]
fn the_list_says_what_is_here_and_where_the_rest_is_looked_for() {
    let folder = small();
    let output = with_datasets(&folder, &["benchmarks", "list", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let events = events(&output);
    assert_eq!(events.len(), 7);
    let named = |name: &str| events.iter().find(|event| event["name"] == name).unwrap();
    let here = named("humaneval");
    assert_eq!(here["languages"], json!([{"language": "python", "tasks": 1, "mistake": null}]));
    assert_eq!(here["found"], folder.path().join("humaneval").display().to_string());
    assert_eq!((&here["licence"], &here["fetch"]), (&"MIT".into(), &json!(["HumanEval.jsonl.gz"])));
    assert_eq!((&here["starters"], &here["hidden"]), (&false.into(), &"`test`, less the visible ones".into()));
    let away = named("humanevalfix");
    let looked: Vec<String> =
        ["humanevalfix", "humanevalpack"].map(|name| folder.path().join(name).display().to_string()).into();
    assert_eq!((&away["found"], &away["looked_for"]), (&Value::Null, &json!(looked)));
    assert_eq!((away["languages"].as_array().unwrap().len(), &away["starters"]), (6, &true.into()));

    let said = text(&with_datasets(&folder, &["benchmarks", "list"]).stdout);
    for line in [
        "  tasks in  python 1\n",
        "  licence   MIT\n",
        "  tests     visible all; none hidden\n",
        "not here: looked for ",
    ] {
        assert!(said.contains(line), "{said}");
    }
    std::fs::write(folder.path().join("humaneval/HumanEval.jsonl"), "{").unwrap();
    let broken = with_datasets(&folder, &["benchmarks", "list"]);
    assert!(text(&broken.stdout).contains("python (cannot be read)"));
    assert!(text(&broken.stderr).contains("HumanEval.jsonl:1:"), "{}", text(&broken.stderr));
}

#[test]
fn a_data_set_is_found_by_its_name_alone() {
    let folder = small();
    let program = folder.path().join("p.py");
    std::fs::write(&program, "def inc(n):\n    return n + 1\n").unwrap();
    let judge = ["judge", "--benchmark", "humaneval", &program.display().to_string()];
    let output = with_datasets(&folder, &judge);
    assert!(text(&output.stdout).contains("(HumanEval/0): passed"), "{}", text(&output.stderr));
    let none = with_datasets(&folder, &["judge", "--benchmark", "mbpp", "x.py"]);
    assert_eq!(none.status.code(), Some(2));
    let said = text(&none.stderr);
    let looked = format!("the data set mbpp is not found: looked for {}/mbpp", folder.path().display());
    assert!(said.contains(&looked) && said.contains("ROLECALL_DATASETS"), "{said}");
}

#[test]
fn a_run_remembers_where_its_data_set_was_found() {
    let (folder, store) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let set = folder.path().join("humanevalpack");
    std::fs::create_dir(&set).unwrap();
    std::fs::write(set.join("humanevalpack_python.jsonl"), HUMANEVALFIX).unwrap();
    let traces = store.path().join("traces").display().to_string();
    let kept = store.path().join("store").display().to_string();
    let command =
        ["run", "--topology", "self_debug", "--benchmark", "humanevalfix", "--seed", "1", "--budget", "programs=2"];
    let output = rolecall(&[&command[..], &["--traces", &traces, "--store", &kept]].concat())
        .env("ROLECALL_DATASETS", folder.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let runs = run(&["runs", "list", "--json", "--store", &kept]);
    let arguments = &events(&runs)[0]["arguments"];
    let last: Vec<&Value> = arguments.as_array().unwrap().iter().rev().take(2).collect();
    assert_eq!(last, [&Value::from(set.display().to_string()), &"--path".into()]);
}

#[test]
fn references_that_fail_and_starters_that_pass_are_named() {
    let (_dir, file) = mapped(&[
        record("right", "return n", "return n + 1"),
        record("wrong", "return n", "return n + 2"),
        record("done", "return n + 1", "return 1 + n"),
    ]);
    let output = run(&["benchmarks", "check", &file]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    assert!(said.starts_with("wrong: the reference fails (wrong)\n  assert inc(1) == 2\n"), "{said}");
    assert!(said.contains("\ndone: the starter passes already\n"), "{said}");
    assert!(
        said.ends_with(&format!("{file}: 3 tasks, 2 of 3 references pass, 1 of 3 starters pass already\n")),
        "{said}"
    );
    assert!(text(&output.stderr).contains("[6/6] judged"), "{}", text(&output.stderr));

    let right = run(&["benchmarks", "check", &file, "--task-id", "right", "--json"]);
    assert_eq!(right.status.code(), Some(0), "{}", text(&right.stderr));
    let events = events(&right);
    let [reference, starter, whole] = events.as_slice() else { panic!("{events:?}") };
    assert_eq!((&reference["event"], &reference["program"]), (&"program_checked".into(), &"reference".into()));
    assert_eq!((&reference["as_expected"], &starter["as_expected"]), (&true.into(), &true.into()));
    assert_eq!((&starter["program"], &starter["verdict"]), (&"starter".into(), &"wrong".into()));
    assert_eq!((&whole["event"], &whole["unexpected"]), (&"benchmark_checked".into(), &0.into()));
}

#[test]
fn tasks_are_taken_by_a_file_of_ids() {
    let (dir, file) = mapped(&["a", "b", "c"].map(|id| record(id, "return n", "return n + 1")));
    let ids = dir.path().join("ids.txt");
    let list = ids.display().to_string();
    std::fs::write(&ids, "# two of them\n\n  c\na \n").unwrap();
    let output = run(&["benchmarks", "check", &file, "--task-ids", &list, "--json"]);
    let found = events(&output);
    let tasks: Vec<&Value> = found.iter().map(|event| &event["task"]).collect();
    assert_eq!(tasks, ["a", "a", "c", "c"].map(Value::from).iter().chain([&Value::Null]).collect::<Vec<_>>());
    for (text_of_file, said) in [("a\n\nd\n", ":3: no task has the id `d`"), ("#\n", ": no id of a task in this file")]
    {
        std::fs::write(&ids, text_of_file).unwrap();
        let output = run(&["benchmarks", "check", &file, "--task-ids", &list]);
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains(&format!("{list}{said}")), "{}", text(&output.stderr));
    }
}

#[test]
fn a_fault_that_is_known_is_named_and_no_failure() {
    let folder = small();
    // HumanEval/47 is known to have a wrong example.
    let wrong = HUMANEVAL.replace("HumanEval/0", "HumanEval/47").replace("return n + 1", "return n");
    std::fs::write(folder.path().join("humaneval/HumanEval.jsonl"), format!("{wrong}\n")).unwrap();
    let known = with_datasets(&folder, &["benchmarks", "check", "humaneval"]);
    assert_eq!(known.status.code(), Some(0), "{}", text(&known.stderr));
    let said = text(&known.stdout);
    assert!(said.contains("HumanEval/47: the reference fails (wrong), a known fault: an example of"), "{said}");
    assert!(said.contains("0 of 1 references pass, 1 known faults"), "{said}");
    let news = wrong.replace("HumanEval/47", "HumanEval/48");
    std::fs::write(folder.path().join("humaneval/HumanEval.jsonl"), news).unwrap();
    assert_eq!(with_datasets(&folder, &["benchmarks", "check", "humaneval"]).status.code(), Some(1));
}

#[test]
fn an_interrupt_ends_a_check() {
    let slow: Vec<String> =
        (0..400).map(|index| record(&format!("t{index}"), "while True: pass", "while True: pass")).collect();
    let first = record("first", "return n", "return n + 1");
    let (_dir, file) = mapped(&[vec![first], slow].concat());
    let mut child =
        rolecall(&["benchmarks", "check", &file]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert_eq!(lines.next().unwrap(), "[1/802] judged");
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::INT).unwrap();
    assert!(lines.any(|line| line.contains("interrupted: ending the check")));
    assert_eq!(child.wait().unwrap().code(), Some(130));
}
