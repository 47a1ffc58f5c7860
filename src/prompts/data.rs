use std::sync::Arc;

use serde::Serialize;

use super::{
    feedback::ExecutionFeedback,
    report::{FailingTest, ReportData, SuspiciousLine, VariableValues},
};
use crate::{
    domain::{Example, IoCase, OutputRule, Task, TestSuite, shorten},
    llm::{Ancestor, Purpose, Subject},
};

/// How many visible tests a prompt shows.
const MAX_TESTS: usize = 5;

/// Length of a visible test, in characters.
const MAX_TEXT_CHARS: usize = 2_000;

/// What stands in the place of the statement where a prompt is not to show it.
const ANY_STATEMENT: &str = "The program must do what its tests ask for.";

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
    /// What the tests that feed back said of `program`. Absent in drafting prompts, and where it is not to be shown.
    pub report: Option<ReportData>,
    /// The program that `program` is compared with, in judging prompts.
    pub other: Option<String>,
    /// What the visible tests said of `other`, where the judge may know.
    pub other_report: Option<ReportData>,
    /// The diagnosis that a repair is to follow.
    pub diagnosis: Option<String>,
    /// How to go about the task, where an analyst has said so.
    pub plan: Option<String>,
    /// Solved tasks to show beside this one, in prompts that ask for a program; absent in others.
    pub examples: Option<Vec<SolvedTask>>,
    /// Earlier attempts that led to `program`, oldest first, as far as they are to be shown. Absent in drafting prompts.
    pub history: Vec<Attempt>,
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

/// A solved task, as templates see it: an element of `examples`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SolvedTask {
    /// What its program must do.
    pub statement: String,
    /// The program, in the language of the task to be solved.
    pub program: String,
}

/// A line that is known to be faulty, as templates see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FaultyLine {
    /// Its number, from 1.
    pub number: u32,
    /// The line.
    pub text: String,
}

/// An attempt before the program of a prompt, as templates see it: an element of `history`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Attempt {
    /// Its place among the attempts that led to the program, from 1.
    pub number: usize,
    /// What was tried.
    pub program: String,
    /// What came of it; absent where a prompt is to show nothing that tests said.
    pub result: Option<AttemptResult>,
    /// The diagnosis that led on from it.
    pub diagnosis: Option<String>,
}

/// What came of an attempt, as templates see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AttemptResult {
    /// Its verdict, in one of the words of records.
    pub verdict: String,
    /// How many tests passed.
    pub passed: usize,
    /// How many tests there are.
    pub total: usize,
}

/// How much there is in the data that a template is tried with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trial {
    /// Everything.
    Full,
    /// One of each list, without the parts that it may lack.
    Sparse,
    /// Nothing that may be absent.
    Bare,
}

impl Trial {
    pub(super) const ALL: [Self; 3] = [Self::Full, Self::Sparse, Self::Bare];
}

impl PromptData {
    /// What a prompt of `purpose` shows of `subject` under `feedback`.
    pub fn new(purpose: Purpose, subject: &Subject, feedback: &ExecutionFeedback) -> Self {
        let task = &subject.task;
        let text = subject.program.as_ref().map(|program| program.text.clone());
        let (drafts, written) = (purpose == Purpose::Draft, is_about_a_program(purpose));
        let mut task_data = task_data(task);
        if written && !feedback.statement {
            ANY_STATEMENT.clone_into(&mut task_data.statement);
        }
        // A judge may be kept from what the tests said.
        let knows = written && (purpose != Purpose::Judge || subject.judgement.is_some());
        let other = subject.other.as_ref().filter(|_| purpose == Purpose::Judge);
        let other_report = other.and_then(|other| other.judgement.as_deref());
        Self {
            task: task_data,
            faulty_lines: faulty_lines(task, text.as_deref()),
            starter: text.clone().filter(|_| drafts),
            program: written.then(|| text.unwrap_or_default()),
            report: if knows { ReportData::of(subject, feedback) } else { None },
            other: other.map(|other| other.program.text.clone()),
            other_report: other_report.map(|judgement| ReportData::of_tests(judgement, feedback)),
            plan: subject.plan.clone(),
            examples: asks_for_program(purpose).then(|| subject.examples.iter().map(solved_task).collect()),
            diagnosis: subject.diagnosis.clone().filter(|_| purpose == Purpose::Repair),
            history: if written { history(subject, feedback) } else { Vec::new() },
            source: task.source.as_ref().map(|source| source.text.clone()),
            source_language: task.source.as_ref().map(|source| source.language.name().to_owned()),
        }
    }

