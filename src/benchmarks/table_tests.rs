//! Tests that loop over a table of literals, unrolled into one assertion a row, so that each row has its own verdict.

use tree_sitter::Node;

use super::python_syntax::{GrammarMissing, PythonText, named_children, nodes_below};
use crate::languages::syntax::MAX_CODE_BYTES;

/// A step between table and loop that turns the items of every expected list into tuples, since the table was JSON,
/// which has none.
const TUPLES_STEP: &str = "[[inp, [tuple(x) for x in out]] for inp, out in testdata]";

/// Unrolls `tests`, where it is
///
/// ```python
/// testdata = [[[1, 2], 3], …]
/// for input_data, expected in testdata:
///     assert f(*input_data) == expected
/// ```
///
/// into `assert f(1, 2) == 3`, …: the assertion is taken as it stands, with literals of the table in the place of
/// `*input_data`, `input_data[-1]` and `expected`. `None` where the text is anything else, or too long when unrolled.
pub(super) fn unrolled(tests: &str) -> Result<Option<String>, GrammarMissing> {
    let text = PythonText::parse(tests)?;
    Ok(Table::of(&text).and_then(|table| table.assertions(&text)))
}

struct Table<'t> {
    rows: Vec<Node<'t>>,
    tuples: bool,
    input: Node<'t>,
    expected: Node<'t>,
    assertion: Node<'t>,
}

impl<'t> Table<'t> {
    fn of(text: &'t PythonText<'_>) -> Option<Self> {
        let statements = text.statements();
        let (data, step, lines) = match statements.as_slice() {
            [data, lines] => (data, None, lines),
            [data, step, lines] => (data, Some(step), lines),
            _ => return None,
        };
        let data = assigned(*data, text, "testdata").filter(|value| value.kind() == "list")?;
        let tuples = match step {
            Some(step) => text.source(assigned(*step, text, "testdata")?) == TUPLES_STEP,
            None => false,
        };
        if tuples != step.is_some() || lines.kind() != "for_statement" {
            return None;
        }
        let names = named_children(lines.child_by_field_name("left")?);
        let [input, expected] = names.as_slice() else { return None };
        let body = named_children(lines.child_by_field_name("body")?);
        let [assertion] = body.as_slice() else { return None };
        let fits =
            text.source(lines.child_by_field_name("right")?) == "testdata" && assertion.kind() == "assert_statement";
        fits.then(|| Self {
            rows: named_children(data),
            tuples,
            input: *input,
            expected: *expected,
            assertion: *assertion,
        })
    }

    fn assertions(&self, text: &PythonText<'_>) -> Option<String> {
        let mut unrolled = String::new();
        for row in &self.rows {
            unrolled.push_str(&self.assertion(text, *row)?);
            unrolled.push('\n');
            if unrolled.len() > MAX_CODE_BYTES {
                return None;
            }
        }
        Some(unrolled)
    }

    /// The assertion for one row `[[argument, …], expected]`.
    fn assertion(&self, text: &PythonText<'_>, row: Node<'_>) -> Option<String> {
        let cells = named_children(row);
        let [inputs, expected] = cells.as_slice() else { return None };
        if row.kind() != "list" || inputs.kind() != "list" || !is_literal(row) {
            return None;
        }
        let arguments: Vec<_> = named_children(*inputs).into_iter().map(|argument| text.source(argument)).collect();
        let expected = if self.tuples { tuples(text, *expected)? } else { text.source(*expected).to_owned() };
        let (input_name, expected_name) = (text.source(self.input), text.source(self.expected));
        let mut line = String::new();
        let mut copied = self.assertion.start_byte();
        let source = text.source(self.assertion);
        let offset = |byte: usize| byte - self.assertion.start_byte();
        for node in nodes_below(self.assertion) {
            if node.start_byte() < copied {
                continue;
            }
            let literal = match (node.kind(), text.source(node)) {
                ("list_splat", name) if name.strip_prefix('*') == Some(input_name) => arguments.join(", "),
                ("subscript", name) if name.strip_prefix(input_name) == Some("[-1]") => (*arguments.last()?).to_owned(),
                ("identifier", name) if name == expected_name => expected.clone(),
                ("identifier", name) if name == input_name => return None,
                _ => continue,
            };
            line.push_str(&source[offset(copied)..offset(node.start_byte())]);
            line.push_str(&literal);
            copied = node.end_byte();
        }
        line.push_str(&source[offset(copied)..]);
        Some(line)
    }
}

/// The value that `statement` assigns to `name`.
fn assigned<'t>(statement: Node<'t>, text: &PythonText<'_>, name: &str) -> Option<Node<'t>> {
    let children = named_children(statement);
    let [assignment] = children.as_slice() else { return None };
    let target = assignment.child_by_field_name("left")?;
    (text.source(target) == name).then(|| assignment.child_by_field_name("right")).flatten()
}

/// Whether there is nothing below `node` but literals, so that it means the same wherever it stands.
fn is_literal(node: Node<'_>) -> bool {
    nodes_below(node).into_iter().all(|inner| !matches!(inner.kind(), "identifier" | "call" | "ERROR"))
}

/// `[[1, 3], [1]]` as `[(1, 3), (1,)]`.
fn tuples(text: &PythonText<'_>, list: Node<'_>) -> Option<String> {
    let tuple = |item: Node<'_>| {
        let parts: Vec<_> = named_children(item).into_iter().map(|part| text.source(part)).collect();
        let end = if parts.len() == 1 { "," } else { "" };
        (item.kind() == "list").then(|| format!("({}{end})", parts.join(", ")))
    };
    let items: Option<Vec<_>> = named_children(list).into_iter().map(tuple).collect();
    Some(format!("[{}]", items?.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::unrolled;

    #[test]
    fn each_row_becomes_an_assertion_of_literals() {
        let tests = "testdata = [[[[1, 2], 'a]'], -3], [[None, 0.5], True]]\nfor input_data, expected in testdata:\n    assert abs(f(*input_data) - expected) <= input_data[-1]\n";
        let expected = "assert abs(f([1, 2], 'a]') - -3) <= 'a]'\nassert abs(f(None, 0.5) - True) <= 0.5\n";
        assert_eq!(unrolled(tests).unwrap().unwrap(), expected);
    }

    #[test]
    fn a_step_that_makes_tuples_is_followed_and_no_other_step_is() {
        let tests = |step: &str| {
            format!(
                "testdata = [[[1], [[1, 2], [3]]]]\ntestdata = {step}\nfor i, e in testdata:\n    assert f(*i) == e\n"
            )
        };
        assert_eq!(unrolled(&tests(super::TUPLES_STEP)).unwrap().unwrap(), "assert f(1) == [(1, 2), (3,)]\n");
        assert!(unrolled(&tests("sorted(testdata)")).unwrap().is_none());
    }

    #[test]
    fn other_texts_are_left_alone() {
        assert!(unrolled("def test1():\n    assert f()\ntest1()\n").unwrap().is_none());
        assert!(unrolled("testdata = [[[g()], 3]]\nfor i, e in testdata:\n    assert f(*i) == e\n").unwrap().is_none());
        assert!(unrolled("testdata = [[[1], 3]]\nfor i, e in testdata:\n    assert f(i) == e\n").unwrap().is_none());
        assert!(unrolled("testdata = [").unwrap().is_none());
    }
}
