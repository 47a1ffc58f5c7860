use serde::Serialize;

use super::feedback::{ExecutionFeedback, ReportForm, ShownTests};
use crate::{
    domain::{Judgement, Profile, TestResult, Verdict, shorten},
    llm::{Subject, estimated_tokens},
};

/// Length of each part of a failing test, in characters: 2,000 in all.
const MAX_TEST_CHARS: usize = 800;
const MAX_VALUE_CHARS: usize = 400;

/// Length of the compiler's and the program's output, in characters.
const MAX_TEXT_CHARS: usize = 2_000;

/// How many variables are shown.
const MAX_VARIABLES: usize = 12;

/// What the tests said, as templates see it: `report`. Absent where a prompt is to show nothing of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReportData {
    /// The program's verdict, in one of the words of records.
    pub verdict: String,
    /// How many tests passed.
    pub passed: usize,
    /// How many tests there are.
    pub total: usize,
    /// The failing tests that the prompt is to show; none where the compiler's output says it all.
    pub shown: Vec<FailingTest>,
    /// How many failing tests are not in `shown`, where there are any in it.
    pub more_failing: usize,
    /// What the program and its tests printed, in place of `shown`.
    pub output: Option<String>,
    /// What the compiler or parser said.
    pub compile_output: Option<String>,
    /// The most suspicious lines, the most suspicious first.
    pub suspicious: Vec<SuspiciousLine>,
    /// Variables at the failing line.
    pub values: Vec<VariableValues>,
}

/// A test that failed, as templates see it. 2,000 characters at most.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FailingTest {
    /// Its place among the visible tests, from 1.
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

/// A line that failing tests execute more than passing ones, as templates see it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SuspiciousLine {
    /// Its number, from 1.
    pub number: u32,
    /// The line.
    pub text: String,
    /// Ochiai's measure, from 0 to 1, to two places.
    pub suspiciousness: f64,
}

/// The last values of a variable at a line, as templates see them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VariableValues {
    /// The line, from 1.
    pub line: u32,
    /// The variable.
    pub name: String,
    /// Its values there, oldest first.
    pub values: Vec<String>,
}

impl ReportData {
    /// What `feedback` shows of the program of `subject`.
    pub(super) fn of(subject: &Subject, feedback: &ExecutionFeedback) -> Option<Self> {
        if feedback.is_hidden() {
            return None;
        }
        let judgement = subject.judgement.as_deref();
        let mut report = judgement.map_or_else(Self::of_nothing, |judgement| Self::of_tests(judgement, feedback));
        if let (Some(program), Some(profile)) = (&subject.program, &subject.profile) {
            let suspects = suspects(&program.text, profile);
            if feedback.values {
                report.values = values(judgement, &suspects, profile);
            }
            report.suspicious = suspects.into_iter().take(feedback.localisation as usize).collect();
        }
        Some(report)
    }

    /// The report of a program that no test was run on.
    pub(super) fn of_nothing() -> Self {
        Self {
            verdict: Verdict::NotRun.name().to_owned(),
            passed: 0,
            total: 0,
            shown: Vec::new(),
            more_failing: 0,
            output: None,
            compile_output: None,
            suspicious: Vec::new(),
            values: Vec::new(),
        }
    }

    pub(super) fn of_tests(judgement: &Judgement, feedback: &ExecutionFeedback) -> Self {
        let compile_output = judgement.compile_output.as_deref().filter(|_| feedback.compile_output);
        // Where nothing could be run, each test says the same as the compiler.
        let is_said = judgement.verdict == Verdict::CompileError && compile_output.is_some();
        let failing = if is_said { Vec::new() } else { failing(judgement) };
        let chosen = chosen(&failing, feedback);
        let (mut shown, mut output) = (chosen, None);
        if feedback.report == ReportForm::Raw && !is_said {
            output = Some(merged_output(judgement, &std::mem::take(&mut shown)));
        }
        Self {
            verdict: judgement.verdict.name().to_owned(),
            passed: judgement.passed_tests(),
            total: judgement.tests.len(),
            more_failing: if shown.is_empty() { 0 } else { failing.len() - shown.len() },
            shown,
            output,
            compile_output: compile_output.map(|text| shorten(text, MAX_TEXT_CHARS)),
            suspicious: Vec::new(),
            values: Vec::new(),
        }
    }
}

impl FailingTest {
    fn of(place: usize, test: &TestResult) -> Self {
        let value = |text: &Option<String>| text.as_deref().map(|text| shorten(text, MAX_VALUE_CHARS));
        Self {
            number: place + 1,
            verdict: test.verdict.name().to_owned(),
            test: shorten(&test.test, MAX_TEST_CHARS),
            expected: value(&test.expected),
            actual: value(&test.actual),
            message: value(&test.message),
        }
    }

    fn tokens(&self) -> usize {
        let parts = [Some(&self.test), self.expected.as_ref(), self.actual.as_ref(), self.message.as_ref()];
        parts.into_iter().flatten().map(|part| estimated_tokens(part)).sum()
    }

    /// Its texts.
    pub(super) fn texts(&mut self) -> impl Iterator<Item = &mut String> {
        let others = [self.expected.as_mut(), self.actual.as_mut(), self.message.as_mut()];
        std::iter::once(&mut self.test).chain(others.into_iter().flatten())
    }
}

