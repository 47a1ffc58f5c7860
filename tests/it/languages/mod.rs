//! Programs of every language in the sandbox: verdicts by assertion, whole programs, and what compilers say.

mod cases;
mod cpp;
mod go;
mod java;
mod javascript;
mod references;
mod rust;
mod tools;

use std::sync::Arc;

use rolecall::{
    domain::{IoCase, Judgement, Language, OutputRule, Program, Protocol, TestSuite, Verdict},
    languages::{Toolchain, toolchain},
    sandbox::Job,
};

use super::sandbox::{Alone, alone, assert_at_rest, judge, verdicts};

/// A sandbox with one slot for `language`, and the right to be alone.
pub(crate) async fn sandbox(language: Language) -> Alone {
    alone(&[language]).await
}

fn tools(language: Language) -> &'static dyn Toolchain {
    toolchain(language).unwrap()
}

/// A job with the assertions that the language finds in `tests`.
pub(crate) fn tested(language: Language, program: &str, entry_point: &str, tests: &str) -> Job {
    let assertions = tools(language).assertions(tests).unwrap();
    let tests = TestSuite::Assertions { code: tests.to_owned(), assertions };
    job(language, program, Some(entry_point), tests)
}

/// A job of one stdin/stdout case.
pub(crate) fn io(language: Language, program: &str, stdin: &str, stdout: &str) -> Job {
    let cases = vec![IoCase { stdin: stdin.to_owned(), stdout: stdout.to_owned() }];
    job(language, program, None, TestSuite::Io { cases, rule: OutputRule::Tokens })
}

fn job(language: Language, program: &str, entry_point: Option<&str>, tests: TestSuite) -> Job {
    Job {
        program: Arc::new(Program::new(language, program)),
        tests: Arc::new(tests),
        entry_point: entry_point.map(str::to_owned),
        support: None,
        preamble: None,
        limits: tools(language).limits(),
    }
}

/// Judges programs against the same tests, one after another: each verdict is that expected, an honest program still
/// passes afterwards, and nothing is left behind. Gives what did not come out so.
pub(crate) async fn surprises(language: Language, tests: &str, honest: &str, cases: &[(Verdict, &str)]) -> Vec<String> {
    let sandbox = sandbox(language).await;
    let mut surprises = Vec::new();
    for (expected, program) in cases.iter().chain([&(Verdict::Passed, honest)]) {
        let judgement = judge(&sandbox, &tested(language, program, "f", tests)).await;
        if judgement.verdict != *expected {
            surprises.push(format!("{expected:?} expected of {program}\n{judgement:#?}"));
        }
    }
    assert_at_rest().await;
    surprises
}

/// A linked program that is right for 1 and 5, raises for 2, gives 9 for 3 and leaves with code 0 for 4, against five
/// assertions of that order: each has its own verdict, and nothing is left behind.
pub(crate) async fn own_verdicts(language: Language, program: &str, entry_point: &str, tests: &str) -> Judgement {
    let sandbox = sandbox(language).await;
    let judgement = judge(&sandbox, &tested(language, program, entry_point, tests)).await;
    let expected = [Verdict::Passed, Verdict::Crashed, Verdict::Wrong, Verdict::Crashed, Verdict::Passed];
    assert_eq!(verdicts(&judgement), expected, "{judgement:#?}");
    assert_eq!(judgement.tests[2].expected.as_deref(), Some("3"));
    assert_eq!(judgement.tests[2].actual.as_deref(), Some("9"));
    assert_eq!(judgement.protocol, Protocol::InProcess);
    assert_at_rest().await;
    judgement
}
