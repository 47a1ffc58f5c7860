use std::{collections::BTreeSet, path::Path};

use rolecall::{
    benchmarks::load_dir,
    domain::{Problem, TestSuite},
};

/// Each test as it reads, so that two of the same words are the same test.
fn tests(suite: &TestSuite) -> Vec<String> {
    match suite {
        TestSuite::Assertions { assertions, .. } => assertions.iter().map(|test| test.text.clone()).collect(),
        TestSuite::Io { cases, .. } => cases.iter().map(|case| case.stdin.clone()).collect(),
    }
}

fn example_tasks() -> Vec<Problem> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/tasks");
    load_dir(&dir).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_example_task_has_visible_and_hidden_tests_that_are_not_the_same() {
    let problems = example_tasks();
    assert!(problems.len() >= 30, "{}", problems.len());
    for problem in &problems {
        let id = &problem.task.id;
        let hidden = problem.hidden.as_ref().unwrap_or_else(|| panic!("{id} hides nothing"));
        let (visible, hidden) = (tests(&problem.task.visible), tests(hidden.reveal()));
        assert!(!visible.is_empty() && !hidden.is_empty(), "{id}");
        let all: BTreeSet<_> = visible.iter().chain(&hidden).collect();
        assert_eq!(all.len(), visible.len() + hidden.len(), "{id}: a test stands twice");
    }
}

#[test]
fn every_example_task_is_a_program_to_repair_with_its_faulty_lines() {
    for problem in example_tasks() {
        let task = &problem.task;
        let (starter, reference) = (task.starter.as_ref().unwrap(), problem.reference.as_ref().unwrap());
        assert_ne!(starter, reference, "{}", task.id);
        assert!(!task.faulty_lines.is_empty(), "{}", task.id);
    }
}
