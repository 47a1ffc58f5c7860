use std::{path::Path, sync::Arc};

use serde_json::Value;

use super::{
    BenchmarkError,
    benchmark::problems,
    changed_lines::changed_lines,
    feedback::{Split, split},
    mapping::{IoFields, Mapping, TestKind, Tests},
    records::{Record, read_records},
    suites::suite,
    task_file::{defines, is_task_id},
    unchecked::unchecked,
};
use crate::{
    domain::{FeedbackSet, HiddenTests, IoCase, Language, OutputRule, Problem, Program, Task, TestSuite},
    ids::TaskId,
};

/// Loads the tasks of a JSON Lines file by a mapping of its fields (`docs/tasks.md`), in the order of the file. `data` goes
/// before the file that the mapping names.
///
/// # Errors
/// Every mistake of the mapping, each with `FILE:LINE:COLUMN`; the first of the data, with its line, record and field.
pub fn load_mapped(mapping: &Path, data: Option<&Path>, feedback: FeedbackSet) -> Result<Vec<Problem>, BenchmarkError> {
    let mapping = Mapping::read(mapping)?;
    let records = read_records(data.unwrap_or(&mapping.data))?;
    problems(&records, feedback, |record| mapping.problem(record, feedback))
}

impl Mapping {
    fn problem(&self, record: &Record, feedback: FeedbackSet) -> Result<Problem, BenchmarkError> {
        let (language, fields) = (self.language, &self.fields);
        let id = record.word(&fields.id)?;
        if !is_task_id(&id) {
            return Err(record.field_mistake(&fields.id, "letters, digits and - _ . / make an id, at most 200 bytes"));
        }
        let statement = joined(record, &fields.statement)?.trim().to_owned();
        if statement.is_empty() {
            return Err(record.mistake("the statement is empty"));
        }
        let entry_point = fields.entry_point.as_deref().map(|field| record.name(field)).transpose()?;
        let optional = |names: &[String]| -> Result<Option<String>, BenchmarkError> {
            let is_there = names.first().is_some_and(|first| record.has(first));
            is_there.then(|| joined(record, names)).transpose()
        };
        let program = |names: &[String]| -> Result<Option<Arc<Program>>, BenchmarkError> {
            let Some(text) = optional(names)? else { return Ok(None) };
            let lacks = entry_point.filter(|name| defines(language, &text, name) == Some(false));
            match (names.last(), lacks) {
                (Some(field), Some(name)) => {
                    Err(record.field_mistake(field, format_args!("does not define the function `{name}`")))
                }
                _ => Ok(Some(Arc::new(Program::new(language, text)))),
            }
        };
        let (starter, reference) = (program(&fields.starter)?, program(&fields.reference)?);
        let signature = match &fields.signature {
            Some(field) if record.has(field) => Some(record.code(field)?.trim().to_owned()),
            _ => None,
        };
        let visible = self.suite(record, &self.visible, entry_point)?;
        let [validation, hidden] = [&self.validation, &self.hidden]
            .map(|tests| tests.as_ref().map(|tests| self.suite(record, tests, entry_point)).transpose());
        let (validation, hidden) = (validation?.map(HiddenTests::new), hidden?);
        let Split { visible, hidden, feedback, mut notes } = apart((language, entry_point), visible, hidden, feedback);
        notes.extend(unchecked(&statement, &visible));
        let faulty_lines = match (&starter, &reference) {
            (Some(buggy), Some(right)) => changed_lines(language, &buggy.text, &right.text),
            _ => Vec::new(),
        };
        let task = Task {
            id: TaskId(id),
            dataset: self.name.clone(),
            language,
            statement,
            entry_point: entry_point.map(str::to_owned),
            signature,
            preamble: optional(&fields.preamble)?,
            support: optional(&fields.support)?,
            feedback: visible.clone(),
            visible,
            source: None,
            starter,
            faulty_lines,
            limits: self.limits.clone(),
        };
        Ok(Problem { task: Arc::new(task), feedback, validation, hidden, reference, notes })
    }

