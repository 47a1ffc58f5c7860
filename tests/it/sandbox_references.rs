//! The reference programs of the public data sets pass, and their buggy versions do not.

use std::io::Read;
use std::path::PathBuf;

use rolecall::domain::{Assertion, Judgement, TestSuite, Verdict};
use rolecall::sandbox::{Job, LocalSandbox};
use serde_json::Value;

use super::sandbox::{job, judge, sandbox};

/// Where the public data sets lie.
fn dataset(name: &str) -> String {
    let root = std::env::var_os("ROLECALL_DATASETS")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/datasets"), PathBuf::from);
    let bytes = std::fs::read(root.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    if !name.ends_with(".gz") {
        return String::from_utf8(bytes).unwrap();
    }
    let mut text = String::new();
    flate2::read::GzDecoder::new(bytes.as_slice()).read_to_string(&mut text).unwrap();
    text
}

pub(crate) fn records(name: &str) -> Vec<Value> {
    dataset(name).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

pub(crate) fn text<'a>(record: &'a Value, field: &str) -> &'a str {
    record[field].as_str().unwrap()
}

/// The assertions of a test text, found with the same grammar that splits tasks.
fn suite(code: &str) -> TestSuite {
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(&tree_sitter_python::LANGUAGE.into()).unwrap();
    let tree = parser.parse(code, None).unwrap();
    let mut assertions = Vec::new();
    let mut waiting = vec![tree.root_node()];
    while let Some(node) = waiting.pop() {
        if node.kind() == "assert_statement" {
            let line = u32::try_from(node.start_position().row).unwrap() + 1;
            assertions.push(Assertion { line, text: code[node.byte_range()].to_owned() });
        }
        let mut cursor = node.walk();
        let children = node.children(&mut cursor).collect::<Vec<_>>();
        waiting.extend(children.into_iter().rev());
    }
    assertions.sort_by_key(|assertion| assertion.line);
    TestSuite::Assertions { code: code.to_owned(), assertions }
}

/// The class definitions at the top of a test text.
fn classes(code: &str) -> Option<String> {
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(&tree_sitter_python::LANGUAGE.into()).unwrap();
    let tree = parser.parse(code, None).unwrap();
    let mut cursor = tree.root_node().walk();
    let found = tree
        .root_node()
        .children(&mut cursor)
        .filter(|node| node.kind() == "class_definition")
        .map(|node| code[node.byte_range()].to_owned())
        .collect::<Vec<_>>();
    (!found.is_empty()).then(|| found.join("\n"))
}

/// Runs all jobs; gives the names of those that did not pass, with the reason.
async fn failures(sandbox: &LocalSandbox, jobs: Vec<(String, Job)>) -> Vec<String> {
    let mut failed = Vec::new();
    for (name, job) in jobs {
        let judgement = judge(sandbox, &job).await;
        if !judgement.passed() {
            failed.push(format!("{name}: {}", reason(&judgement)));
        }
    }
    failed
}

pub(crate) fn reason(judgement: &Judgement) -> String {
    let test = judgement.tests.iter().find(|test| test.verdict != Verdict::Passed);
    format!("{} {test:?}", judgement.verdict.name())
}

fn quixbugs(field: &str) -> Vec<(String, Job)> {
    records("quixbugs/quixbugs_python.jsonl")
        .iter()
        .map(|record| {
            let tests = text(record, "tests");
            let mut job = job(text(record, field), Some(text(record, "entry_point")), suite(tests));
            job.support = classes(tests);
            (text(record, "task_id").to_owned(), job)
        })
        .collect()
}

fn humanevalfix(field: &str) -> Vec<(String, Job)> {
    records("humanevalpack/humanevalpack_python.jsonl")
        .iter()
        .map(|record| {
            let program = format!("{}{}", text(record, "prompt"), text(record, field));
            let mut job = job(&program, Some(text(record, "entry_point")), suite(text(record, "test")));
            job.preamble = Some(text(record, "prompt").to_owned());
            (text(record, "task_id").to_owned(), job)
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn quixbugs_references_pass_and_buggy_versions_do_not() {
    let sandbox = sandbox().await;
    assert_eq!(failures(&sandbox, quixbugs("reference")).await, Vec::<String>::new());
    let failed = failures(&sandbox, quixbugs("buggy_code")).await;
    assert_eq!(failed.len(), 40, "{failed:#?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn humanevalfix_solutions_pass_and_buggy_versions_do_not() {
    let sandbox = sandbox().await;
    assert_eq!(failures(&sandbox, humanevalfix("canonical_solution")).await, Vec::<String>::new());
    let failed = failures(&sandbox, humanevalfix("buggy_solution")).await;
    assert_eq!(failed.len(), 40, "{failed:#?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn humaneval_references_pass() {
    let jobs = records("humaneval/HumanEval.jsonl.gz")
        .iter()
        .map(|record| {
            let entry = text(record, "entry_point");
            let program = format!("{}{}", text(record, "prompt"), text(record, "canonical_solution"));
            let tests = format!("{}\ncheck({entry})\n", text(record, "test"));
            let mut job = job(&program, Some(entry), suite(&tests));
            job.preamble = Some(text(record, "prompt").to_owned());
            (text(record, "task_id").to_owned(), job)
        })
        .collect();
    let sandbox = sandbox().await;
    assert_eq!(failures(&sandbox, jobs).await, Vec::<String>::new());
}

fn list(record: &Value, field: &str) -> Vec<String> {
    record[field].as_array().unwrap().iter().map(|line| line.as_str().unwrap().trim().to_owned()).collect()
}

/// Reference 123 takes two seconds, whatever the limit of those who are judged.
fn patient(mut job: Job) -> Job {
    job.limits.test_cpu_ms = 8_000;
    job.limits.process_cpu_ms = 16_000;
    job
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mbpp_references_pass() {
    let sandbox = sandbox().await;
    let whole = records("mbpp/mbpp.jsonl")
        .iter()
        .map(|record| {
            let tests = format!("{}\n{}\n", text(record, "test_setup_code"), list(record, "test_list").join("\n"));
            // Task 126 calls its function `sum`: only the name of the entry point tells it from the built-in one.
            let entry = (record["task_id"] == 126).then_some("sum");
            (record["task_id"].to_string(), patient(job(text(record, "code"), entry, suite(&tests))))
        })
        .collect();
    assert_eq!(failures(&sandbox, whole).await, Vec::<String>::new());
    let sanitized: Vec<Value> = serde_json::from_str(&dataset("mbpp/sanitized-mbpp.json")).unwrap();
    let sanitized = sanitized
        .iter()
        .map(|record| {
            let lines = [list(record, "test_imports"), list(record, "test_list")].concat().join("\n");
            let entry = (record["task_id"] == 126).then_some("sum");
            (format!("sanitized {}", record["task_id"]), patient(job(text(record, "code"), entry, suite(&lines))))
        })
        .collect();
    assert_eq!(failures(&sandbox, sanitized).await, Vec::<String>::new());
}
