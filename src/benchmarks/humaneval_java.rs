use std::path::Path;

use super::{
    Benchmark, BenchmarkError,
    benchmark::{TestSets, problems},
    changed_lines::changed_lines,
    data_file::data_file,
    java_bugs::java_problem,
    records::{Record, read_records},
};
use crate::domain::{FeedbackSet, Language, Problem};

/// HumanEval-Java: methods of Java with a bug put in by hand, made from HumanEval (Jiang et al., 2023, "Impact of Code
/// Language Models on Automated Program Repair", arXiv 2302.05020).
///
/// The data set has one set of tests only, so these are fed back and decide too. `fault_lines` (`24-26`: lines 24 and 25)
/// become the task's faulty lines; a record without them has the lines that the fix changes.
pub struct HumanEvalJava;

/// Tasks that are left out, since their references need parts that a JDK of today does not have (Nashorn, `javax.xml.bind`).
const LEFT_OUT: &[&str] = &["HumanEval-Java/DO_ALGEBRA", "HumanEval-Java/STRING_TO_MD5"];

/// The field of the lines.
const FAULT_LINES: &str = "fault_lines";

impl Benchmark for HumanEvalJava {
    fn name(&self) -> &'static str {
        "humaneval-java"
    }

    fn summary(&self) -> &'static str {
        "repair Java methods with a bug put in by hand (161 programs)"
    }

    fn licence(&self) -> &'static str {
        "BSD-3-Clause"
    }

    fn source(&self) -> &'static str {
        "https://github.com/lin-tan/clm"
    }

    fn tests(&self) -> TestSets {
        TestSets { visible: "all", hidden: None }
    }

    fn has_starters(&self) -> bool {
        true
    }

    fn languages(&self) -> &'static [Language] {
        &[Language::Java]
    }

    fn read(&self, path: &Path, language: Language, feedback: FeedbackSet) -> Result<Vec<Problem>, BenchmarkError> {
        let names = ["humaneval_java.jsonl".to_owned()];
        let path = data_file(path, &format!("{} file for {}", self.name(), language.title()), &[&names])?;
        let mut records = read_records(&path)?;
        records.retain(|record| !record.string("task_id").is_ok_and(|id| LEFT_OUT.contains(&id)));
        problems(&records, feedback, |record| {
            java_problem(record, self.name(), |buggy, fixed| fault_lines(record, buggy, fixed))
        })
    }
}

/// The lines that the record says, else those that the fix changes.
fn fault_lines(record: &Record, buggy: &str, fixed: &str) -> Result<Vec<u32>, BenchmarkError> {
    if !record.has(FAULT_LINES) {
        return Ok(changed_lines(Language::Java, buggy, fixed));
    }
    let text = record.string(FAULT_LINES)?;
    let range =
        text.split_once('-').and_then(|(from, end)| Some((from.trim().parse().ok()?, end.trim().parse().ok()?)));
    let count = u32::try_from(buggy.lines().count()).unwrap_or(u32::MAX);
    match range {
        Some((from, end)) if (1..end).contains(&from) && end - 1 <= count => Ok((from..end).collect()),
        _ => Err(record.field_mistake(FAULT_LINES, "expected lines of `buggy_code` as FROM-END, END not included")),
    }
}