    fn suite(&self, record: &Record, tests: &Tests, entry_point: Option<&str>) -> Result<TestSuite, BenchmarkError> {
        let first = tests.first.unwrap_or(usize::MAX);
        match (&tests.kind, entry_point) {
            (TestKind::Io(fields), _) => {
                let cases: Vec<IoCase> = cases(record, fields, &self.rule)?.into_iter().take(first).collect();
                if cases.is_empty() {
                    return Err(record.field_mistake(&fields.field, "no test: any program would pass"));
                }
                Ok(TestSuite::Io { cases, rule: self.rule.clone() })
            }
            (TestKind::Code(names), Some(entry_point)) => {
                let mut code = String::new();
                for name in names {
                    // `first` counts the items of the last field, below what comes before it.
                    let most = if Some(name) == names.last() { first } else { usize::MAX };
                    append(&mut code, &record.code_or_lines(name, most)?);
                }
                let field = names.last().map_or("", String::as_str);
                suite(self.language, &code, entry_point).map_err(|error| record.test_mistake(field, &error))
            }
            // cannot be: a mapping with assertions names the field of the function
            (TestKind::Code(_), None) => Err(record.mistake("no function to test")),
        }
    }
}

/// The sets of a task. What is visible is taken out of the hidden tests.
fn apart(
    (language, entry_point): (Language, Option<&str>),
    visible: TestSuite,
    hidden: Option<TestSuite>,
    feedback: FeedbackSet,
) -> Split {
    match (hidden, entry_point, &visible) {
        (Some(hidden), Some(entry_point), _) => split((language, entry_point), Some(visible), hidden, feedback),
        (Some(TestSuite::Io { cases, rule }), _, TestSuite::Io { cases: shown, .. }) => {
            let cases: Vec<IoCase> = cases.into_iter().filter(|case| !shown.contains(case)).collect();
            let (hidden, notes) = match cases.is_empty() {
                true => (None, vec![super::feedback::NOTHING_HIDDEN.to_owned()]),
                false => (Some(HiddenTests::new(TestSuite::Io { cases, rule })), Vec::new()),
            };
            Split { visible: Arc::new(visible), hidden, feedback: FeedbackSet::Visible, notes }
        }
        _ => Split { visible: Arc::new(visible), hidden: None, feedback: FeedbackSet::Visible, notes: Vec::new() },
    }
}

/// The texts of fields, each from the beginning of a line.
fn joined(record: &Record, names: &[String]) -> Result<String, BenchmarkError> {
    let mut text = String::new();
    for name in names {
        append(&mut text, &record.code_or_lines(name, usize::MAX)?);
    }
    Ok(text)
}

fn append(text: &mut String, more: &str) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(more);
}

/// Inputs and outputs: an array of objects or of pairs, or an object of two arrays.
fn cases(record: &Record, fields: &IoFields, rule: &OutputRule) -> Result<Vec<IoCase>, BenchmarkError> {
    let IoFields { field, stdin, stdout } = fields;
    let wrong = || {
        record.field_mistake(
            field,
            format_args!(
                "expected an array of objects with the strings `{stdin}` and `{stdout}`, or of pairs of strings, or an object \
                 with the arrays of strings `{stdin}` and `{stdout}` of one length"
            ),
        )
    };
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    // A checker needs no example of a right output.
    let printed = |value: Option<&Value>| match (value, rule) {
        (None | Some(Value::Null), OutputRule::Checker(_)) => Some(String::new()),
        (value, _) => text(value),
    };
    let case = |stdin, stdout| Some(IoCase { stdin: text(stdin)?, stdout: printed(stdout)? });
    let found: Option<Vec<IoCase>> = match record.any(field)? {
        Value::Array(items) => items
            .iter()
            .map(|item| match item {
                Value::Object(item) => case(item.get(stdin.as_str()), item.get(stdout.as_str())),
                Value::Array(pair) if pair.len() == 2 => case(pair.first(), pair.last()),
                _ => None,
            })
            .collect(),
        Value::Object(lists) => {
            let list = |name: &String| lists.get(name.as_str()).and_then(Value::as_array);
            match (list(stdin), list(stdout)) {
                (Some(read), Some(print)) if read.len() == print.len() => {
                    read.iter().zip(print).map(|(read, print)| case(Some(read), Some(print))).collect()
                }
                _ => None,
            }
        }
        _ => None,
    };
    let found = found.ok_or_else(wrong)?;
    match found.iter().any(|case| case.stdin.contains('\0') || case.stdout.contains('\0')) {
        true => Err(record.field_mistake(field, "holds a NUL character")),
        false => Ok(found),
    }
}
