use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::Arc,
};

use serde_json::Value;

use super::{
    Benchmark, BenchmarkError,
    benchmark::{TestSets, problems},
    data_file::data_file,
    records::{Record, read_records},
};
use crate::{
    domain::{FeedbackSet, HiddenTests, IoCase, Language, OutputRule, Problem, Task, TestSuite, Tolerance},
    ids::TaskId,
    languages::limits,
};

/// PSB2, the second program synthesis benchmark suite: whole programs from a description and examples (Helmuth and Kelly,
/// 2021, "PSB2: The Second Program Synthesis Benchmark Suite").
///
/// An example is read from standard input and answered on standard output: a list is two lines, its length and its items;
/// anything else is one line. The first 50 examples, edge cases before random ones, are the validation tests and the first
/// five of them visible; the random test cases that are none of these are hidden. Numbers with a fraction may be off by
/// 0.001, or by that share. There are no reference programs.
pub struct Psb2;

/// How many of the validation tests are visible.
const VISIBLE: usize = 5;

/// How many validation tests there are.
const VALIDATION: usize = 50;

/// How far a number with a fraction may lie from the expected one.
const TOLERANCE: f64 = 1e-3;

/// What the fields of an example begin with.
const INPUT: &str = "input";
const OUTPUT: &str = "output";

impl Benchmark for Psb2 {
    fn name(&self) -> &'static str {
        "psb2"
    }

    fn summary(&self) -> &'static str {
        "write a program that reads stdin, from a description and examples (25 problems, no starter program)"
    }

    fn licence(&self) -> &'static str {
        "not stated (Zenodo 5084812)"
    }

    fn source(&self) -> &'static str {
        "https://zenodo.org/records/5084812"
    }

    fn tests(&self) -> TestSets {
        TestSets { visible: "the first 5 validation tests", hidden: Some("`random_test`, less the validation tests") }
    }

    fn languages(&self) -> &'static [Language] {
        &[Language::Python, Language::Cpp]
    }

    fn read(&self, path: &Path, language: Language, feedback: FeedbackSet) -> Result<Vec<Problem>, BenchmarkError> {
        // Named by its file, the data set is the folder that this is in.
        let folder = if path.is_file() { path.parent().unwrap_or(path) } else { path };
        let records = |stem: &str| -> Result<Vec<Record>, BenchmarkError> {
            let names = [format!("{stem}.jsonl")];
            read_records(&data_file(folder, &format!("{stem} file of {}", self.name()), &[&names])?)
        };
        let (edge, train, test) = (records("edge")?, records("random_train")?, records("random_test")?);
        let (training, testing) = (cases(edge.iter().chain(&train))?, cases(&test)?);
        problems(&records("problems")?, feedback, |record| {
            let name = record.string("problem")?;
            let some = |cases: &BTreeMap<String, Vec<IoCase>>, file: &str| {
                let missing = || record.field_mistake("problem", format_args!("no example of `{name}` in {file}"));
                cases.get(name).cloned().ok_or_else(missing)
            };
            let (training, testing) = (some(&training, "edge or random_train")?, some(&testing, "random_test")?);
            self.problem(record, language, (training, testing))
        })
    }
}

impl Psb2 {
    fn problem(
        &self,
        record: &Record,
        language: Language,
        (training, testing): (Vec<IoCase>, Vec<IoCase>),
    ) -> Result<Problem, BenchmarkError> {
        let name = record.string("problem")?;
        let types = |field: &str| record.strings(field);
        let (inputs, outputs) = (types("input_types")?, types("output_types")?);
        let rule = match Tolerance::new(TOLERANCE) {
            Some(tolerance) if outputs.iter().any(|kind| kind.starts_with("float")) => OutputRule::Tolerance(tolerance),
            _ => OutputRule::Tokens,
        };
        let mut seen = BTreeSet::new();
        let mut training = training.into_iter().filter(|case| seen.insert(case.stdin.clone()));
        let validation: Vec<IoCase> = training.by_ref().take(VALIDATION).collect();
        drop(training);
        let hidden: Vec<IoCase> = testing.into_iter().filter(|case| !validation.contains(case)).collect();
        if hidden.is_empty() {
            return Err(record.field_mistake("problem", "every test is a validation test too"));
        }
        let suite = |cases: &[IoCase]| TestSuite::Io { cases: cases.to_vec(), rule: rule.clone() };
        let visible = Arc::new(suite(&validation[..validation.len().min(VISIBLE)]));
        let note = record.string("note")?;
        let said = (!note.is_empty()).then(|| format!("the data set says: {note}"));
        let task = Task {
            id: TaskId(format!("{}/{name}", self.name())),
            dataset: self.name().to_owned(),
            language,
            statement: statement(record.string("description")?, &inputs, &outputs),
            entry_point: None,
            signature: None,
            preamble: None,
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
            feedback: FeedbackSet::Visible,
            validation: Some(HiddenTests::new(suite(&validation))),
            hidden: Some(HiddenTests::new(suite(&hidden))),
            reference: None,
            notes: said.into_iter().collect(),
        })
    }
}

