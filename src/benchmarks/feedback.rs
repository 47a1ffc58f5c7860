use std::{fmt, sync::Arc};

use crate::domain::{Assertion, HiddenTests, Language, Problem, TestSuite};

/// Which tests are fed back to the roles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FeedbackSet {
    /// The visible tests; the hidden ones decide in the end.
    #[default]
    Visible,
    /// All of them, so that nothing is left to decide but these same tests.
    All,
}

impl FeedbackSet {
    /// Every choice, in the order in which help texts list them.
    pub const ALL: &'static [Self] = &[Self::Visible, Self::All];

    /// The word used on the command line and in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Visible => "visible",
            Self::All => "all",
        }
    }

    /// The problem with these tests as feedback: `All` appends the hidden tests to the visible ones and leaves none
    /// hidden. Nothing changes where nothing is hidden, or where the two suites are of different kinds (loaders make
    /// no such problem).
    ///
    /// Two test texts can only be one in Python: elsewhere each has a `main`, a class or an import of its own. There the
    /// hidden tests, which decide, take the place of the visible ones, and a note says so.
    pub fn apply(self, problem: Problem) -> Problem {
        let hidden = match self {
            Self::Visible => None,
            Self::All => problem.hidden.as_ref(),
        };
        let Some(hidden) = hidden else {
            return problem;
        };
        let is_code = matches!(**hidden.reveal(), TestSuite::Assertions { .. });
        let mut notes = problem.notes;
        let all = if is_code && problem.task.language != Language::Python {
            notes.push(HIDDEN_ONLY.to_owned());
            hidden.reveal().clone()
        } else {
            match joined(&problem.task.visible, hidden.reveal()) {
                Some(all) => Arc::new(all),
                None => return Problem { notes, ..problem },
            }
        };
        let mut task = Arc::unwrap_or_clone(problem.task);
        task.visible = all;
        Problem { task: Arc::new(task), hidden: None, notes, ..problem }
    }
}

impl fmt::Display for FeedbackSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The note of a task that has no visible tests of its own.
pub(super) const NO_VISIBLE_TESTS: &str = "no visible assertion: run with feedback = all";

/// The note of a task whose visible and hidden tests cannot stand in one text.
const HIDDEN_ONLY: &str = "feedback = all: the hidden tests alone are fed back";

/// Visible and hidden tests of a task whose data set may leave out the visible ones: then the hidden ones are fed
/// back, nothing is hidden, and a note says so.
pub(super) fn split(
    visible: Option<TestSuite>,
    hidden: TestSuite,
) -> (Arc<TestSuite>, Option<HiddenTests>, Vec<String>) {
    match visible {
        Some(visible) => (Arc::new(visible), Some(HiddenTests::new(hidden)), Vec::new()),
        None => (Arc::new(hidden), None, vec![NO_VISIBLE_TESTS.to_owned()]),
    }
}

/// One suite that holds the tests of both, those of `first` first; `None` where they are of different kinds.
fn joined(first: &TestSuite, second: &TestSuite) -> Option<TestSuite> {
    match (first, second) {
        (TestSuite::Assertions { code, assertions }, TestSuite::Assertions { code: more, assertions: others }) => {
            let head = format!("{}\n\n", code.trim_end());
            let shift = super::mistake::to_u32(head.matches('\n').count());
            let moved = others.iter().map(|other| Assertion { line: other.line + shift, text: other.text.clone() });
            let assertions = assertions.iter().cloned().chain(moved).collect();
            Some(TestSuite::Assertions { code: head + more, assertions })
        }
        (TestSuite::Io { cases, rule }, TestSuite::Io { cases: others, .. }) => {
            Some(TestSuite::Io { cases: cases.iter().chain(others).cloned().collect(), rule: rule.clone() })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::joined;
    use crate::{benchmarks::assertions::assertion_suite, domain::TestSuite};

    #[test]
    fn a_joined_suite_lists_its_assertions_as_a_fresh_look_at_its_text_would() {
        let first = assertion_suite("def check(f):\n    assert f(1)\n", "f").unwrap();
        let second = assertion_suite("\n\n# more\nassert f(2)\nassert f(\n    3)\n", "f").unwrap();
        let Some(TestSuite::Assertions { code, assertions }) = joined(&first, &second) else { panic!() };
        assert_eq!(assertions.len(), 3);
        assert_eq!(assertions, crate::benchmarks::assertions(&code).unwrap());
    }
}
