use std::{collections::BTreeSet, ops::Range};

use serde_json::{Value, json};
use tree_sitter::Node;

use crate::languages::{
    TestTextError,
    edits::Edits,
    syntax::{Syntax, line_of, named_children, nodes_below},
};

/// Methods of `assert` that compare their first two arguments.
const EQUALITIES: &[&str] = &[
    "equal",
    "notEqual",
    "strictEqual",
    "notStrictEqual",
    "deepEqual",
    "notDeepEqual",
    "deepStrictEqual",
    "notDeepStrictEqual",
];

/// Methods of `assert` that call their first argument.
const THROWS: &[&str] = &["throws", "doesNotThrow", "rejects", "doesNotReject"];

/// Operators that compare.
const COMPARISONS: &[&str] = &["==", "===", "!=", "!==", "<", "<=", ">", ">="];

/// Kinds of nodes that open a function.
const FUNCTIONS: &[&str] = &[
    "function_declaration",
    "generator_function_declaration",
    "function_expression",
    "generator_function",
    "arrow_function",
    "method_definition",
];

/// Kinds of nodes that plain values are made of.
const PLAIN: &[&str] = &[
    "number",
    "string",
    "string_fragment",
    "escape_sequence",
    "true",
    "false",
    "null",
    "undefined",
    "array",
    "object",
    "pair",
    "property_identifier",
    "unary_expression",
    "parenthesized_expression",
];

/// The object that rewritten code calls.
const HARNESS: &str = "__rolecall";

/// Calls that assert, in the order of the text.
pub(super) fn asserting<'t>(syntax: &'t Syntax<'_>) -> Vec<Node<'t>> {
    syntax.nodes().into_iter().filter(|node| method(syntax, *node).is_some()).collect()
}

/// What a call asserts: the method of `assert`, or `ok`.
fn method<'a>(syntax: &Syntax<'a>, node: Node<'_>) -> Option<&'a str> {
    if node.kind() != "call_expression" || node.child_by_field_name("arguments")?.kind() != "arguments" {
        return None;
    }
    let function = node.child_by_field_name("function")?;
    if function.kind() == "identifier" {
        return (syntax.source(function) == "assert").then_some("ok");
    }
    if function.kind() != "member_expression" {
        return None;
    }
    let object = syntax.source(function.child_by_field_name("object")?);
    let property = syntax.source(function.child_by_field_name("property")?);
    match (object, property) {
        ("console", "assert") | ("assert", "ok") => Some("ok"),
        ("assert", name) if EQUALITIES.contains(&name) || THROWS.contains(&name) => Some(name),
        _ => None,
    }
}

/// A test text with every assertion turned into a call of the harness, statement by statement. Every line keeps its
/// number.
pub(super) struct Suite<'t, 'a> {
    syntax: &'t Syntax<'a>,
    edits: Vec<(Range<usize>, String)>,
    places: Vec<Value>,
    functions: Vec<Node<'t>>,
}

impl<'t, 'a> Suite<'t, 'a> {
    /// Rewrites a text.
    ///
    /// # Errors
    /// What a script cannot hold, or an assertion without fixed arguments.
    pub(super) fn new(syntax: &'t Syntax<'a>) -> Result<Self, TestTextError> {
        for node in named_children(syntax.root()) {
            if matches!(node.kind(), "import_statement" | "export_statement") {
                return Err(TestTextError::at(node, "tests are a script: use `require`"));
            }
        }
        let functions = syntax.nodes().into_iter().filter(|node| FUNCTIONS.contains(&node.kind())).collect();
        let mut suite = Self { syntax, edits: Vec::new(), places: Vec::new(), functions };
        for (number, node) in asserting(syntax).into_iter().enumerate() {
            suite.rewrite(number, node)?;
        }
        Ok(suite)
    }