/// The description, and how values are read and printed.
fn statement(description: &str, inputs: &[&str], outputs: &[&str]) -> String {
    let named = |kinds: &[&str]| kinds.iter().map(|kind| in_words(kind)).collect::<Vec<_>>().join(", then ");
    let mut text = format!(
        "{}\n\nThe program reads from standard input: {}. It prints to standard output: {}. Each value has a line of its own.",
        description.trim(),
        named(inputs),
        named(outputs)
    );
    if inputs.iter().chain(outputs).any(|kind| kind.ends_with("_vector")) {
        text.push_str(" A list has two lines: first how many items it has, then the items, separated by spaces.");
    }
    if outputs.contains(&"bool") {
        text.push_str(" A truth value is printed as True or False.");
    }
    text
}

fn in_words(kind: &str) -> &str {
    match kind {
        "int" => "a whole number",
        "float" => "a number",
        "string" => "a text",
        "bool" => "a truth value",
        "int_vector" => "a list of whole numbers",
        "float_vector" => "a list of numbers",
        other => other,
    }
}

/// The examples by the problem that they are of, in the order of the files.
fn cases<'r>(records: impl IntoIterator<Item = &'r Record>) -> Result<BTreeMap<String, Vec<IoCase>>, BenchmarkError> {
    let mut cases = BTreeMap::<String, Vec<IoCase>>::new();
    for record in records {
        let case = IoCase { stdin: lines(record, INPUT)?, stdout: lines(record, OUTPUT)? };
        cases.entry(record.string("problem")?.to_owned()).or_default().push(case);
    }
    Ok(cases)
}

/// The values of the fields `{stem}1`, `{stem}2`, … as text.
fn lines(record: &Record, stem: &str) -> Result<String, BenchmarkError> {
    let mut text = String::new();
    for field in (1..).map(|number| format!("{stem}{number}")) {
        if text.is_empty() || record.has(&field) {
            match record.any(&field)? {
                Value::Array(items) => {
                    let items: Option<Vec<String>> = items.iter().map(scalar).collect();
                    let wrong = || record.field_mistake(&field, "a list holds numbers, texts and truth values only");
                    let items = items.ok_or_else(wrong)?;
                    text.push_str(&format!("{}\n{}\n", items.len(), items.join(" ")));
                }
                value => {
                    let wrong = || record.field_mistake(&field, "expected a number, a text, a truth value or a list");
                    text.push_str(&scalar(value).ok_or_else(wrong)?);
                    text.push('\n');
                }
            }
        } else {
            return Ok(text);
        }
    }
    Ok(text)
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::Bool(truth) => Some(if *truth { "True" } else { "False" }.to_owned()),
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) => Some(text.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{scalar, statement};

    #[test]
    fn values_are_written_as_lines() {
        let text = |json: &str| scalar(&serde_json::from_str(json).unwrap());
        assert_eq!(text("0.22222222").as_deref(), Some("0.22222222"));
        assert_eq!(text("72.58116667353711").as_deref(), Some("72.58116667353711"));
        assert_eq!(text("1.0").as_deref(), Some("1.0"));
        assert_eq!(text("true").as_deref(), Some("True"));
        assert_eq!(text("\"a b\"").as_deref(), Some("a b"));
        assert_eq!(text("[1]"), None);
    }

    #[test]
    fn the_statement_says_how_values_are_read_and_printed() {
        let text = statement("Do it. ", &["int_vector", "int"], &["bool"]);
        assert!(text.starts_with("Do it.\n\nThe program reads from standard input: a list of whole numbers, then a whole number. It prints to standard output: a truth value."));
        assert!(text.contains("A list has two lines") && text.ends_with("printed as True or False."));
        assert!(!statement("Do it.", &["int"], &["int"]).contains("list"));
    }
}
