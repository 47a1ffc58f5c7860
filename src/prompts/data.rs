use serde::Serialize;

use crate::{
    domain::{IoCase, Judgement, OutputRule, Task, TestResult, TestSuite, Verdict, shorten},
    llm::{Purpose, Subject},
};

/// How many failing tests, and how many visible tests, a prompt shows.
const MAX_TESTS: usize = 5;

/// Length of each part of a failing test, in characters: 2,000 in all.
const MAX_TEST_CHARS: usize = 800;
const MAX_VALUE_CHARS: usize = 400;

/// Length of a visible test and of the compiler's output, in characters.
const MAX_TEXT_CHARS: usize = 2_000;

/// Everything that a prompt template can name. Fields that are absent are `none` in a template.
///
/// Texts that come from programs are shortened with a mark that says so; statement, programs and diagnosis never are.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PromptData {
    /// The problem.
    pub task: TaskData,
    /// The starter program, where a draft may begin from it.
    pub starter: Option<String>,
    /// The program to diagnose, repair or judge; empty where a reply held none. Absent in drafting prompts.
    pub program: Option<String>,
    /// What the tests that feed back said of `program`. Absent in drafting prompts.
    pub report: Option<ReportData>,
    /// The diagnosis that a repair is to follow.
    pub diagnosis: Option<String>,
    /// Lines that are known to be faulty, of the program (or of the starter, in a drafting prompt).
    pub faulty_lines: Vec<FaultyLine>,
    /// The program in another language that is to be translated.
    pub source: Option<String>,
    /// The language of `source`, as the info string of a code block says it.
    pub source_language: Option<String>,
}

/// The problem, as templates see it: `task`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TaskData {
    /// What the program must do.
    pub statement: String,
    /// The language that the program must be written in, as the info string of a code block says it (`cpp`).
    pub language: String,
    /// The same as people say it (`C++`).
    pub language_title: String,
    /// The first line of the function under test.
    pub signature: Option<String>,
    /// Name of the function under test; absent for programs that read stdin and write stdout.
    pub entry_point: Option<String>,
    /// Code that stands above the function.
    pub preamble: Option<String>,
    /// The first visible tests as text.
    pub tests: Vec<String>,
    /// How many visible tests are not in `tests`.
    pub more_tests: usize,
}

/// What the tests said, as templates see it: `report`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReportData {
    /// The program's verdict, in one of the words of records.
    pub verdict: String,
    /// How many tests passed.
    pub passed: usize,
    /// How many tests there are.
    pub total: usize,
    /// The first failing tests.
    pub failing: Vec<FailingTest>,
    /// How many failing tests are not in `failing`.
    pub more_failing: usize,
    /// The first failing test.
    pub first: Option<FailingTest>,
    /// The failing test with the lowest score, the first of these.
    pub worst: Option<FailingTest>,
    /// What the compiler or parser said.
    pub compile_output: Option<String>,
}

/// A test that failed, as templates see it. 2,000 characters at most.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FailingTest {
    /// Its place among the tests that feed back, from 1.
    pub number: usize,
    /// Its verdict.
    pub verdict: String,
    /// The assertion, or the input.
    pub test: String,
    /// What should have come.
    pub expected: Option<String>,
    /// What came.
    pub actual: Option<String>,
    /// The exception or reason.
    pub message: Option<String>,
}

/// A line that is known to be faulty, as templates see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FaultyLine {
    /// Its number, from 1.
    pub number: u32,
    /// The line.
    pub text: String,
}

impl PromptData {
    /// What a prompt of `purpose` may show of `subject`.
    pub fn new(purpose: Purpose, subject: &Subject) -> Self {
        let task = &subject.task;
        let text = subject.program.as_ref().map(|program| program.text.clone());
        let drafts = purpose == Purpose::Draft;
        let report = || match &subject.judgement {
            Some(judgement) => report_data(judgement),
            None => ReportData::of_nothing(),
        };
        Self {
            task: task_data(task),
            faulty_lines: faulty_lines(task, text.as_deref()),
            starter: text.clone().filter(|_| drafts),
            program: (!drafts).then(|| text.unwrap_or_default()),
            report: (!drafts).then(report),
            diagnosis: subject.diagnosis.clone().filter(|_| purpose == Purpose::Repair),
            source: task.source.as_ref().map(|source| source.text.clone()),
            source_language: task.source.as_ref().map(|source| source.language.name().to_owned()),
        }
    }

