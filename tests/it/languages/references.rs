//! The reference programs of HumanEval-X pass.

use rolecall::domain::{Language, Verdict};
use serde_json::Value;

use super::{sandbox, tested};
use crate::{
    sandbox::judge,
    sandbox_references::{records, text},
};

/// Judges one reference program in `step`, from the first on; gives how many assertions held and what did not pass.
async fn failures(language: Language, step: usize, program: impl Fn(&Value) -> String) -> (usize, Vec<String>) {
    let sandbox = sandbox(language).await;
    let (mut held, mut failed) = (0, Vec::new());
    for record in records(&format!("humaneval-x/humaneval_{}.jsonl.gz", language.name())).iter().step_by(step) {
        let job = tested(language, &program(record), "", text(record, "test"));
        let judgement = judge(&sandbox, &job).await;
        held += judgement.tests.iter().filter(|test| test.verdict == Verdict::Passed).count();
        if judgement.tests.iter().any(|test| test.verdict != Verdict::Passed) {
            failed.push(format!("{}: {}", text(record, "task_id"), judgement.verdict.name()));
        }
    }
    (held, failed)
}

fn cpp(record: &Value) -> String {
    format!("{}{}", text(record, "prompt"), text(record, "canonical_solution"))
}

fn rust(record: &Value) -> String {
    format!("{}{}", text(record, "declaration"), text(record, "canonical_solution"))
}

#[tokio::test]
async fn some_cpp_references_pass() {
    assert_eq!(failures(Language::Cpp, 20, cpp).await, (58, Vec::new()));
}

#[tokio::test]
async fn some_rust_references_pass() {
    assert_eq!(failures(Language::Rust, 20, rust).await, (58, Vec::new()));
}

#[tokio::test]
#[ignore = "takes minutes"]
async fn all_cpp_references_pass_but_those_that_lack_boost() {
    let lacking = ["CPP/22: compile_error", "CPP/137: compile_error"].map(str::to_owned).to_vec();
    assert_eq!(failures(Language::Cpp, 1, cpp).await, (1129, lacking));
}

#[tokio::test]
#[ignore = "takes minutes"]
async fn all_rust_references_pass() {
    assert_eq!(failures(Language::Rust, 1, rust).await, (1136, Vec::new()));
}
