use std::{path::Path, sync::Arc};

use super::{
    Benchmark, BenchmarkError,
    assertions::assertion_suite,
    benchmark::{TestSets, problems},
    data_file::data_file,
    docstring::examples,
    feedback::{Split, split},
    known_faults::known_faults,
    prompt_head::python_head,
    records::{Record, read_records},
};
use crate::{
    domain::{FeedbackSet, Language, Limits, Problem, Program, Task},
    ids::TaskId,
    languages::outline::FunctionHead,
};

/// HumanEval: write a function from its head and documentation. No starter; visible tests = the examples in the
/// documentation, hidden = `test` without those. Where no example parses, `test` is fed back, and a note says so.
///
/// A program is prompt + completion, judged by `test` + `check(<entry_point>)` (Chen et al., 2021,
/// "Evaluating Large Language Models Trained on Code").
pub struct HumanEval;

/// Tasks with an example that no right program passes: the known fault is in their notes.
const WRONG_EXAMPLES: [&str; 3] = ["HumanEval/47", "HumanEval/116", "HumanEval/130"];

impl Benchmark for HumanEval {
    fn name(&self) -> &'static str {
        "humaneval"
    }

    fn summary(&self) -> &'static str {
        "write a function from its head and documentation (164 tasks, no starter program)"
    }

    fn licence(&self) -> &'static str {
        "MIT"
    }

    fn source(&self) -> &'static str {
        "https://github.com/openai/human-eval"
    }

    fn tests(&self) -> TestSets {
        TestSets { visible: "the examples in the documentation", hidden: Some("`test`, less the visible ones") }
    }

    fn read(&self, path: &Path, language: Language, feedback: FeedbackSet) -> Result<Vec<Problem>, BenchmarkError> {
        let names = ["HumanEval.jsonl".to_owned()];
        let path = data_file(path, &format!("{} file for {}", self.name(), language.title()), &[&names])?;
        problems(&read_records(&path)?, feedback, |record| self.problem(record, language, feedback))
    }
}

impl HumanEval {
    fn problem(&self, record: &Record, language: Language, feedback: FeedbackSet) -> Result<Problem, BenchmarkError> {
        let id = record.string("task_id")?;
        let entry_point = record.name("entry_point")?;
        let prompt = record.code("prompt")?;
        let head = prompt_head(record, &prompt, entry_point)?;
        let reference = prompt.clone() + &record.code("canonical_solution")?;
        let tests =
            assertion_suite(&record.code("test")?, entry_point).map_err(|error| record.test_mistake("test", &error))?;
        let visible = examples(&prompt, entry_point).filter(|_| !WRONG_EXAMPLES.contains(&id));
        let Split { visible, hidden, feedback, mut notes } = split((language, entry_point), visible, tests, feedback);
        notes.extend(known_faults(self.name(), id));
        let task = Task {
            id: TaskId(id.to_owned()),
            dataset: self.name().to_owned(),
            language,
            statement: prompt.trim_matches('\n').to_owned(),
            entry_point: Some(entry_point.to_owned()),
            signature: Some(head.signature),
            preamble: head.preamble,
            support: None,
            feedback: visible.clone(),
            visible,
            source: None,
            starter: None,
            faulty_lines: Vec::new(),
            limits: Limits::default(),
        };
        let reference = Some(Arc::new(Program::new(language, reference)));
        Ok(Problem { task: Arc::new(task), feedback, validation: None, hidden, reference, notes })
    }
}

/// The head of the function that `prompt`, of a record in the manner of HumanEval, leaves to write.
pub(super) fn prompt_head(record: &Record, prompt: &str, entry_point: &str) -> Result<FunctionHead, BenchmarkError> {
    let missing = || record.field_mistake("prompt", format_args!("does not define the function `{entry_point}`"));
    python_head(prompt, entry_point).ok().flatten().ok_or_else(missing)
}
