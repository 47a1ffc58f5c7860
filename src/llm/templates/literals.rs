//! Constants that a program or its visible tests mention.

use std::collections::BTreeMap;

use super::{
    kind::Kind,
    syntax::{NodeId, Syntax},
};
use crate::domain::TestSuite;

/// Longest literal that is worth trying elsewhere, in bytes.
const LONGEST: usize = 12;
/// Most literals of one kind that are taken from the tests.
const MOST: usize = 8;

/// Literal texts of the visible tests, most frequent first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Literals {
    /// Numbers.
    pub(super) numbers: Vec<String>,
    /// Strings, with their quotes.
    pub(super) strings: Vec<String>,
}

impl Literals {
    /// Those of the assertions of `suite`; tests over stdin and stdout have none.
    pub(super) fn of_tests(suite: &TestSuite) -> Self {
        let TestSuite::Assertions { assertions, .. } = suite else { return Self::default() };
        let texts: Vec<&str> = assertions.iter().map(|assertion| assertion.text.as_str()).collect();
        let Some(syntax) = Syntax::parse(&texts.join("\n")) else { return Self::default() };
        let of_kind = |wanted: &[Kind]| {
            let mut counted: Vec<(usize, &str)> = Vec::new();
            let literals = syntax.ids().filter(|id| wanted.contains(&syntax.kind(*id)));
            for text in literals.map(|id| syntax.text(id)).filter(|text| is_plain(text)) {
                match counted.iter_mut().find(|(_, known)| *known == text) {
                    Some((count, _)) => *count += 1,
                    None => counted.push((1, text)),
                }
            }
            counted.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
            counted.into_iter().take(MOST).map(|(_, text)| text.to_owned()).collect()
        };
        Self { numbers: of_kind(&[Kind::Integer, Kind::Float]), strings: of_kind(&[Kind::Str]) }
    }
}

fn is_plain(text: &str) -> bool {
    text.len() <= LONGEST && !text.contains(['\n', '\\', '{'])
}

/// Constants of a program, each once, in source order.
#[derive(Clone, Debug, Default)]
pub(super) struct Constants(BTreeMap<Kind, Vec<String>>);

impl Constants {
    /// Short ones of `syntax`, no docstrings.
    pub(super) fn of_program(syntax: &Syntax) -> Self {
        let mut constants = Self::default();
        for id in syntax.ids().filter(|id| syntax.kind(*id).is_constant()) {
            let text = syntax.text(id);
            let texts = constants.0.entry(syntax.kind(id)).or_default();
            let docstring = syntax.parent_kind(id) == Kind::ExpressionStatement;
            if texts.len() <= MOST && is_plain(text) && !docstring && !texts.iter().any(|known| known == text) {
                texts.push(text.to_owned());
            }
        }
        constants
    }

    /// Those of the same kind as `id` with another text.
    pub(super) fn others(&self, syntax: &Syntax, id: NodeId) -> impl Iterator<Item = &String> {
        self.0.get(&syntax.kind(id)).into_iter().flatten().filter(move |text| *text != syntax.text(id))
    }
}

#[cfg(test)]
mod tests {
    use super::Literals;
    use crate::domain::{Assertion, TestSuite};

    #[test]
    fn literals_of_tests_come_most_frequent_first() {
        let text = "assert f([3, 7, 7], 'ab') == 'x' * 7".to_owned();
        let suite = TestSuite::Assertions { code: text.clone(), assertions: vec![Assertion { line: 1, text }] };
        let literals = Literals::of_tests(&suite);
        assert_eq!(literals.numbers, ["7", "3"]);
        assert_eq!(literals.strings, ["'ab'", "'x'"]);
    }
}
