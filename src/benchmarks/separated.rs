//! Hidden tests without those that are visible too, assertion by assertion.

use std::collections::BTreeSet;

use super::{
    python_syntax::{PythonText, named_children, nodes_below},
    spaces::without_spaces,
    suites::suite,
};
use crate::{
    domain::{Assertion, Language, TestSuite},
    languages::toolchain,
};

/// What is left of hidden tests.
#[derive(Debug)]
pub(super) enum Rest {
    /// These.
    Tests(TestSuite),
    /// Every test is a visible one too.
    Nothing,
    /// The text without some of its assertions would not be the same text less these.
    NotTakenApart,
}

/// `hidden` without the assertions that also stand in `visible`. Two assertions are the same where they are written alike
/// but for white space, and in Python for the message and the name `candidate` for the function under test.
///
/// The text that is left is read again: it must hold exactly the other assertions.
pub(super) fn separated((language, entry_point): (Language, &str), visible: &TestSuite, hidden: &TestSuite) -> Rest {
    let (TestSuite::Assertions { assertions: shown, .. }, TestSuite::Assertions { code, assertions }) =
        (visible, hidden)
    else {
        return Rest::NotTakenApart;
    };
    let key = |assertion: &Assertion| key(language, &assertion.text, entry_point);
    let shown: BTreeSet<String> = shown.iter().map(key).collect();
    let (out, left): (Vec<_>, Vec<_>) = assertions.iter().partition(|assertion| shown.contains(&key(assertion)));
    if out.is_empty() {
        return Rest::Tests(hidden.clone());
    }
    if left.is_empty() {
        return Rest::Nothing;
    }
    let fresh = without(language, code, &out).and_then(|text| suite(language, &text, entry_point).ok());
    let Some(fresh) = fresh else { return Rest::NotTakenApart };
    let texts = |assertions: &[Assertion]| assertions.iter().map(|one| one.text.clone()).collect::<Vec<_>>();
    let expected: Vec<String> = left.iter().map(|one| one.text.clone()).collect();
    match &fresh {
        TestSuite::Assertions { assertions, .. } if texts(assertions) == expected => Rest::Tests(fresh),
        _ => Rest::NotTakenApart,
    }
}

/// `code` with nothing in the place of each of these assertions, which are in the order of the text.
fn without(language: Language, code: &str, assertions: &[&Assertion]) -> Option<String> {
    let nothing = toolchain(language)?.nothing();
    let (mut text, mut copied) = (String::new(), 0);
    for assertion in assertions {
        let line = usize::try_from(assertion.line).ok()?.checked_sub(1)?;
        let line: usize = code.split_inclusive('\n').take(line).map(str::len).sum();
        let from = line.max(copied);
        let start = from + code.get(from..)?.find(&assertion.text)?;
        let end = start + assertion.text.len();
        text.push_str(&code[copied..start]);
        let rest = code[end..].trim_start();
        let list = text.trim_end();
        copied = if list.ends_with(['(', ',']) && rest.starts_with(',') {
            // An element of a list goes with its comma, the last one with the comma before it.
            code.len() - rest.len() + 1
        } else if list.ends_with(',') && rest.starts_with(')') {
            text.truncate(list.len() - 1);
            end
        } else {
            text.push_str(nothing);
            if assertion.text.ends_with(';') && !nothing.ends_with(';') {
                text.push(';');
            }
            end
        };
    }
    text.push_str(&code[copied..]);
    Some(text)
}

/// What two assertions have in common that test the same.
fn key(language: Language, text: &str, entry_point: &str) -> String {
    if language == Language::Python
        && let Some(key) = python_key(text, entry_point)
    {
        return key;
    }
    without_spaces(text.trim_end_matches(';'))
}

/// The condition of a Python assertion, word by word.
fn python_key(text: &str, entry_point: &str) -> Option<String> {
    let python = PythonText::parse(text).ok()?;
    let statement = python.statements().into_iter().next().filter(|node| node.kind() == "assert_statement")?;
    let condition = named_children(statement).into_iter().next()?;
    let words = nodes_below(condition).into_iter().filter(|node| node.child_count() == 0);
    let words = words.map(|node| match (node.kind(), python.source(node)) {
        ("identifier", "candidate") => entry_point,
        (_, word) => word,
    });
    Some(words.collect::<Vec<_>>().join("\u{0}"))
}

#[cfg(test)]
mod tests {
    use super::{Rest, separated};
    use crate::{
        benchmarks::suites::suite,
        domain::{Language, TestSuite},
    };

