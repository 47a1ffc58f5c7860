use tree_sitter::Node;

use crate::{
    domain::{Assertion, Language},
    languages::{
        TestTextError,
        edits::Edits,
        syntax::{Syntax, line_of, named_children, nodes_below},
    },
};

/// A test text in C++: `assert(…)` statements in `main` and in functions that it calls.
pub(super) struct TestText<'a> {
    syntax: Syntax<'a>,
    text: &'a str,
}

/// An assertion statement.
struct Found<'t> {
    statement: Node<'t>,
    condition: Option<Node<'t>>,
    /// Everything between the parentheses.
    inside: std::ops::Range<usize>,
}

/// What decides an assertion.
enum Judged<'t> {
    Comparison { operator: (&'static str, &'static str), left: Node<'t>, right: Node<'t> },
    Condition { wanted: bool, value: Node<'t> },
}

/// Operators as written, the harness's name for each, and what is shown before an expected value.
const OPERATORS: &[(&[&str], &str, &str)] = &[
    (&["=="], "equal", ""),
    (&["!=", "not_eq"], "unequal", "!="),
    (&["<"], "less", "<"),
    (&["<="], "at_most", "<="),
    (&[">"], "greater", ">"),
    (&[">="], "at_least", ">="),
];

impl<'a> TestText<'a> {
    /// Parses it.
    pub(super) fn parse(text: &'a str) -> Result<Self, TestTextError> {
        Ok(Self { syntax: Syntax::of_valid(Language::Cpp, tree_sitter_cpp::LANGUAGE, text)?, text })
    }

