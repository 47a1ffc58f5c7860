use std::{path::Path, sync::Arc};

use super::{
    Benchmark, BenchmarkError, FeedbackSet,
    benchmark::problems,
    data_file::data_file,
    feedback::split,
    joined::{asserts, file_names, head, id, program, tests},
    known_faults::known_faults,
    records::{Record, read_records},
    suites::suite,
};
use crate::{
    domain::{Language, Problem, Program, Task, TestSuite},
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

    fn languages(&self) -> &'static [Language] {
        Language::ALL
    }

    fn read(&self, path: &Path, language: Language, feedback: FeedbackSet) -> Result<Vec<Problem>, BenchmarkError> {
        let named = file_names("humanevalpack", language);
        let upstream = ["humanevalpack.jsonl".to_owned()];
        let path = data_file(path, &format!("{} file for {}", self.name(), language.title()), &[&named, &upstream])?;
        problems(&read_records(&path)?, feedback, |record| self.problem(record, language))
    }
}

impl HumanEvalFix {
    fn problem(&self, record: &Record, language: Language) -> Result<Problem, BenchmarkError> {
        let id = id(record, language)?;
        let entry_point = record.name("entry_point")?;
        let reference = program(record, language, "canonical_solution")?;
        let head = head(record, language, entry_point)?;
        let suite = |field: &str| -> Result<TestSuite, BenchmarkError> {
            let code = tests(record, language, field)?;
            suite(language, &code, entry_point).map_err(|error| record.test_mistake(field, &error))
        };
        let visible = if asserts(record, language)? { Some(suite("example_test")?) } else { None };
        let (visible, hidden, mut notes) = split(visible, suite("test")?);
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
            visible,
            starter: Some(source(program(record, language, "buggy_solution")?)),
            faulty_lines: Vec::new(),
            limits: limits(language),
        };
        Ok(Problem { task: Arc::new(task), hidden, reference: Some(source(reference)), notes })
    }
}
