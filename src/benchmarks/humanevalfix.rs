use std::{path::Path, sync::Arc};

use super::{
    Benchmark, BenchmarkError,
    benchmark::{TestSets, problems},
    changed_lines::changed_lines,
    data_file::data_file,
    feedback::{Split, split},
    joined::{asserts, file_names, head, id, program, tests},
    known_faults::known_faults,
    records::{Record, read_records},
    suites::suite,
};
use crate::{
    domain::{FeedbackSet, Language, Problem, Program, Task, TestSuite},
    ids::TaskId,
    languages::limits,
};

/// HumanEvalFix: repair a function that was broken by hand. Starter = `declaration` + `buggy_solution`; visible tests =
/// `example_test`, hidden = `test`. A task without visible assertions has its hidden tests fed back, and a note.
///
/// The data is HumanEvalPack (Muennighoff et al., 2023, "OctoPack"). The statement is its `instruction`, which includes
/// the documentation of the function.
pub struct HumanEvalFix;

impl Benchmark for HumanEvalFix {
    fn name(&self) -> &'static str {
        "humanevalfix"
    }

    fn summary(&self) -> &'static str {
        "repair a function that was broken by hand (HumanEvalPack, up to 164 tasks a language)"
    }

    fn licence(&self) -> &'static str {
        "MIT"
    }

    fn source(&self) -> &'static str {
        "https://github.com/bigcode-project/octopack"
    }

    fn tests(&self) -> TestSets {
        TestSets { visible: "`example_test`", hidden: Some("`test`, less the visible ones") }
    }

    fn has_starters(&self) -> bool {
        true
    }

    fn folders(&self) -> Vec<&'static str> {
        vec![self.name(), "humanevalpack"]
    }

    fn languages(&self) -> &'static [Language] {
        Language::ALL
    }

    fn read(&self, path: &Path, language: Language, feedback: FeedbackSet) -> Result<Vec<Problem>, BenchmarkError> {
        let named = file_names("humanevalpack", language);
        let upstream = ["humanevalpack.jsonl".to_owned()];
        let path = data_file(path, &format!("{} file for {}", self.name(), language.title()), &[&named, &upstream])?;
        problems(&read_records(&path)?, feedback, |record| self.problem(record, language, feedback))
    }
}

impl HumanEvalFix {
    fn problem(&self, record: &Record, language: Language, feedback: FeedbackSet) -> Result<Problem, BenchmarkError> {
        let id = id(record, language)?;
        let entry_point = record.name("entry_point")?;
        let program = |field: &str| program(record, language, field);
        let (buggy, reference) = (program("buggy_solution")?, program("canonical_solution")?);
        let head = head(record, language, entry_point)?;
        let suite = |field: &str| -> Result<TestSuite, BenchmarkError> {
            let code = tests(record, language, field)?;
            suite(language, &code, entry_point).map_err(|error| record.test_mistake(field, &error))
        };
        let visible = if asserts(record, language)? { Some(suite("example_test")?) } else { None };
        let entry = (language, entry_point);
        let Split { visible, hidden, feedback, mut notes } = split(entry, visible, suite("test")?, feedback);
        notes.extend(known_faults(self.name(), id));
        let source = |text: String| Arc::new(Program::new(language, text));
        let task = Task {
            id: TaskId(id.to_owned()),
            dataset: self.name().to_owned(),
            language,
            statement: record.string("instruction")?.trim().to_owned(),
            entry_point: Some(entry_point.to_owned()),
            signature: Some(head.signature),
            preamble: head.preamble,
            support: None,
            feedback: visible.clone(),
            visible,
            source: None,
            faulty_lines: changed_lines(language, &buggy, &reference),
            starter: Some(source(buggy)),
            limits: limits(language),
        };
        let (task, reference) = (Arc::new(task), Some(source(reference)));
        Ok(Problem { task, feedback, validation: None, hidden, reference, notes })
    }
}
