//! Code extraction from replies, and the prompts that are shipped.

mod asked;
pub mod carries;
mod context;
mod extraction;
pub mod feedback;
mod languages;
mod rendering;
mod shipped;
mod traced;

use std::sync::Arc;

use rolecall::{
    domain::{Assertion, IoCase, Language, Limits, OutputRule, Task, TestSuite},
    ids::TaskId,
};

/// A task for a function `name` with this signature.
pub fn function_task(name: &str, signature: &str, preamble: Option<&str>) -> Task {
    let assertion = format!("assert {name}(1) == 2");
    let tests = Arc::new(TestSuite::Assertions {
        code: format!("{assertion}\n"),
        assertions: vec![Assertion { line: 1, text: assertion }],
    });
    Task {
        id: TaskId(name.to_owned()),
        dataset: "file".to_owned(),
        language: Language::Python,
        statement: format!("Write a function {name} that gives the next number."),
        entry_point: Some(name.to_owned()),
        signature: Some(signature.to_owned()),
        preamble: preamble.map(str::to_owned),
        support: None,
        visible: tests.clone(),
        feedback: tests,
        source: None,
        starter: None,
        faulty_lines: Vec::new(),
        limits: Limits::default(),
    }
}

/// A task for a program that reads stdin and writes stdout.
pub fn program_task() -> Task {
    let mut task = function_task("twice", "", None);
    task.entry_point = None;
    task.signature = None;
    task.statement = "Read a number and print twice that number.".to_owned();
    task.visible = Arc::new(TestSuite::Io {
        cases: vec![IoCase { stdin: "21\n".to_owned(), stdout: "42\n".to_owned() }],
        rule: OutputRule::Tokens,
    });
    task.feedback = task.visible.clone();
    task
}