    /// The assertions that are left, and the text.
    fn rest(language: Language, visible: &str, hidden: &str) -> Option<(Vec<String>, String)> {
        let suites = [visible, hidden].map(|code| suite(language, code, "f").unwrap());
        match separated((language, "f"), &suites[0], &suites[1]) {
            Rest::Tests(TestSuite::Assertions { code, assertions }) => {
                Some((assertions.into_iter().map(|one| one.text).collect(), code))
            }
            Rest::NotTakenApart => None,
            Rest::Nothing => Some((Vec::new(), String::new())),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn python_assertions_are_the_same_whatever_they_say_when_they_fail() {
        let visible = "assert f( 'a  b' ) == 1\nassert f(2) == 2\n";
        let hidden = "def check(candidate):\n    assert candidate('a  b') == 1, 'no'\n    assert candidate('a b') == 1\n    \
                      if True: assert candidate(2) ==  2\n";
        let (left, code) = rest(Language::Python, visible, hidden).unwrap();
        assert_eq!(left, ["assert candidate('a b') == 1"]);
        assert!(code.contains("    pass\n") && code.contains("if True: pass\n"), "{code}");
    }

    #[test]
    fn elements_of_a_java_list_go_with_their_comma() {
        let text = |elements: &str| {
            format!(
                "class Main {{ static void main(String[] a) {{\n  List<Boolean> all = Arrays.asList(\n    {elements}\n  \
                 );\n  if (all.contains(false)) {{ throw new AssertionError(); }}\n}} }}"
            )
        };
        let visible = text("f(1) == 1,\n    f(4) == 4,\n    f(5) == 5");
        for (hidden, left) in [
            ("f(1) == 1, f(2) == 2, f(3) == 3", vec!["f(2) == 2", "f(3) == 3"]),
            ("f(2) == 2,\n f(4) == 4,\n f(5)  == 5", vec!["f(2) == 2"]),
            ("f(4)==4, f(1) == 1", vec![]),
        ] {
            assert_eq!(rest(Language::Java, &visible, &text(hidden)).unwrap().0, left, "{hidden}");
        }
    }

    #[test]
    fn statements_of_other_languages_leave_nothing_that_matters() {
        for (language, visible, hidden) in [
            (
                Language::Cpp,
                "int main(){ assert (f(1)==1); }",
                "int main(){\n  assert(f(1) == 1);\n  if (true) assert(f(1)==1); else assert (f(2)==2);\n}",
            ),
            (
                Language::JavaScript,
                "const t = () => { console.assert(f(1) === 1) }\nt()",
                "const t = () => {\n  console.assert(\n    f(1) === 1\n  )\n  console.assert(f(2) === 2)\n}\nt()",
            ),
            (
                Language::Go,
                "package main\nimport (\"testing\"; \"github.com/stretchr/testify/assert\")\nfunc TestF(t *testing.T) {\n  \
                 assert := assert.New(t)\n  assert.Equal(1, f(1))\n}\n",
                "package main\nimport (\"testing\"; \"github.com/stretchr/testify/assert\")\nfunc TestF(t *testing.T) {\n  \
                 assert := assert.New(t)\n  assert.Equal(1, f(1))\n  assert.Equal(2, f(2))\n}\n",
            ),
            (
                Language::Rust,
                "mod tests { use super::*; #[test] fn t() { assert_eq!(f(1), 1); } }",
                "mod tests { use super::*; #[test] fn t() { assert_eq!(f(1), 1); assert_eq!(f(2), 2); } }",
            ),
        ] {
            let (left, code) = rest(language, visible, hidden).unwrap_or_else(|| panic!("{language}"));
            assert_eq!(left.len(), 1, "{language}: {left:?}");
            assert!(left[0].contains("2") && !code.contains("(1)"), "{language}: {code}");
        }
    }

    #[test]
    fn a_text_that_would_change_its_meaning_is_left_whole() {
        // Without its elements, the condition of the list would be an assertion of its own.
        let list = |name: &str, element: &str| {
            format!("List<Boolean> {name} = Arrays.asList({element}); if ({name}.contains(false)) throw new Error();")
        };
        let text = |body: &str| format!("class Main {{ static void main(String[] a) {{ {body} }} }}");
        let hidden = text(&(list("one", "f(1) == 1") + &list("other", "f(2) == 2")));
        assert!(rest(Language::Java, &text(&list("one", "f(1) == 1")), &hidden).is_none());
    }
}