    fn rewrite(&mut self, number: usize, node: Node<'t>) -> Result<(), TestTextError> {
        let around =
            |function: &Node<'_>| function.start_byte() <= node.start_byte() && node.end_byte() <= function.end_byte();
        let within = self.functions.iter().rposition(around).map_or(Value::from(-1), Value::from);
        self.places.push(json!([line_of(node), node.end_position().row + 1, within]));
        let Some(name) = method(self.syntax, node) else { return Ok(()) };
        let arguments = node.child_by_field_name("arguments").map(given).unwrap_or_default();
        if let Some(spread) = arguments.iter().find(|argument| argument.kind() == "spread_element") {
            return Err(TestTextError::at(*spread, "the arguments of an assertion must be written out"));
        }
        let compared = arguments.first().and_then(|first| self.comparison(*first));
        let (action, given, parts) = match (arguments.as_slice(), compared) {
            ([left, right, ..], _) if EQUALITIES.contains(&name) => {
                ("compare", format!("\"{name}\", {}", swapped(*left, *right)), vec![*left, *right])
            }
            ([action, rest @ ..], _) if THROWS.contains(&name) => {
                let expected = rest.first().copied();
                ("throws", format!("\"{name}\""), [*action].into_iter().chain(expected).collect())
            }
            ([condition, ..], _) if name != "ok" => {
                return Err(TestTextError::at(*condition, "a comparison needs two values"));
            }
            (_, Some((left, sign, right))) => {
                ("compare", format!("\"{sign}\", {}", swapped(left, right)), vec![left, right])
            }
            ([condition, ..], None) => ("holds", wanted(self.syntax, *condition).to_owned(), vec![*condition]),
            ([], _) => ("holds", "\"true\"".to_owned(), Vec::new()),
        };
        let waits = matches!(name, "rejects" | "doesNotReject");
        let awaits = arguments.iter().any(|argument| awaits(*argument));
        let (later, open) = if waits || awaits { ("Later", "async () => (") } else { ("", "() => (") };
        let (before, after) = if awaits { ("(await ", ")") } else { ("", "") };
        let mut text = format!("{before}{HARNESS}.{action}{later}({number}, {given}, {open}");
        let mut at = node.start_byte();
        for (place, part) in parts.iter().enumerate() {
            if place > 0 {
                text = format!("), {open}");
            }
            self.edits.push((at..part.start_byte(), text.clone()));
            at = part.end_byte();
        }
        let rest = match parts.len() {
            0 => format!("{text}undefined"),
            1 if action == "throws" => format!("), {open}undefined"),
            _ => String::new(),
        };
        self.edits.push((at..node.end_byte(), format!("{rest})){after}")));
        Ok(())
    }

    fn comparison(&self, node: Node<'t>) -> Option<(Node<'t>, &'a str, Node<'t>)> {
        let mut node = node;
        while node.kind() == "parenthesized_expression" {
            node = given(node).first().copied()?;
        }
        if node.kind() != "binary_expression" {
            return None;
        }
        let sign = self.syntax.source(node.child_by_field_name("operator")?);
        let sides = (node.child_by_field_name("left")?, node.child_by_field_name("right")?);
        COMPARISONS.contains(&sign).then_some((sides.0, sign, sides.1))
    }

    /// The text of a node with its assertions rewritten; lines that they lose are put back as empty ones.
    fn rewritten(&self, node: Node<'_>) -> String {
        let whole = node.byte_range();
        let mut edits = Edits::of(self.syntax.source(node));
        for (range, text) in self.edits.iter().filter(|(edit, _)| whole.start <= edit.start && edit.end <= whole.end) {
            edits.replace(range.start - whole.start..range.end - whole.start, text.clone());
        }
        edits.apply()
    }

