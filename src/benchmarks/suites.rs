use super::{assertions, names::shown};
use crate::{
    domain::{Assertion, Language, TestSuite},
    languages::{
        TestTextError,
        outline::{Outline, mentions, valid_outline},
        toolchain,
    },
};

/// Lists every assertion of a test text in source order, at whatever depth it stands.
///
/// The text is parsed, never run. No assertion at all is an empty list, which the caller must refuse: a suite without
/// tests judges nothing.
///
/// # Errors
/// A text that is not of the language (at its first error), or longer than 1 MiB; a language that is not built in.
pub fn listed_assertions(language: Language, code: &str) -> Result<Vec<Assertion>, TestTextError> {
    let none = || TestTextError::of_text(format!("tests in {} are not known to this build", language.title()));
    toolchain(language).ok_or_else(none)?.assertions(code)
}

/// Makes a test suite of a test text for the function `entry_point`.
///
/// # Errors
/// As [`listed_assertions`]; no assertion; an assertion that is never reached; a text that never mentions `entry_point`:
/// each would pass any program.
pub(super) fn suite(language: Language, code: &str, entry_point: &str) -> Result<TestSuite, TestTextError> {
    if language == Language::Python {
        return assertions::assertion_suite(code, entry_point);
    }
    let assertions = listed_assertions(language, code)?;
    if assertions.is_empty() {
        return Err(TestTextError::of_text("no assertion: any program would pass"));
    }
    if language == Language::JavaScript
        && let Some(outline) = valid_outline(language, code)?
    {
        refuse_unused(&outline, &assertions)?;
    }
    if !mentions(language, code).contains(entry_point) {
        return Err(TestTextError::of_text(format!("the tests never mention `{entry_point}`: any program would pass")));
    }
    Ok(TestSuite::Assertions { code: code.to_owned(), assertions })
}

/// Refuses an assertion in a function that nothing else mentions. Elsewhere than in JavaScript the harness calls test
/// functions, or the language itself calls `main`.
fn refuse_unused(outline: &Outline, assertions: &[Assertion]) -> Result<(), TestTextError> {
    let line = |line: usize| u32::try_from(line + 1).unwrap_or(u32::MAX);
    for assertion in assertions {
        let around = outline
            .statements
            .iter()
            .position(|statement| (line(statement.first_line)..=line(statement.last_line)).contains(&assertion.line));
        let Some((place, names)) = around.map(|place| (place, &outline.statements[place].names)) else { continue };
        let others = outline.statements.iter().enumerate().filter(|(other, _)| *other != place);
        let others: String = others.map(|(_, statement)| format!("{}\n", statement.text)).collect();
        let mentioned = mentions(Language::JavaScript, &others);
        if let Some(name) = names.iter().next().filter(|_| names.is_disjoint(&mentioned)) {
            let problem = format!("nothing uses `{}`, so this assertion is never reached", shown(name));
            return Err(TestTextError { line: assertion.line, column: 1, problem });
        }
    }
    Ok(())
}