    /// Its assertions in source order.
    pub(super) fn assertions(&self) -> Vec<Assertion> {
        let listed = |found: &Found<'_>| Assertion {
            line: line_of(found.statement),
            text: self.syntax.source(found.statement).trim_end_matches(';').trim_end().to_owned(),
        };
        self.found().iter().map(listed).collect()
    }

    fn found(&self) -> Vec<Found<'_>> {
        let mut all: Vec<Found<'_>> = Vec::new();
        for node in self.syntax.nodes() {
            let is_inside = all.last().is_some_and(|last| node.end_byte() <= last.statement.end_byte());
            if is_inside {
                continue;
            }
            all.extend(self.called(node).or_else(|| self.declared(node)));
        }
        all
    }

    /// `assert(condition)` as a call.
    fn called<'t>(&'t self, node: Node<'t>) -> Option<Found<'t>> {
        let function = node.child_by_field_name("function")?;
        if node.kind() != "call_expression" || self.syntax.source(function) != "assert" {
            return None;
        }
        let arguments = node.child_by_field_name("arguments")?;
        let mut children = named_children(arguments);
        children.retain(|child| child.kind() != "comment");
        let parent = node.parent().filter(|parent| parent.kind() == "expression_statement");
        Some(Found {
            statement: parent.unwrap_or(node),
            condition: if let [only] = children[..] { Some(only) } else { None },
            inside: arguments.start_byte() + 1..arguments.end_byte() - 1,
        })
    }

    /// `assert (name);`, which reads like the declaration of a variable in parentheses.
    fn declared<'t>(&'t self, node: Node<'t>) -> Option<Found<'t>> {
        let kind = node.child_by_field_name("type")?;
        let declarator = node.child_by_field_name("declarator")?;
        let fits = node.kind() == "declaration" && self.syntax.source(kind) == "assert";
        (fits && declarator.kind() == "parenthesized_declarator").then(|| Found {
            statement: node,
            condition: None,
            inside: declarator.start_byte() + 1..declarator.end_byte() - 1,
        })
    }

    /// Names of classes that the text defines outside of functions, with `struct` or `class` before them.
    pub(super) fn classes(&self) -> Vec<&'a str> {
        classes(&self.syntax)
    }

    /// Every word of the text.
    pub(super) fn words(&self) -> impl Iterator<Item = &'a str> {
        self.text.split(|letter: char| !letter.is_alphanumeric() && letter != '_').filter(|word| !word.is_empty())
    }

    /// The text with calls of the harness in place of assertions, and `main` as a function of another name that ours calls.
    pub(super) fn rewritten(&self, suffix: &str, entry_point: Option<&str>) -> Result<String, TestTextError> {
        let mut edits = Edits::of(self.text);
        let space = format!("::rolecall_{suffix}::");
        for (index, found) in self.found().into_iter().enumerate() {
            if !matches!(found.statement.kind(), "expression_statement" | "declaration") {
                return Err(TestTextError::at(found.statement, "an assertion must be a statement of its own"));
            }
            let judged = match found.condition.map(|condition| self.judged(condition)) {
                Some(Judged::Comparison { operator, left, right }) => {
                    let swapped = self.is_actual(right, entry_point) && !self.is_actual(left, entry_point);
                    let (left, right) = (self.syntax.source(left), self.syntax.source(right));
                    let (name, sign) = operator;
                    format!(
                        "{space}compared_{suffix}({index}, {swapped}, {space}{name}_{suffix}, \"{sign}\", ({left}), ({right}))"
                    )
                }
                Some(Judged::Condition { wanted, value }) => {
                    format!("{space}holds_{suffix}({index}, {wanted}, ({}))", self.syntax.source(value))
                }
                None => format!("{space}holds_{suffix}({index}, true, ({}))", &self.text[found.inside]),
            };
            let begin = format!("if ({space}begin_{suffix}({index}))");
            let caught = format!("catch (...) {{ {space}raised_{suffix}({index}); }}");
            edits.replace(found.statement.byte_range(), format!("{{ {begin} try {{ {judged}; }} {caught} }}"));
        }
        let (name, parameters, body) = self.main()?;
        let tests = format!("rolecall_tests_{suffix}");
        edits.replace(name.byte_range(), tests.clone());
        edits.insert(body.end_byte() - 1, " return 0; ".to_owned());
        let arguments = ["", "1, nullptr", "1, nullptr, nullptr"];
        let given = named_children(parameters).iter().filter(|child| self.syntax.source(**child) != "void").count();
        let arguments = if given < 2 { arguments[given] } else { arguments[given - 1] };
        let mut text = edits.apply();
        text.push_str(&format!("\nint main() {{ return {space}run_{suffix}([] {{ {tests}({arguments}); }}); }}\n"));
        Ok(text)
    }

    /// What decides: the two sides of a comparison, or a value; through parentheses and without `&& "message"`. What
    /// negates stands outside of the value, since a class may negate as it likes.
    fn judged<'t>(&self, mut node: Node<'t>) -> Judged<'t> {
        let mut wanted = true;
        loop {
            let children = named_children(node);
            let operator = node.child_by_field_name("operator").map(|operator| self.syntax.source(operator));
            match (node.kind(), operator, &children[..]) {
                ("parenthesized_expression", _, [inner]) if inner.kind() != "comma_expression" => node = *inner,
                ("unary_expression", Some("!" | "not"), [inner]) => (node, wanted) = (*inner, !wanted),
                ("binary_expression", Some("&&" | "and"), [left, right])
                    if wanted && matches!(right.kind(), "string_literal" | "concatenated_string") =>
                {
                    node = *left;
                }
                ("binary_expression", Some(sign), [left, right]) if wanted => {
                    return match OPERATORS.iter().find(|(signs, ..)| signs.contains(&sign)) {
                        Some((_, name, shown)) => {
                            Judged::Comparison { operator: (name, shown), left: *left, right: *right }
                        }
                        None => Judged::Condition { wanted, value: node },
                    };
                }
                _ => return Judged::Condition { wanted, value: node },
            }
        }
    }

    /// Whether a side of a comparison calls the function under test (any function where its name is not known).
    fn is_actual(&self, side: Node<'_>, entry_point: Option<&str>) -> bool {
        nodes_below(side).into_iter().any(|node| match entry_point {
            Some(name) => node.kind() == "identifier" && self.syntax.source(node) == name,
            None => node.kind() == "call_expression",
        })
    }

    /// Name, parameters and body of `main`.
    fn main(&self) -> Result<(Node<'_>, Node<'_>, Node<'_>), TestTextError> {
        let functions =
            named_children(self.syntax.root()).into_iter().filter(|node| node.kind() == "function_definition");
        let mut main = functions.filter_map(|function| {
            let declarator = function.child_by_field_name("declarator")?;
            let name = declarator.child_by_field_name("declarator")?;
            let parameters = declarator.child_by_field_name("parameters")?;
            let body = function.child_by_field_name("body")?;
            (self.syntax.source(name) == "main").then_some((name, parameters, body))
        });
        main.next_back().ok_or_else(|| TestTextError::of_text("no function `main` that runs the assertions"))
    }
}

