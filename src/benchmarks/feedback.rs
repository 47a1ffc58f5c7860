use std::sync::Arc;

use super::separated::{Rest, separated};
use crate::domain::{Assertion, FeedbackSet, HiddenTests, Language, Problem, TestSuite};

/// The note of a task that has no visible tests of its own.
pub(super) const NO_VISIBLE_TESTS: &str = "no visible assertion: run with feedback = all";

/// The note of a task whose hidden tests are all visible ones too.
pub(super) const NOTHING_HIDDEN: &str = "every test is a visible one: scored on feedback tests";

/// The note of a task whose hidden tests have visible ones among them.
const NOT_TAKEN_APART: &str = "visible tests may stand among the hidden ones: they cannot be taken apart";

/// The note of a task without the tests that were asked for.
const NO_VALIDATION: &str = "no validation tests: the visible tests feed back";

/// The problem with the tests of `set` as feedback. What does not feed back stays withheld.
///
/// `Validation` puts the validation tests below the visible ones, `All` the hidden ones below both and leaves none hidden;
/// a stdin/stdout test that stands in several sets is run once. Visible tests that are no other set's change nothing.
///
/// Two test texts can only be one in Python: elsewhere each has a `main`, a class or an import of its own. There the
/// last of the sets takes the place of those before it, and a note says so.
pub fn with_feedback(mut problem: Problem, set: FeedbackSet) -> Problem {
    // A loader that finds no visible tests feeds all of them back, whatever is asked for.
    if set == FeedbackSet::Visible || problem.feedback == FeedbackSet::All {
        return problem;
    }
    let mut sets = vec![("validation", problem.validation.take())];
    if set == FeedbackSet::All {
        sets.push(("hidden", problem.hidden.take()));
    } else if sets[0].1.is_none() {
        problem.notes.push(NO_VALIDATION.to_owned());
        return problem;
    }
    let mut feedback = problem.task.feedback.clone();
    let mut alone = None;
    for (name, tests) in sets {
        let Some(tests) = tests else { continue };
        feedback = match joined(problem.task.language, &feedback, tests.reveal()) {
            Some(joined) => Arc::new(joined),
            None => {
                alone = Some(name);
                tests.reveal().clone()
            }
        };
    }
    if let Some(name) = alone {
        problem.notes.push(format!("feedback = {set}: the {name} tests alone are fed back"));
    }
    let mut task = Arc::unwrap_or_clone(problem.task);
    task.feedback = feedback;
    Problem { task: Arc::new(task), feedback: set, ..problem }
}

/// A task's tests in their sets.
pub(super) struct Split {
    pub visible: Arc<TestSuite>,
    pub hidden: Option<HiddenTests>,
    pub feedback: FeedbackSet,
    pub notes: Vec<String>,
}

impl Split {
    /// Tests of a data set that has one set only: all are visible.
    pub fn none(tests: TestSuite, note: &str) -> Self {
        let feedback = FeedbackSet::Visible;
        Self { visible: Arc::new(tests), hidden: None, feedback, notes: vec![note.to_owned()] }
    }
}

/// Visible and hidden tests of a task whose data set may leave out the visible ones: then the hidden ones are fed
/// back, nothing is hidden, and a note says so.
///
/// A hidden assertion that is a visible one too is taken out of the hidden tests. It stays where all tests feed back and
/// the two texts cannot be one.
pub(super) fn split(
    (language, entry_point): (Language, &str),
    visible: Option<TestSuite>,
    hidden: TestSuite,
    feedback: FeedbackSet,
) -> Split {
    let Some(visible) = visible else {
        return Split { feedback: FeedbackSet::All, ..Split::none(hidden, NO_VISIBLE_TESTS) };
    };
    let mut notes = Vec::new();
    let whole = || Some(hidden.clone());
    let rest = if feedback == FeedbackSet::All && language != Language::Python {
        whole()
    } else {
        match separated((language, entry_point), &visible, &hidden) {
            Rest::Tests(tests) => Some(tests),
            Rest::Nothing => {
                notes.push(NOTHING_HIDDEN.to_owned());
                None
            }
            Rest::NotTakenApart => {
                notes.push(NOT_TAKEN_APART.to_owned());
                whole()
            }
        }
    };
    let (visible, hidden) = (Arc::new(visible), rest.map(HiddenTests::new));
    Split { visible, hidden, feedback: FeedbackSet::Visible, notes }
}

/// One suite that holds the tests of both, those of `first` first; `None` where they cannot be one.
fn joined(language: Language, first: &TestSuite, second: &TestSuite) -> Option<TestSuite> {
    match (first, second) {
        (TestSuite::Assertions { code, assertions }, TestSuite::Assertions { code: more, assertions: others })
            if language == Language::Python =>
        {
            let head = format!("{}\n\n", code.trim_end());
            let shift = super::mistake::to_u32(head.matches('\n').count());
            let moved = others.iter().map(|other| Assertion { line: other.line + shift, text: other.text.clone() });
            let assertions = assertions.iter().cloned().chain(moved).collect();
            Some(TestSuite::Assertions { code: head + more, assertions })
        }
        (TestSuite::Io { cases, rule }, TestSuite::Io { cases: others, .. }) => {
            let new = others.iter().filter(|other| !cases.contains(other));
            Some(TestSuite::Io { cases: cases.iter().chain(new).cloned().collect(), rule: rule.clone() })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::joined;
    use crate::{
        benchmarks::assertions::assertion_suite,
        domain::{IoCase, Language, OutputRule, TestSuite},
    };

    #[test]
    fn a_joined_suite_lists_its_assertions_as_a_fresh_look_at_its_text_would() {
        let first = assertion_suite("def check(f):\n    assert f(1)\n", "f").unwrap();
        let second = assertion_suite("\n\n# more\nassert f(2)\nassert f(\n    3)\n", "f").unwrap();
        let Some(TestSuite::Assertions { code, assertions }) = joined(Language::Python, &first, &second) else {
            panic!()
        };
        assert_eq!(assertions.len(), 3);
        assert_eq!(assertions, crate::benchmarks::assertions(&code).unwrap());
        assert!(joined(Language::Cpp, &first, &second).is_none());
    }

    #[test]
    fn an_input_that_stands_in_both_sets_is_run_once() {
        let case = |stdin: &str| IoCase { stdin: stdin.to_owned(), stdout: String::new() };
        let suite = |words: &[&str]| TestSuite::Io {
            cases: words.iter().map(|word| case(word)).collect(),
            rule: OutputRule::Tokens,
        };
        let both = joined(Language::Cpp, &suite(&["a", "b"]), &suite(&["b", "c", "a"])).unwrap();
        assert_eq!(both, suite(&["a", "b", "c"]));
    }
}