    /// Data of `purpose` that templates are checked with.
    pub(super) fn example(purpose: Purpose, trial: Trial) -> Self {
        let word = || "example".to_owned();
        let drafts = purpose == Purpose::Draft;
        let (full, bare) = (trial == Trial::Full, trial == Trial::Bare);
        let maybe = || full.then(word);
        let test = FailingTest {
            number: 1,
            verdict: word(),
            test: word(),
            expected: maybe(),
            actual: maybe(),
            message: maybe(),
        };
        let solved = || SolvedTask { statement: word(), program: word() };
        let (written, judges) = (is_about_a_program(purpose), purpose == Purpose::Judge);
        let report = ReportData {
            shown: vec![test],
            output: maybe(),
            compile_output: maybe(),
            suspicious: vec![SuspiciousLine { number: 1, text: word(), suspiciousness: 1.0 }],
            values: vec![VariableValues { line: 1, name: word(), values: vec![word()] }],
            ..ReportData::of_nothing()
        };
        let result = full.then(|| AttemptResult { verdict: word(), passed: 0, total: 1 });
        let attempt = Attempt { number: 1, program: word(), result, diagnosis: maybe() };
        Self {
            task: TaskData {
                statement: word(),
                language: word(),
                language_title: word(),
                signature: maybe(),
                entry_point: maybe(),
                preamble: maybe(),
                tests: Vec::from_iter((!bare).then(word)),
                more_tests: 0,
            },
            starter: maybe().filter(|_| drafts),
            program: written.then(word),
            other: judges.then(word),
            other_report: (judges && full).then(|| report.clone()),
            report: (written && !bare).then_some(report),
            plan: maybe(),
            examples: asks_for_program(purpose).then(|| Vec::from_iter(full.then(solved))),
            diagnosis: maybe().filter(|_| purpose == Purpose::Repair),
            history: Vec::from_iter((written && !bare).then_some(attempt)),
            faulty_lines: Vec::from_iter((!bare).then(|| FaultyLine { number: 1, text: word() })),
            source: maybe(),
            source_language: maybe(),
        }
    }
}

/// Whether prompts of this purpose ask for a program.
fn asks_for_program(purpose: Purpose) -> bool {
    matches!(purpose, Purpose::Draft | Purpose::Repair)
}

fn solved_task(example: &Arc<Example>) -> SolvedTask {
    SolvedTask { statement: example.statement.clone(), program: example.program.text.clone() }
}

/// Whether prompts of this purpose are about a program that was judged.
fn is_about_a_program(purpose: Purpose) -> bool {
    match purpose {
        Purpose::Diagnose | Purpose::Repair | Purpose::Judge => true,
        Purpose::Draft | Purpose::Plan | Purpose::Test => false,
    }
}

/// The attempts that led to the program, oldest first, as far as `feedback` shows them.
fn history(subject: &Subject, feedback: &ExecutionFeedback) -> Vec<Attempt> {
    let all = subject.ancestors.len();
    let attempt = |(place, ancestor): (usize, &Ancestor)| {
        let judgement = &ancestor.judgement;
        let result = || AttemptResult {
            verdict: judgement.verdict.name().to_owned(),
            passed: judgement.passed_tests(),
            total: judgement.tests.len(),
        };
        Attempt {
            number: all - place,
            program: ancestor.program.text.clone(),
            result: (!feedback.is_hidden()).then(result),
            diagnosis: ancestor.diagnosis.clone(),
        }
    };
    let mut attempts: Vec<Attempt> =
        subject.ancestors.iter().enumerate().take(feedback.history.most()).map(attempt).collect();
    attempts.reverse();
    attempts
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