/// The tests that failed, with their places.
fn failing(judgement: &Judgement) -> Vec<(usize, &TestResult)> {
    let fails = |test: &TestResult| !matches!(test.verdict, Verdict::Passed | Verdict::NotRun);
    judgement.tests.iter().enumerate().filter(|(_, test)| fails(test)).collect()
}

/// Those of the failing tests that are to be shown.
fn chosen(failing: &[(usize, &TestResult)], feedback: &ExecutionFeedback) -> Vec<FailingTest> {
    let one = |found: Option<&(usize, &TestResult)>| found.map(|(place, test)| FailingTest::of(*place, test));
    match feedback.tests {
        ShownTests::None => Vec::new(),
        // Of equal scores, `min_by` gives the first.
        ShownTests::Worst => {
            one(failing.iter().min_by(|(_, one), (_, other)| one.score.total_cmp(&other.score))).into_iter().collect()
        }
        ShownTests::First => one(failing.first()).into_iter().collect(),
        ShownTests::All => those_that_fit(failing, feedback.test_tokens.get() as usize),
    }
}

/// The first failing tests that take at most `tokens` tokens together, and the first in any case, shortened.
fn those_that_fit(failing: &[(usize, &TestResult)], tokens: usize) -> Vec<FailingTest> {
    let mut room = tokens;
    let mut shown: Vec<FailingTest> = Vec::new();
    for (place, test) in failing {
        let mut one = FailingTest::of(*place, test);
        if one.tokens() > room {
            if !shown.is_empty() {
                break;
            }
            // A test has at most four texts, and a token is four characters of ASCII.
            one.texts().for_each(|text| *text = shorten(text, room));
        }
        room = room.saturating_sub(one.tokens());
        shown.push(one);
    }
    shown
}

/// What a terminal would have shown: the program's two streams, then each failing test with what it said.
fn merged_output(judgement: &Judgement, tests: &[FailingTest]) -> String {
    let streams = [&judgement.stdout.text, &judgement.stderr.text];
    let streams = streams.map(|text| text.trim_end().to_owned()).into_iter().filter(|text| !text.is_empty());
    let said = |test: &FailingTest| {
        let message = test.message.as_deref().unwrap_or(&test.verdict);
        format!("{}\n{message}", test.test.trim_end())
    };
    let all: Vec<String> = streams.chain(tests.iter().map(said)).collect();
    shorten(&all.join("\n"), MAX_TEXT_CHARS)
}

/// The lines of `program` that failing tests executed, the most suspicious first; of equal ones, those at which variables
/// had values, which a line that only defines something has not, then in their order.
fn suspects(program: &str, profile: &Profile) -> Vec<SuspiciousLine> {
    let lines: Vec<&str> = program.lines().collect();
    let text =
        |number: u32| lines.get(usize::try_from(number).ok()?.checked_sub(1)?).filter(|line| !line.trim().is_empty());
    let has_values = |line: &SuspiciousLine| seen_at(profile, line.number).next().is_some();
    let mut suspects: Vec<SuspiciousLine> = profile
        .suspiciousness()
        .into_iter()
        .filter(|(_, suspiciousness)| *suspiciousness > 0.0)
        .filter_map(|(number, suspiciousness)| {
            Some(SuspiciousLine { number, text: (*text(number)?).to_owned(), suspiciousness })
        })
        .collect();
    suspects.sort_by(|one, other| {
        let by_measure = other.suspiciousness.total_cmp(&one.suspiciousness);
        by_measure.then_with(|| has_values(other).cmp(&has_values(one))).then(one.number.cmp(&other.number))
    });
    for suspect in &mut suspects {
        suspect.suspiciousness = (suspect.suspiciousness * 100.0).round() / 100.0;
    }
    suspects
}

/// Variables with values at a line.
fn seen_at(profile: &Profile, line: u32) -> impl Iterator<Item = (&String, &Vec<String>)> {
    profile.values.get(&line).into_iter().flatten().filter(|(_, values)| !values.is_empty())
}

/// The variables at the failing line: that of the first exception with a line, else the most suspicious one, as far as
/// values were seen there.
fn values(judgement: Option<&Judgement>, suspects: &[SuspiciousLine], profile: &Profile) -> Vec<VariableValues> {
    let messages = judgement.into_iter().flat_map(failing).filter_map(|(_, test)| test.message.as_deref());
    let lines = messages.filter_map(line_of_exception).take(1).chain(suspects.iter().map(|suspect| suspect.number));
    let Some(line) = lines.into_iter().find(|line| seen_at(profile, *line).next().is_some()) else {
        return Vec::new();
    };
    let of_variable =
        |(name, values): (&String, &Vec<String>)| VariableValues { line, name: name.clone(), values: values.clone() };
    seen_at(profile, line).take(MAX_VARIABLES).map(of_variable).collect()
}

/// The line that the message of a test names: `… (line 3 of the program)`.
fn line_of_exception(message: &str) -> Option<u32> {
    let (_, rest) = message.rsplit_once("(line ")?;
    let (number, rest) = rest.split_once(' ')?;
    number.parse().ok().filter(|_| rest.starts_with("of the program)"))
}
