use std::{path::Path, sync::Arc};

use super::{
    Benchmark, BenchmarkError, FeedbackSet, assertions::assertion_suite, assertions::assertions, benchmark::problems,
    data_file::data_file, feedback::split, humaneval::prompt_head, records::Record, records::read_records,
};
use crate::{
    domain::{Language, Limits, Problem, Program, Task, TestSuite},
    ids::TaskId,
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

    fn load(&self, path: &Path, language: Language, feedback: FeedbackSet) -> Result<Vec<Problem>, BenchmarkError> {
        let named = [format!("humanevalpack_{language}.jsonl")];
        let upstream = ["humanevalpack.jsonl".to_owned()];
        let path = data_file(path, &format!("{} file for {language}", self.name()), &[&named, &upstream])?;
        problems(&read_records(&path)?, feedback, |record| self.problem(record, language))
    }
}

impl HumanEvalFix {
    fn problem(&self, record: &Record, language: Language) -> Result<Problem, BenchmarkError> {
        let id = record.string("task_id")?;
        let prefix = match language {
            Language::Python => "Python/",
            Language::Cpp => "CPP/",
            Language::Java => "Java/",
            Language::JavaScript => "JavaScript/",
            Language::Go => "Go/",
            Language::Rust => "Rust/",
        };
        if !id.starts_with(prefix) {
            let problem = format!("not a task for {language}, whose ids begin with `{prefix}`");
            return Err(record.field_mistake("task_id", problem));
        }
        let entry_point = record.name("entry_point")?;
        let head = prompt_head(record, &record.code("prompt")?, entry_point)?;
        let declaration = record.code("declaration")?;
        let program = |body: &str| -> Result<_, BenchmarkError> {
            Ok(Arc::new(Program::new(language, declaration.clone() + &record.code(body)?)))
        };
        let suite = |field: &str| -> Result<TestSuite, BenchmarkError> {
            assertion_suite(&record.code(field)?, entry_point).map_err(|error| record.test_mistake(field, &error))
        };
        let (visible, hidden, notes) =
            split(if has_assertions(record)? { Some(suite("example_test")?) } else { None }, suite("test")?);
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
            starter: Some(program("buggy_solution")?),
            faulty_lines: Vec::new(),
            limits: Limits::default(),
        };
        Ok(Problem { task: Arc::new(task), hidden, reference: Some(program("canonical_solution")?), notes })
    }
}

/// Whether the visible tests of this record assert anything.
fn has_assertions(record: &Record) -> Result<bool, BenchmarkError> {
    const FIELD: &str = "example_test";
    let found = assertions(&record.code(FIELD)?).map_err(|error| record.test_mistake(FIELD, &error))?;
    Ok(!found.is_empty())
}
