use std::collections::BTreeSet;

use super::assertions::{assertion_suite, assertions};
use crate::{
    domain::{Language, TestSuite},
    llm::split_reasoning,
};

/// The tests in a reply that was asked for tests of `entry_point`, at most `most` of them; `None` where it holds none.
///
/// A test is a line that is an `assert` statement by itself and mentions the function; everything else in the reply,
/// fences and prose included, is passed over, and so is a line that stands there twice. Python only: elsewhere there is
/// none. The text is parsed, never run.
pub fn guessed_tests(language: Language, reply: &str, entry_point: &str, most: usize) -> Option<TestSuite> {
    if language != Language::Python {
        return None;
    }
    let (_, answer) = split_reasoning(reply);
    let mut seen = BTreeSet::new();
    let is_test = |line: &&str| {
        line.starts_with("assert")
            && line.contains(entry_point)
            && assertions(line).is_ok_and(|found| found.len() == 1)
            && assertion_suite(line, entry_point).is_ok()
    };
    let lines = answer.lines().map(str::trim).filter(is_test).filter(|line| seen.insert(*line)).take(most);
    let code: String = lines.flat_map(|line| [line, "\n"]).collect();
    assertion_suite(&code, entry_point).ok()
}

#[cfg(test)]
mod tests {
    use super::guessed_tests;
    use crate::domain::{Language, TestSuite};

    #[test]
    fn only_whole_assertions_on_the_function_are_tests() {
        let reply = "<think>assert f(9) == 9</think>\nHere are tests:\n```python\nassert f(1) == 1\n  assert f(2) == [\nassert g(3) == 3\nassert f(1) == 1\nimport os\nassert f('assert') == 2, \"m\"\nfor x in f(3): pass\n```\nassert f(4) is right I think\nassert f(5) == 5";
        let Some(TestSuite::Assertions { code, assertions }) = guessed_tests(Language::Python, reply, "f", 10) else {
            panic!("none found")
        };
        assert_eq!(code, "assert f(1) == 1\nassert f('assert') == 2, \"m\"\nassert f(5) == 5\n");
        assert_eq!(assertions.len(), 3);
        assert_eq!(guessed_tests(Language::Python, reply, "f", 1).unwrap().len(), 1);
        assert!(guessed_tests(Language::Python, "I cannot.", "f", 10).is_none());
        assert!(guessed_tests(Language::Go, reply, "f", 10).is_none());
    }
}