    /// The suite as the tests' server reads it.
    pub(super) fn request(&self) -> Value {
        let skipped = ["comment", "hash_bang_line", "empty_statement"];
        let mut statements = named_children(self.syntax.root());
        statements.retain(|node| !skipped.contains(&node.kind()));
        let strict = statements.first().is_some_and(|node| {
            matches!(self.syntax.source(*node).trim_end_matches(';'), "'use strict'" | "\"use strict\"")
        });
        // Functions are there before the first statement runs.
        statements.sort_by_key(|node| !node.kind().ends_with("function_declaration"));
        let mut bound = BTreeSet::new();
        let statements = statements.into_iter().map(|node| {
            let names = bound_names(self.syntax, node);
            bound.extend(names.iter().copied());
            let code = format!("{}{}", if strict { "'use strict';" } else { "" }, self.rewritten(node));
            json!({ "code": code, "line": line_of(node), "names": names })
        });
        let statements = statements.collect::<Vec<_>>();
        let names = self.syntax.nodes().into_iter();
        let names = names.filter(|node| matches!(node.kind(), "identifier" | "shorthand_property_identifier"));
        let names = names.map(|node| self.syntax.source(node)).filter(|name| !bound.contains(name));
        let functions = self.functions.iter().map(|node| json!([line_of(*node), node.end_position().row + 1]));
        json!({
            "statements": statements,
            "names": names.collect::<BTreeSet<_>>(),
            "places": self.places,
            "functions": functions.collect::<Vec<_>>(),
        })
    }
}

/// The children of a node without its comments.
fn given(node: Node<'_>) -> Vec<Node<'_>> {
    named_children(node).into_iter().filter(|child| child.kind() != "comment").collect()
}

/// Whether something is awaited in `node` itself, not in a function that it defines.
fn awaits(node: Node<'_>) -> bool {
    let mut waiting = vec![node];
    while let Some(node) = waiting.pop() {
        if node.kind() == "await_expression" {
            return true;
        }
        if !FUNCTIONS.contains(&node.kind()) {
            waiting.extend(named_children(node));
        }
    }
    false
}

/// Whether the expected value stands on the left.
fn swapped(left: Node<'_>, right: Node<'_>) -> bool {
    let plain = |side| nodes_below(side).iter().all(|node| !node.is_named() || PLAIN.contains(&node.kind()));
    plain(left) && !plain(right)
}

/// What a condition wants to be, where it is one value.
fn wanted(syntax: &Syntax<'_>, condition: Node<'_>) -> &'static str {
    match condition.kind() {
        "unary_expression" if syntax.source(condition).starts_with('!') => "\"false\"",
        "binary_expression" | "ternary_expression" | "parenthesized_expression" => "null",
        _ => "\"true\"",
    }
}