    /// Data of `purpose` with everything present, or with everything absent that may be: what templates are checked with.
    pub(super) fn example(purpose: Purpose, full: bool) -> Self {
        let word = || "example".to_owned();
        let maybe = || full.then(word);
        let test = || FailingTest {
            number: 1,
            verdict: word(),
            test: word(),
            expected: maybe(),
            actual: maybe(),
            message: maybe(),
        };
        let drafts = purpose == Purpose::Draft;
        let some_test = || full.then(test);
        let report = ReportData {
            failing: Vec::from_iter(some_test()),
            first: some_test(),
            worst: some_test(),
            compile_output: maybe(),
            ..ReportData::of_nothing()
        };
        Self {
            task: TaskData {
                statement: word(),
                language: word(),
                language_title: word(),
                signature: maybe(),
                entry_point: maybe(),
                preamble: maybe(),
                tests: Vec::from_iter(maybe()),
                more_tests: 0,
            },
            starter: maybe().filter(|_| drafts),
            program: (!drafts).then(word),
            report: (!drafts).then_some(report),
            diagnosis: maybe().filter(|_| purpose == Purpose::Repair),
            faulty_lines: Vec::from_iter(full.then(|| FaultyLine { number: 1, text: word() })),
            source: maybe(),
            source_language: maybe(),
        }
    }
}

impl ReportData {
    /// The report of a program that no test was run on.
    fn of_nothing() -> Self {
        Self {
            verdict: Verdict::NotRun.name().to_owned(),
            passed: 0,
            total: 0,
            failing: Vec::new(),
            more_failing: 0,
            first: None,
            worst: None,
            compile_output: None,
        }
    }
}

fn task_data(task: &Task) -> TaskData {
    let tests: Vec<String> = match task.visible.as_ref() {
        TestSuite::Assertions { assertions, .. } => {
            assertions.iter().take(MAX_TESTS).map(|assertion| shorten(&assertion.text, MAX_TEXT_CHARS)).collect()
        }
        TestSuite::Io { cases, rule } => cases.iter().take(MAX_TESTS).map(|case| io_test(case, rule)).collect(),
    };
    TaskData {
        statement: task.statement.clone(),
        language: task.language.name().to_owned(),
        language_title: task.language.title().to_owned(),
        signature: task.signature.clone(),
        entry_point: task.entry_point.clone(),
        preamble: task.preamble.clone(),
        more_tests: task.visible.len() - tests.len(),
        tests,
    }
}

fn io_test(case: &IoCase, rule: &OutputRule) -> String {
    let [stdin, stdout] = [&case.stdin, &case.stdout].map(|text| shorten(text.trim_end(), MAX_TEXT_CHARS / 2));
    match rule {
        OutputRule::Checker(_) if stdout.is_empty() => format!("input:\n{stdin}"),
        OutputRule::Checker(_) => format!("input:\n{stdin}\none right output:\n{stdout}"),
        _ => format!("input:\n{stdin}\noutput:\n{stdout}"),
    }
}

fn report_data(judgement: &Judgement) -> ReportData {
    let fails = |test: &TestResult| !matches!(test.verdict, Verdict::Passed | Verdict::NotRun);
    let failing: Vec<(usize, &TestResult)> =
        judgement.tests.iter().enumerate().filter(|(_, test)| fails(test)).collect();
    let shown: Vec<FailingTest> =
        failing.iter().take(MAX_TESTS).map(|(place, test)| failing_test(*place, test)).collect();
    // Of equal scores, `min_by` gives the first.
    let worst = failing.iter().min_by(|(_, one), (_, other)| one.score.total_cmp(&other.score));
    ReportData {
        verdict: judgement.verdict.name().to_owned(),
        passed: judgement.passed_tests(),
        total: judgement.tests.len(),
        more_failing: failing.len() - shown.len(),
        first: shown.first().cloned(),
        worst: worst.map(|(place, test)| failing_test(*place, test)),
        failing: shown,
        compile_output: judgement.compile_output.as_deref().map(|text| shorten(text, MAX_TEXT_CHARS)),
    }
}

fn failing_test(place: usize, test: &TestResult) -> FailingTest {
    let value = |text: &Option<String>| text.as_deref().map(|text| shorten(text, MAX_VALUE_CHARS));
    FailingTest {
        number: place + 1,
        verdict: test.verdict.name().to_owned(),
        test: shorten(&test.test, MAX_TEST_CHARS),
        expected: value(&test.expected),
        actual: value(&test.actual),
        message: value(&test.message),
    }
}

/// The marked lines, where `program` is the starter that they belong to.
fn faulty_lines(task: &Task, program: Option<&str>) -> Vec<FaultyLine> {
    let Some(starter) = task.starter.as_ref().filter(|starter| Some(starter.text.as_str()) == program) else {
        return Vec::new();
    };
    let line = |number: &u32| {
        let text = starter.text.lines().nth(usize::try_from(*number).ok()?.checked_sub(1)?)?;
        Some(FaultyLine { number: *number, text: text.to_owned() })
    };
    task.faulty_lines.iter().filter_map(line).collect()
}
