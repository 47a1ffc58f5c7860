use tree_sitter::Node;

use super::{
    names::shown,
    python_syntax::{GrammarMissing, PythonText, named_children, nodes_below},
};
use crate::{
    domain::{Assertion, Language, TestSuite},
    languages::{TestTextError, syntax::MAX_CODE_BYTES, toolchain},
};

/// Name of the test function that data sets in the manner of HumanEval define and leave to the harness to call.
const CHECK: &str = "check";

impl From<GrammarMissing> for TestTextError {
    fn from(GrammarMissing: GrammarMissing) -> Self {
        Self::of_text("the built-in Python grammar does not fit the built-in parser; please report this")
    }
}

/// Lists every `assert` statement of a Python test text in source order, at whatever depth it stands.
///
/// The text is parsed, never run. No assertion at all is an empty list, which the caller must refuse: a suite without
/// tests judges nothing.
///
/// # Errors
/// Text that is not Python (at its first error), or longer than 1 MiB.
pub fn assertions(code: &str) -> Result<Vec<Assertion>, TestTextError> {
    let none = || TestTextError::of_text("no toolchain for Python");
    toolchain(Language::Python).ok_or_else(none)?.assertions(code)
}

/// Makes a test suite of a Python test text for the function `entry_point`.
///
/// Where the text defines a function `check` with parameters and never calls it, the call `check(<entry_point>)` is
/// added below, as the HumanEval data set wants it.
///
/// # Errors
/// As [`assertions`]; no assertion; an assertion in a function that nothing calls; a text that never mentions
/// `entry_point`: each would pass any program.
pub(super) fn assertion_suite(code: &str, entry_point: &str) -> Result<TestSuite, TestTextError> {
    let mut code = code.to_owned();
    if let Some(call) = missing_check_call(&parse(&code)?, entry_point) {
        code = format!("{}\n\n{call}\n", code.trim_end());
    }
    let text = parse(&code)?;
    let asserts = assert_statements(&text);
    if asserts.is_empty() {
        return Err(TestTextError::of_text("no assertion: any program would pass"));
    }
    let (statements, mentions) = (text.statements(), text.mentions());
    for assert in asserts.iter().copied() {
        let number = mentions.statement_of(assert);
        let definition = statements.get(number).copied().filter(is_definition);
        let names = definition.map_or_else(Vec::new, |definition| text.bound_names(definition));
        if let Some(name) = names.into_iter().find(|name| !mentions.outside(name, number)) {
            let problem = format!("nothing uses `{}`, so this assertion is never reached", shown(name));
            return Err(TestTextError::at(assert, problem));
        }
    }
    if !mentions.anywhere(entry_point) {
        return Err(TestTextError::of_text(format!("the tests never mention `{entry_point}`: any program would pass")));
    }
    let assertions = asserts.into_iter().map(|node| text.listed(node)).collect();
    Ok(TestSuite::Assertions { code, assertions })
}

fn parse(code: &str) -> Result<PythonText<'_>, TestTextError> {
    if code.len() > MAX_CODE_BYTES {
        return Err(TestTextError::of_text(format!("longer than {MAX_CODE_BYTES} bytes")));
    }
    let text = PythonText::parse(code)?;
    match text.first_error() {
        Some((line, column)) => Err(TestTextError { line, column, problem: "not valid Python".to_owned() }),
        None => Ok(text),
    }
}

fn assert_statements<'t>(text: &'t PythonText<'_>) -> Vec<Node<'t>> {
    text.nodes().into_iter().filter(|node| node.kind() == "assert_statement").collect()
}

fn is_function(statement: &Node<'_>) -> bool {
    matches!(statement.kind(), "function_definition" | "decorated_definition")
}

fn is_definition(statement: &Node<'_>) -> bool {
    is_function(statement) || statement.kind() == "class_definition"
}

fn missing_check_call(text: &PythonText<'_>, entry_point: &str) -> Option<String> {
    let check = text.definition(CHECK).filter(is_function)?;
    let parameters = nodes_below(check).into_iter().find(|node| node.kind() == "parameters")?;
    let takes_candidate = !named_children(parameters).is_empty();
    let mentions = text.mentions();
    (takes_candidate && !mentions.outside(CHECK, mentions.statement_of(check)))
        .then(|| format!("{CHECK}({entry_point})"))
}

#[cfg(test)]
mod tests {
    use super::{assertion_suite, assertions};
    use crate::domain::{Assertion, TestSuite};

    #[test]
    fn every_assert_statement_is_listed_with_its_line_at_any_depth() {
        let code = "x = 'assert no'  # assert no\nassert f(1) == [\n    2,\n]\nfor i in (1, 2):\n    if i:\n        assert f(i), 'why'\n";
        let expected = [
            Assertion { line: 2, text: "assert f(1) == [\n    2,\n]".to_owned() },
            Assertion { line: 7, text: "assert f(i), 'why'".to_owned() },
        ];
        assert_eq!(assertions(code).unwrap(), expected);
        assert_eq!(assertions("x = 1\n").unwrap(), []);
    }

    #[test]
    fn what_is_not_python_is_refused_where_it_begins() {
        let error = assertions("assert f(1) == 1\nassert f(2 ==\n").unwrap_err();
        assert_eq!(error.line, 2);
    }

    #[test]
    fn e10_a_check_function_that_nobody_calls_is_called() {
        let suite = assertion_suite("def check(candidate):\n    assert candidate(2, 3) == 5\n", "add").unwrap();
        let TestSuite::Assertions { code, assertions } = suite else { panic!("assertions expected") };
        assert!(code.ends_with("\n\ncheck(add)\n"), "{code}");
        assert_eq!(assertions.len(), 1);
        let called = "def check(c):\n    assert c(2)\ncheck(add)";
        let TestSuite::Assertions { code, .. } = assertion_suite(called, "add").unwrap() else { panic!() };
        assert_eq!(code, called);
    }

    #[test]
    fn e10_tests_that_would_pass_any_program_are_refused() {
        let problem = |code| assertion_suite(code, "add").unwrap_err().problem;
        assert!(problem("").contains("no assertion"));
        assert!(problem("print(add(1, 2))").contains("no assertion"));
        assert!(problem("def test_add():\n    assert add(1, 2) == 3\n").contains("nothing uses `test_add`"));
        let method = "class TestAdd:\n    def test(self):\n        assert add(1, 2) == 3\n";
        assert!(problem(method).contains("nothing uses `TestAdd`"));
        assert!(problem("assert 1 + 2 == 3\n").contains("never mention `add`"));
    }
}
