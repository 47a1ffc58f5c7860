use std::{collections::BTreeSet, path::Path, sync::Arc};

use super::{
    Benchmark, BenchmarkError, Split,
    assertions::assertion_suite,
    benchmark::{TestSets, problems},
    data_file::data_file,
    python_syntax::{PythonText, nodes_below},
    records::Record,
    records::read_records,
};
use crate::{
    domain::{FeedbackSet, HiddenTests, Language, Limits, Problem, Program, Task},
    ids::TaskId,
};

/// MBPP: write a small function from one sentence and one test (Austin et al., 2021, "Program Synthesis with Large
/// Language Models", arXiv 2108.07732). Both `mbpp.jsonl` and `sanitized-mbpp.json` are read.
///
/// The sentence does not name the function, so the statement shows the first test; that one is visible, and the whole of
/// `test_list`, which is what the data set scores by, is hidden. `challenge_test_list` is not used.
pub struct Mbpp;

/// Visible and hidden tests are not disjoint: the data set scores by all of them.
const OVERLAP: &str = "the visible test is one of the hidden ones too";

/// By `task_id`, as the authors divide them.
const SPLITS: &[Split] = &[
    Split::ALL,
    Split { name: "prompt", holds: |task| number(task).is_some_and(|id| (1..=10).contains(&id)) },
    Split { name: "test", holds: |task| number(task).is_some_and(|id| (11..=510).contains(&id)) },
    Split { name: "validation", holds: |task| number(task).is_some_and(|id| (511..=600).contains(&id)) },
    Split { name: "train", holds: |task| number(task).is_some_and(|id| (601..=974).contains(&id)) },
];

/// The `task_id`, which is all of the id but its prefix.
fn number(task: &Task) -> Option<u32> {
    task.id.0.strip_prefix(ID_PREFIX)?.parse().ok()
}

const ID_PREFIX: &str = "Mbpp/";

impl Benchmark for Mbpp {
    fn name(&self) -> &'static str {
        "mbpp"
    }

    fn summary(&self) -> &'static str {
        "write a small function from one sentence and one test (974 tasks, sanitized 427)"
    }

    fn licence(&self) -> &'static str {
        "CC BY 4.0"
    }

    fn source(&self) -> &'static str {
        "https://github.com/google-research/google-research/tree/master/mbpp"
    }

    fn tests(&self) -> TestSets {
        TestSets { visible: "the first of `test_list`", hidden: Some("all of `test_list`") }
    }

    fn splits(&self) -> &'static [Split] {
        SPLITS
    }

    fn read(&self, path: &Path, language: Language, feedback: FeedbackSet) -> Result<Vec<Problem>, BenchmarkError> {
        let (full, sanitized) = (["mbpp.jsonl".to_owned()], ["sanitized-mbpp.json".to_owned()]);
        let path = data_file(path, &format!("{} file for {}", self.name(), language.title()), &[&full, &sanitized])?;
        problems(&read_records(&path)?, feedback, |record| self.problem(record, language, feedback))
    }
}

impl Mbpp {
    fn problem(&self, record: &Record, language: Language, feedback: FeedbackSet) -> Result<Problem, BenchmarkError> {
        let number = record.whole_number("task_id")?;
        let sentence = record.string(if record.has("prompt") { "prompt" } else { "text" })?.trim();
        let tests = record.code_list("test_list")?;
        let Some(first) = tests.first() else {
            return Err(record.field_mistake("test_list", "no test: any program would pass"));
        };
        let mut setup = record.code_list("test_imports")?;
        if record.has("test_setup_code") {
            setup.push(record.code("test_setup_code")?);
        }
        let solution = record.code("code")?;
        let entry_point = entry_point(&solution, &tests)
            .ok_or_else(|| record.field_mistake("test_list", "the tests call no function that field `code` defines"))?;
        let suite = |tests: &[String]| {
            let lines: Vec<_> =
                setup.iter().chain(tests).map(|line| line.trim()).filter(|line| !line.is_empty()).collect();
            assertion_suite(&(lines.join("\n") + "\n"), &entry_point)
                .map(Arc::new)
                .map_err(|error| record.test_mistake("test_list", &error))
        };
        let (visible, all) = (suite(&tests[..1])?, suite(&tests)?);
        // Made here for `All`: the hidden tests hold the visible one already.
        let (feedback, fed_back, hidden) = match feedback {
            FeedbackSet::All => (feedback, all, None),
            _ => (FeedbackSet::Visible, visible.clone(), Some(HiddenTests::new(Arc::unwrap_or_clone(all)))),
        };
        let notes = hidden.iter().map(|_| OVERLAP.to_owned()).collect();
        let task = Task {
            id: TaskId(format!("{ID_PREFIX}{number}")),
            dataset: self.name().to_owned(),
            language,
            statement: format!("{sentence}\n\nYour code should pass this test:\n{}", first.trim()),
            entry_point: Some(entry_point),
            signature: None,
            preamble: None,
            support: None,
            visible,
            feedback: fed_back,
            source: None,
            starter: None,
            faulty_lines: Vec::new(),
            limits: Limits::default(),
        };
        let reference = Some(Arc::new(Program::new(language, solution)));
        Ok(Problem { task: Arc::new(task), feedback, validation: None, hidden, reference, notes })
    }
}

/// The function under test: the first name in the tests, in their order, that is called and that `solution` defines.
fn entry_point(solution: &str, tests: &[String]) -> Option<String> {
    let solution = PythonText::parse(solution).ok()?;
    let defined: BTreeSet<_> = solution.statements().into_iter().flat_map(|node| solution.bound_names(node)).collect();
    tests.iter().find_map(|test| {
        let test = PythonText::parse(test).ok()?;
        let statements = test.statements().into_iter().flat_map(nodes_below);
        let mut called = statements
            .filter(|node| node.kind() == "call")
            .filter_map(|call| call.child_by_field_name("function").map(|function| test.source(function).to_owned()));
        called.find(|name| defined.contains(name.as_str()))
    })
}
