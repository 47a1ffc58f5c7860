//! Programs of every language in the sandbox: verdicts by assertion, whole programs, and what compilers say.

mod cpp;
mod go;
mod java;
mod javascript;

use std::sync::Arc;

use rolecall::{
    domain::{IoCase, Language, OutputRule, Program, TestSuite},
    languages::{Toolchain, toolchain},
    sandbox::Job,
};

use super::sandbox::{Alone, alone};

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