/// Names that a statement at the top of a text defines.
fn bound_names<'a>(syntax: &Syntax<'a>, statement: Node<'_>) -> BTreeSet<&'a str> {
    let declared = match statement.kind() {
        "lexical_declaration" | "variable_declaration" => given(statement),
        kind if kind.ends_with("_declaration") => vec![statement],
        _ => Vec::new(),
    };
    let names = declared.into_iter().filter_map(|node| node.child_by_field_name("name")).flat_map(nodes_below);
    let names = names.filter(|node| matches!(node.kind(), "identifier" | "shorthand_property_identifier_pattern"));
    names.map(|node| syntax.source(node)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Suite, asserting};
    use crate::{
        domain::Language,
        languages::{TestTextError, syntax::Syntax},
    };

    fn request(tests: &str) -> Result<Value, TestTextError> {
        let syntax = Syntax::of_valid(Language::JavaScript, tree_sitter_javascript::LANGUAGE, tests)?;
        Ok(Suite::new(&syntax)?.request())
    }

    fn code(tests: &str) -> Vec<String> {
        let request = request(tests).unwrap();
        let statements = request["statements"].as_array().unwrap();
        statements.iter().map(|statement| statement["code"].as_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn calls_that_assert_are_found_and_nothing_else() {
        let tests = "console.assert(f(1)); assert.equal(f(2), 2)\nconsole.log('assert(1)'); // assert(2)\n\
                     expect.assert(3); assert.fail(); const go = () => assert (assert.ok(1) || `${assert(f)}`)\n";
        let syntax = Syntax::of_valid(Language::JavaScript, tree_sitter_javascript::LANGUAGE, tests).unwrap();
        let found = asserting(&syntax).into_iter().map(|node| syntax.source(node)).collect::<Vec<_>>();
        let nested = "assert (assert.ok(1) || `${assert(f)}`)";
        assert_eq!(found, ["console.assert(f(1))", "assert.equal(f(2), 2)", nested, "assert.ok(1)", "assert(f)"]);
    }

    #[test]
    fn each_kind_of_assertion_becomes_a_call_of_the_harness() {
        for (tests, expected) in [
            ("console.assert(f(1) === 2, 'why')", "__rolecall.compare(0, \"===\", false, () => (f(1)), () => (2))"),
            ("assert(([1]) == (f(1)))", "__rolecall.compare(0, \"==\", true, () => (([1])), () => ((f(1))))"),
            ("assert.deepEqual(f(1), [2])", "__rolecall.compare(0, \"deepEqual\", false, () => (f(1)), () => ([2]))"),
            ("assert((!f(1)))", "__rolecall.holds(0, null, () => ((!f(1))))"),
            ("assert(!f(1))", "__rolecall.holds(0, \"false\", () => (!f(1)))"),
            ("assert(f(1))", "__rolecall.holds(0, \"true\", () => (f(1)))"),
            ("assert(f(1) && g)", "__rolecall.holds(0, null, () => (f(1) && g))"),
            ("assert()", "__rolecall.holds(0, \"true\", () => (undefined))"),
            ("assert.throws(f)", "__rolecall.throws(0, \"throws\", () => (f), () => (undefined))"),
            ("assert.throws(f, E)", "__rolecall.throws(0, \"throws\", () => (f), () => (E))"),
            (
                "assert.rejects(f())",
                "__rolecall.throwsLater(0, \"rejects\", async () => (f()), async () => (undefined))",
            ),
        ] {
            assert_eq!(code(tests), [expected]);
        }
        let waiting = "async () => { assert(await f(1) > (async () => await 1)) }";
        let expected = "async () => { (await __rolecall.compareLater(0, \">\", false, async () => (await f(1)), async () => \
                        ((async () => await 1)))) }";
        assert_eq!(code(waiting), [expected]);
        let inner = "__rolecall.holds(0, null, () => ((__rolecall.holds(1, \"true\", () => (f)), g)))";
        assert_eq!(code("assert((assert(f), g))"), [inner]);
    }

    #[test]
    fn every_line_keeps_its_number() {
        let tests = "assert( // one\n  f(1)\n    ===\n  2,\n  'why'\n)\nf()\n";
        let lines = "__rolecall.compare(0, \"===\", false, () => (\nf(1)), () => (\n\n2))\n\n";
        assert_eq!(code(tests), [lines, "f()"]);
        let request = request(tests).unwrap();
        assert_eq!(request["statements"][1]["line"], 7);
        assert_eq!(request["places"], json!([[1, 6, -1]]));
    }

    #[test]
    fn functions_come_first_and_strictness_holds_everywhere() {
        let tests = "'use strict'\ngo()\n// here\nfunction go() {\n  const h = () => { assert(g) }\n}\nconst { a, b: [c] } = go()\n";
        let request = request(tests).unwrap();
        let statements = request["statements"].as_array().unwrap();
        assert_eq!(statements.iter().map(|statement| &statement["line"]).collect::<Vec<_>>(), [4, 1, 2, 7]);
        assert!(statements.iter().all(|statement| statement["code"].as_str().unwrap().starts_with("'use strict';")));
        assert_eq!(statements[3]["names"], json!(["a", "c"]));
        assert_eq!(request["functions"], json!([[4, 6], [5, 5]]));
        assert_eq!(request["places"], json!([[5, 5, 1]]));
        assert_eq!(request["names"], json!(["assert", "g", "h"]));
    }

    #[test]
    fn what_a_script_or_the_harness_cannot_hold_is_refused_where_it_stands() {
        let problem =
            |tests: &str| request(tests).map(|_| ()).map_err(|error| (error.line, error.problem)).unwrap_err();
        assert_eq!(problem("f()\nimport fs from 'fs'\n"), (2, "tests are a script: use `require`".to_owned()));
        assert_eq!(problem("assert(...xs)").1, "the arguments of an assertion must be written out");
        assert_eq!(problem("assert.equal(f(1))").1, "a comparison needs two values");
        assert_eq!(problem("f()\nassert(f(1) ===\n").0, 2);
    }
}
