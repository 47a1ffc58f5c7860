use crate::domain::{OutputRule, TestSuite};

/// What is noted of a task that may have several right answers and compares with one.
pub(super) const UNCHECKED: &str = "unchecked: several answers may be right, one is stored (a `checker` could tell)";

/// Phrases after which more than one answer may be right (documented in docs/tasks.md).
const PHRASES: [&str; 22] = [
    "any of them",
    "any of these",
    "any of those",
    "any one of",
    "any order",
    "any such",
    "any valid",
    "any correct",
    "any right",
    "any possible",
    "any suitable",
    "any acceptable",
    "any answer",
    "any solution",
    "several answers",
    "several solutions",
    "multiple answers",
    "multiple solutions",
    "more than one answer",
    "more than one solution",
    "not unique",
    "one of them",
];

/// Verbs that ask for any one thing when `any` or `one of` follows.
const VERBS: [&str; 8] = ["print", "output", "write", "give", "return", "find", "show", "choose"];

/// Words before such a verb that turn it round.
const NEGATIONS: [&str; 5] = ["not", "don't", "never", "cannot", "without"];

/// The note on a task of stdin/stdout tests whose statement says that any of several answers is right, while its tests
/// know one.
pub(super) fn unchecked(statement: &str, tests: &TestSuite) -> Option<String> {
    let compares = tests.output_rule().is_some_and(|rule| !matches!(rule, OutputRule::Checker(_)));
    (compares && allows_several(statement)).then(|| UNCHECKED.to_owned())
}

fn allows_several(statement: &str) -> bool {
    let lower = statement.to_lowercase().replace('\u{2019}', "'");
    let words: Vec<&str> = lower
        .split(|character: char| !character.is_alphanumeric() && character != '\'')
        .filter(|word| !word.is_empty())
        .collect();
    let text = format!(" {} ", words.join(" "));
    let said = PHRASES.iter().any(|phrase| text.contains(&format!(" {phrase} ")));
    said || words.windows(2).enumerate().any(|(at, pair)| {
        let negated = at > 0 && NEGATIONS.contains(&words[at - 1]);
        let one_of = pair[1] == "one" && words.get(at + 2) == Some(&"of");
        VERBS.contains(&pair[0]) && (pair[1] == "any" || one_of) && !negated
    })
}

#[cfg(test)]
mod tests {
    use super::{UNCHECKED, unchecked};
    use crate::domain::{OutputRule, TestSuite};

    #[test]
    fn e15_words_that_allow_several_answers() {
        let note = |statement: &str, rule| unchecked(statement, &TestSuite::Io { cases: Vec::new(), rule });
        for statement in [
            "Print any digit that is not a+b.",
            "If there are several shortest paths, print any of them.",
            "The lines may come in\nany  order.",
            "Any valid answer is accepted",
            "Output one of the primes.",
            "the answer is not unique",
        ] {
            assert_eq!(note(statement, OutputRule::Tokens).as_deref(), Some(UNCHECKED), "{statement}");
            assert!(note(statement, OutputRule::Exact).is_some(), "{statement}");
            assert_eq!(note(statement, OutputRule::Checker("".into())), None, "{statement}");
        }
        for statement in [
            "Print the sum of any number of integers.",
            "Do not print any blanks.",
            "Print whether any line is empty.",
            "Many companies print anything.",
            "",
        ] {
            assert_eq!(note(statement, OutputRule::Tokens), None, "{statement}");
        }
        let code = TestSuite::Assertions { code: String::new(), assertions: Vec::new() };
        assert_eq!(unchecked("Return any of them.", &code), None);
    }
}
