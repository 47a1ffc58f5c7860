//! Examples in the documentation of a Python function, as assertions.

use std::collections::BTreeSet;

use tree_sitter::Node;

use super::{
    assertions::assertion_suite,
    python_syntax::{PythonText, named_children, nodes_below},
};
use crate::domain::TestSuite;

/// What stands between a call and the value that it gives; the first that fits counts.
const SIGNS: &[&str] =
    &["==>", "==", "=>", "->", "=", "➞", "→", "should return", "returns", "# returns", "# =>", "# ==>"];

/// What a prompt of the interpreter looks like.
const PROMPT: &str = ">>>";

/// Kinds of nodes that literals are made of.
const LITERAL: &[&str] = &[
    "integer",
    "float",
    "string",
    "string_start",
    "string_content",
    "string_end",
    "escape_sequence",
    "true",
    "false",
    "none",
    "list",
    "tuple",
    "set",
    "dictionary",
    "pair",
    "unary_operator",
    "concatenated_string",
];

/// The examples in the documentation of `function` as tests, each once, in their order; `None` where there is none.
///
/// An example is a call of the function with literals for arguments, and behind one of the signs (`==`, `=>`, `➞`, …), or in
/// the line below a call behind `>>>`, the literal that it gives. Whatever does not parse as that is no example; nothing is
/// run.
pub(super) fn examples(prompt: &str, function: &str) -> Option<TestSuite> {
    let text = PythonText::parse(prompt).ok()?;
    let body = text.definition(function)?.child_by_field_name("body")?;
    let mut seen = BTreeSet::new();
    let mut code = String::new();
    for documentation in named_children(body).into_iter().filter_map(documentation) {
        let lines: Vec<&str> = text.source(documentation).lines().collect();
        for (place, line) in lines.iter().enumerate() {
            let below = lines.get(place + 1).copied().unwrap_or_default();
            if let Some(assertion) = example(line, below, function)
                && seen.insert(assertion.clone())
            {
                code.push_str(&assertion);
                code.push('\n');
            }
        }
    }
    assertion_suite(&code, function).ok()
}

/// The string that a statement consists of.
fn documentation(statement: Node<'_>) -> Option<Node<'_>> {
    let string = named_children(statement).into_iter().next().filter(|_| statement.kind() == "expression_statement")?;
    (string.kind() == "string").then_some(string)
}

/// The example that begins in `line`, as an assertion.
fn example(line: &str, below: &str, function: &str) -> Option<String> {
    let start = line.match_indices(function).map(|(start, _)| start).find(|start| {
        let joins = |character: char| character.is_alphanumeric() || "_.".contains(character);
        !line[..*start].ends_with(joins) && line[start + function.len()..].trim_start().starts_with('(')
    })?;
    let (call, rest) = line[start..].split_at(call_length(&line[start..])?);
    let rest = rest.trim();
    let value = if rest.is_empty() || rest.starts_with('#') && line[..start].trim() == PROMPT {
        below.trim()
    } else {
        let sign = SIGNS.iter().find(|sign| rest.starts_with(*sign))?;
        rest[sign.len()..].trim()
    };
    if rest.is_empty() && line[..start].trim() != PROMPT {
        return None;
    }
    // A sentence ends with a full stop, which is no part of the value.
    let values = [value, value.trim_end_matches('.')];
    values.iter().find_map(|value| assertion(call, value, function))
}

/// Length of the call at the start of `text`, up to the parenthesis that closes it.
fn call_length(text: &str) -> Option<usize> {
    let (mut depth, mut quote, mut escaped) = (0_usize, None, false);
    for (place, character) in text.char_indices() {
        match (quote, character) {
            (Some(open), _) => {
                if character == open && !escaped {
                    quote = None;
                }
                escaped = character == '\\' && !escaped;
            }
            (None, '"' | '\'') => quote = Some(character),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(place + 1);
                }
            }
            (None, _) => {}
        }
    }
    None
}