/// Names of classes that a text defines outside of functions, with `struct` or `class` before them.
pub(super) fn classes<'a>(syntax: &Syntax<'a>) -> Vec<&'a str> {
    let top = named_children(syntax.root()).into_iter().flat_map(|node| {
        let kind = node.child_by_field_name("type");
        [Some(node), kind].into_iter().flatten().collect::<Vec<_>>()
    });
    let defined = top.filter_map(|node| {
        let is_class = matches!(node.kind(), "struct_specifier" | "class_specifier");
        let name = node.child_by_field_name("name").filter(|name| name.kind() == "type_identifier")?;
        (is_class && node.child_by_field_name("body").is_some()).then(|| syntax.source(name))
    });
    defined.collect()
}

#[cfg(test)]
mod tests {
    use super::TestText;

    fn listed(text: &str) -> Vec<(u32, String)> {
        let assertions = TestText::parse(text).unwrap().assertions();
        assertions.into_iter().map(|assertion| (assertion.line, assertion.text)).collect()
    }

    fn rewritten(text: &str) -> String {
        TestText::parse(text).unwrap().rewritten("s", Some("f")).unwrap()
    }

    #[test]
    fn every_assertion_is_listed_and_nothing_that_looks_like_one() {
        let text = "#undef NDEBUG\r\n#include <assert.h>\r\n// assert(1);\r\nvoid g() { assert(f(3)); }\r\nint main() {\r\n  \
                    const char* s = \"assert(0)\";\r\n  for (int i = 0; i < 3; i++)\r\n    assert (f(i)\r\n      == i);\r\n  \
                    bool ok = true;\r\n  assert (ok);\r\n  static_assert(true);\r\n  auto h = [] { assert(f(1) && \"text\"); };\r\n}\r\n";
        let expected = [
            (4, "assert(f(3))"),
            (8, "assert (f(i)\r\n      == i)"),
            (11, "assert (ok)"),
            (13, "assert(f(1) && \"text\")"),
        ];
        assert_eq!(listed(text), expected.map(|(line, text)| (line, text.to_owned())));
        assert_eq!(listed("int main() { return 0; }\n"), []);
    }

    #[test]
    fn a_text_of_another_language_is_refused_at_its_place() {
        let error = TestText::parse("int main() {\n  assert f(1) == 1\n}\n").err().unwrap();
        assert_eq!((error.line, error.problem.as_str()), (2, "not valid C++"));
    }

    #[test]
    fn comparisons_and_conditions_become_calls_with_their_index() {
        let text = rewritten(
            "int main() {\n assert(f(1)==2);\n assert((3 != f(2)));\n assert(!ok(f(3)));\n assert(f(4) <= 1 && \"a\");\n}",
        );
        let at = |line: usize| text.lines().nth(line).unwrap();
        assert!(at(1).contains("compared_s(0, false, ::rolecall_s::equal_s, \"\", (f(1)), (2));"), "{text}");
        assert!(at(2).contains("compared_s(1, true, ::rolecall_s::unequal_s, \"!=\", (3), (f(2)));"), "{text}");
        assert!(at(3).contains("holds_s(2, false, (ok(f(3))));"), "{text}");
        assert!(at(4).contains("compared_s(3, false, ::rolecall_s::at_most_s, \"<=\", (f(4)), (1));"), "{text}");
    }

    #[test]
    fn everything_else_stays_on_its_line() {
        let text = "int main()\n{\n  assert(f(1) // first\n    ==\n    2);\n  int x = 7;\n}\n";
        let new = rewritten(text);
        assert_eq!(new.lines().nth(5), Some("  int x = 7;"));
        assert_eq!(new.lines().nth(6), Some(" return 0; }"));
        assert!(new.lines().next().unwrap().starts_with("int rolecall_tests_s()"));
    }

    #[test]
    fn main_is_called_with_as_many_arguments_as_it_takes() {
        assert!(rewritten("int main(void) { }").ends_with("[] { rolecall_tests_s(); }); }\n"));
        assert!(rewritten("int main(int n, char** a) { }").ends_with("[] { rolecall_tests_s(1, nullptr); }); }\n"));
    }

    #[test]
    fn texts_that_cannot_be_judged_say_where() {
        let problem = |text| {
            let error = TestText::parse(text).unwrap().rewritten("s", None).unwrap_err();
            (error.line, error.column, error.problem)
        };
        let part = problem("int main() {\n  f(), assert(f());\n}");
        assert_eq!(part, (2, 8, "an assertion must be a statement of its own".to_owned()));
        assert_eq!(problem("void t() { assert(f()); }").2, "no function `main` that runs the assertions");
    }
}
