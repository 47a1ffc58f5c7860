use std::{path::Path, sync::Arc};

use super::{
    Benchmark, BenchmarkError,
    benchmark::{TestSets, problems},
    data_file::data_file,
    feedback::{Split, split},
    joined::{asserts, entry_point, file_names, head, id, program, tests, unknown_helpers},
    known_faults::known_faults,
    records::{Record, read_records},
    suites::suite,
    translation::{Source, Sources},
};
use crate::{
    domain::{FeedbackSet, Language, Problem, Program, Task, TestSuite},
    ids::TaskId,
    languages::limits,
};

/// HumanEval-X: write a function from its head and documentation, in six languages (Zheng et al., 2023, "CodeGeeX",
/// arXiv 2303.17568). No starter; visible tests = `example_test`, hidden = `test`. A task without visible tests has its
/// hidden ones fed back, and a note.
///
/// A record does not name the function under test: it is the last one of the declaration that the tests mention.
pub struct HumanEvalX;

/// Tasks that are left out, since their tests assert nothing: any program would pass.
const LEFT_OUT: &[&str] = &["Rust/32"];

impl Benchmark for HumanEvalX {
    fn name(&self) -> &'static str {
        "humaneval-x"
    }

    fn summary(&self) -> &'static str {
        "write a function from its head and documentation, in six languages (164 tasks a language, no starter program)"
    }

    fn licence(&self) -> &'static str {
        "Apache-2.0"
    }

    fn source(&self) -> &'static str {
        "https://github.com/THUDM/CodeGeeX"
    }

    fn tests(&self) -> TestSets {
        TestSets { visible: "`example_test`", hidden: Some("`test`, less the visible ones") }
    }

    fn languages(&self) -> &'static [Language] {
        Language::ALL
    }

    fn sources(&self, path: &Path, language: Language) -> Result<Option<Sources>, BenchmarkError> {
        // A path that names the file of the target language means the folder that it is in.
        let folder = if path.is_file() { path.parent().unwrap_or(path) } else { path };
        let records = self.records(folder, language)?;
        records.iter().map(|record| source(record, language)).collect::<Result<_, _>>().map(Some)
    }

    fn read(&self, path: &Path, language: Language, feedback: FeedbackSet) -> Result<Vec<Problem>, BenchmarkError> {
        let records = self.records(path, language)?;
        problems(&records, feedback, |record| self.problem(record, language, feedback))
    }
}

/// A record's program, and what its task's id has behind the `/`.
fn source(record: &Record, language: Language) -> Result<(String, Source), BenchmarkError> {
    let id = id(record, language)?;
    let program = program(record, language, "canonical_solution")?;
    let entry_point = entry_point_of(record, language, &program)?;
    let number = id.rsplit('/').next().unwrap_or(id).to_owned();
    Ok((number, Source { program: Arc::new(Program::new(language, program)), entry_point }))
}

fn entry_point_of(record: &Record, language: Language, program: &str) -> Result<String, BenchmarkError> {
    entry_point(language, &record.code("declaration")?, program, &record.code("test")?)
        .ok_or_else(|| record.field_mistake("test", "mentions no function of the reference program"))
}

impl HumanEvalX {
    fn records(&self, path: &Path, language: Language) -> Result<Vec<Record>, BenchmarkError> {
        let names = file_names("humaneval", language);
        let path = data_file(path, &format!("{} file for {}", self.name(), language.title()), &[&names])?;
        let mut records = read_records(&path)?;
        records.retain(|record| !record.string("task_id").is_ok_and(|id| LEFT_OUT.contains(&id)));
        Ok(records)
    }

    fn problem(&self, record: &Record, language: Language, feedback: FeedbackSet) -> Result<Problem, BenchmarkError> {
        let id = id(record, language)?;
        let prompt = record.code("prompt")?;
        let reference = match language {
            Language::Python => prompt.clone() + &record.code("canonical_solution")?,
            other => program(record, other, "canonical_solution")?,
        };
        let entry_point = entry_point_of(record, language, &reference)?;
        let head = head(record, language, &entry_point)?;
        let suite = |field: &str| -> Result<TestSuite, BenchmarkError> {
            let code = tests(record, language, field)?;
            suite(language, &code, &entry_point).map_err(|error| record.test_mistake(field, &error))
        };
        let visible = if asserts(record, language)? { Some(suite("example_test")?) } else { None };
        let entry = (language, entry_point.as_str());
        let Split { visible, hidden, feedback, mut notes } = split(entry, visible, suite("test")?, feedback);
        notes.extend(known_faults(self.name(), id));
        let helpers = unknown_helpers(language, &head, &reference, &record.code("test")?);
        notes.extend(helpers.iter().map(|name| format!("the tests call `{name}`, which only the reference defines")));
        let task = Task {
            id: TaskId(id.to_owned()),
            dataset: self.name().to_owned(),
            language,
            statement: prompt.trim().to_owned(),
            entry_point: Some(entry_point),
            signature: Some(head.signature),
            preamble: head.preamble,
            support: None,
            feedback: visible.clone(),
            visible,
            source: None,
            starter: None,
            faulty_lines: Vec::new(),
            limits: limits(language),
        };
        Ok(Problem {
            task: Arc::new(task),
            feedback,
            validation: None,
            hidden,
            reference: Some(Arc::new(Program::new(language, reference))),
            notes,
        })
    }
}
