use std::{path::Path, sync::Arc};

use super::{
    Benchmark, BenchmarkError,
    assertions::assertion_suite,
    benchmark::{TestSets, problems},
    changed_lines::changed_lines,
    data_file::data_file,
    feedback::Split,
    java_bugs::{NO_SPLIT, expect_language, java_problem},
    python_syntax::PythonText,
    records::{Record, read_records},
    table_tests::unrolled,
};
use crate::{
    domain::{FeedbackSet, Language, Limits, Problem, Program, Task},
    ids::TaskId,
};

/// QuixBugs: classic algorithms with a fault in one line each (Lin et al., 2017, "QuixBugs: a multi-lingual program
/// repair benchmark set based on the Quixey challenge").
///
/// The data set has one set of tests only, so these are fed back and decide too. The faulty lines are those that the fix
/// changes. Tests that loop over a table become one
/// assertion a row; classes that the other tests define become the task's support classes.
pub struct QuixBugs;

impl Benchmark for QuixBugs {
    fn name(&self) -> &'static str {
        "quixbugs"
    }

    fn summary(&self) -> &'static str {
        "repair classic algorithms with a fault in one line (40 programs a language)"
    }

    fn licence(&self) -> &'static str {
        "MIT"
    }

    fn source(&self) -> &'static str {
        "https://github.com/jkoppel/QuixBugs"
    }

    fn tests(&self) -> TestSets {
        TestSets { visible: "all", hidden: None }
    }

    fn has_starters(&self) -> bool {
        true
    }

    fn languages(&self) -> &'static [Language] {
        &[Language::Python, Language::Java]
    }

    fn read(&self, path: &Path, language: Language, feedback: FeedbackSet) -> Result<Vec<Problem>, BenchmarkError> {
        let names = [format!("quixbugs_{language}.jsonl")];
        let path = data_file(path, &format!("{} file for {}", self.name(), language.title()), &[&names])?;
        problems(&read_records(&path)?, feedback, |record| match language {
            Language::Java => {
                java_problem(record, self.name(), |buggy, fixed| Ok(changed_lines(language, buggy, fixed)))
            }
            _ => self.problem(record, language),
        })
    }
}

impl QuixBugs {
    fn problem(&self, record: &Record, language: Language) -> Result<Problem, BenchmarkError> {
        expect_language(record, language)?;
        let entry_point = record.name("entry_point")?;
        let tests = Tests::of(&record.code("tests")?).ok_or_else(|| record.field_mistake("tests", "cannot be read"))?;
        let suite = assertion_suite(&tests.code, entry_point).map_err(|error| record.test_mistake("tests", &error))?;
        let Split { visible, hidden, feedback, notes } = Split::none(suite, NO_SPLIT);
        let (buggy, reference) = (record.code("buggy_code")?, record.code("reference")?);
        let task = Task {
            id: TaskId(record.string("task_id")?.to_owned()),
            dataset: self.name().to_owned(),
            language,
            statement: record.string("prompt")?.trim().to_owned(),
            entry_point: Some(entry_point.to_owned()),
            signature: Some(record.string("signature")?.to_owned()),
            preamble: None,
            support: tests.support,
            feedback: visible.clone(),
            visible,
            source: None,
            faulty_lines: changed_lines(language, &buggy, &reference),
            starter: Some(Arc::new(Program::new(language, buggy))),
            limits: Limits::default(),
        };
        let reference = Some(Arc::new(Program::new(language, reference)));
        Ok(Problem { task: Arc::new(task), feedback, validation: None, hidden, reference, notes })
    }
}

/// The tests of a record, taken apart.
struct Tests {
    code: String,
    support: Option<String>,
}

impl Tests {
    fn of(text: &str) -> Option<Self> {
        if let Some(code) = unrolled(text).ok()? {
            return Some(Self { code, support: None });
        }
        let python = PythonText::parse(text).ok()?;
        let classes = python.statements().into_iter().filter(|statement| statement.kind() == "class_definition");
        let (mut code, mut support, mut copied) = (String::new(), String::new(), 0);
        for class in classes {
            code.push_str(&text[copied..class.start_byte()]);
            support.push_str(python.source(class));
            support.push('\n');
            copied = class.end_byte();
        }
        code.push_str(&text[copied..]);
        Some(Self { code: code.trim_start().to_owned(), support: Some(support).filter(|text| !text.is_empty()) })
    }
}
