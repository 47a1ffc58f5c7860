//! Loading problems: public data sets, our own task files, samples, and files that somebody broke.

mod bad_files;
mod commands;
mod example_tasks;
mod fetching;
mod languages;
mod mapping;
mod psb2;
mod public_data;
mod sets;
mod task_files;
mod translation;

use std::path::{Path, PathBuf};

use rolecall::domain::{Problem, TestSuite};

/// The folder of the public data sets.
pub fn datasets() -> PathBuf {
    let fallback = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/datasets");
    std::env::var_os("ROLECALL_DATASETS").map_or_else(fallback, PathBuf::from)
}

fn problem_named<'p>(problems: &'p [Problem], id: &str) -> &'p Problem {
    problems.iter().find(|problem| problem.task.id.0 == id).unwrap_or_else(|| panic!("no task {id}"))
}

fn assertion_texts(suite: &TestSuite) -> Vec<&str> {
    match suite {
        TestSuite::Assertions { assertions, .. } => {
            assertions.iter().map(|assertion| assertion.text.as_str()).collect()
        }
        TestSuite::Io { .. } => panic!("assertions expected"),
    }
}

fn code(suite: &TestSuite) -> &str {
    match suite {
        TestSuite::Assertions { code, .. } => code,
        TestSuite::Io { .. } => panic!("assertions expected"),
    }
}