/// `assert CALL == VALUE`, where both consist of literals.
fn assertion(call: &str, value: &str, function: &str) -> Option<String> {
    let line = format!("assert {call} == {value}\n");
    let text = PythonText::parse(&line).ok().filter(|text| text.first_error().is_none())?;
    let statements = text.statements();
    let [statement] = statements.as_slice() else { return None };
    let conditions = named_children(*statement);
    let [comparison] = conditions.as_slice() else { return None };
    let sides = named_children(*comparison);
    let [call, value] = sides.as_slice() else { return None };
    let named = call.child_by_field_name("function").is_some_and(|name| text.source(name) == function);
    let arguments = call.child_by_field_name("arguments")?;
    let literal = named_children(arguments).into_iter().all(is_literal) && is_literal(*value);
    (comparison.kind() == "comparison_operator" && named && literal).then(|| text.source(*statement).to_owned())
}

fn is_literal(node: Node<'_>) -> bool {
    nodes_below(node).into_iter().filter(|inner| inner.is_named()).all(|inner| LITERAL.contains(&inner.kind()))
}

#[cfg(test)]
mod tests {
    use super::examples;
    use crate::domain::TestSuite;

    fn found(documentation: &str) -> Vec<String> {
        let prompt =
            format!("def g(x):\n    ''' g(1) == 0 '''\n\ndef f(x, y):\n    \"\"\"{documentation}\n    \"\"\"\n");
        match examples(&prompt, "f") {
            Some(TestSuite::Assertions { assertions, .. }) => assertions.into_iter().map(|one| one.text).collect(),
            _ => Vec::new(),
        }
    }

    #[test]
    fn examples_of_every_form_become_assertions() {
        for (documentation, expected) in [
            (" Doc.\n    >>> f([1, -2], 'a)')\n    {'k': (1.5, None)}", "f([1, -2], 'a)') == {'k': (1.5, None)}"),
            ("\n    >>> f(1, 2) # why\n    3", "f(1, 2) == 3"),
            ("\n    for f(1, 2) == 3", "f(1, 2) == 3"),
            ("\n    * f(1, 2) => [] # empty", "f(1, 2) == []"),
            ("\n    f(1, 2)==>True", "f(1, 2) == True"),
            ("\n    f(1, 2) ➞ \"x\" ", "f(1, 2) == \"x\""),
            ("\n    f(1, 2) should return 16.", "f(1, 2) == 16."),
            ("\n    f(1, 2) should return True.", "f(1, 2) == True"),
            ("\n    f(1, 2) = -1", "f(1, 2) == -1"),
            ("\n    f('a\\nb', 2)   # returns 'a'", "f('a\\nb', 2) == 'a'"),
        ] {
            assert_eq!(found(documentation), [format!("assert {expected}")], "{documentation}");
        }
        assert_eq!(found("\n    f(1, 2) == 3\n    f(1, 2) => 3\n    f(2, 2) => 4").len(), 2);
    }

    #[test]
    fn defect_17_what_is_not_a_literal_is_no_example() {
        for documentation in [
            "\n    f(a, b) => True",
            "\n    f(1, 2) => true",
            "\n    f(1, 2) == 1 + 2 = 3",
            "\n    f(1, 2) => (\"Venus\")",
            "\n    f(n, 1) = 1 + n / 2, if n is even.",
            "\n    f(1, 2)",
            "\n    f(1, 2)\n    3",
            "\n    >>> f(1, 2)",
            "\n    >>> f(1, __import__('os').system('x'))\n    0",
            "\n    >>> f(1, 2)\n    exit()",
            "\n    >>> f(1, 2)\n    f'{exit()}'",
            "\n    >>> f(*[1, 2])\n    3",
            "\n    >>> x.f(1, 2)\n    3",
            "\n    f(1, 2 == 3",
        ] {
            assert_eq!(found(documentation), Vec::<String>::new(), "{documentation}");
        }
    }
}
