use tree_sitter::Node;

use super::sources::{is_main, methods, package, types};
use crate::{
    domain::{Assertion, Language},
    languages::{
        TestTextError,
        syntax::{Syntax, bare, named_children, nodes_below},
    },
};

/// Static methods of JUnit that the harness has.
const METHODS: &[&str] = &[
    "assertArrayEquals",
    "assertEquals",
    "assertFalse",
    "assertNotEquals",
    "assertNotNull",
    "assertNotSame",
    "assertNull",
    "assertSame",
    "assertThrows",
    "assertTrue",
    "fail",
];

/// Classes that JUnit has them in.
const OWNERS: &[&str] = &[
    "Assert",
    "Assertions",
    "TestCase",
    "junit.framework.TestCase",
    "org.junit.Assert",
    "org.junit.jupiter.api.Assertions",
];

/// What a test throws to say that it failed.
const COMPLAINTS: &[&str] = &["AssertionError", "Error", "Exception", "IllegalStateException", "RuntimeException"];

/// A test text and the assertions in it.
///
/// An assertion is an `assert`; an `if` without `else` that does nothing but throw, whose condition must not hold; a call of
/// JUnit's static methods; and each element of a list of truth values that such an `if` looks into.
pub(super) struct TestText<'a> {
    pub(super) syntax: Syntax<'a>,
    pub(super) text: &'a str,
}

/// An assertion as found in the tree.
pub(super) struct Found<'t> {
    pub(super) node: Node<'t>,
    pub(super) form: Form<'t>,
}

pub(super) enum Form<'t> {
    /// `assert CONDITION`.
    Assert(Node<'t>),
    /// `if (CONDITION) throw …`.
    Throw(Node<'t>),
    /// An element of a list of truth values, which this statement declares.
    Element(Node<'t>),
    /// A call of JUnit.
    JUnit(Node<'t>),
}

impl<'a> TestText<'a> {
    /// Parses a text.
    ///
    /// # Errors
    /// A text that is not Java, asserts in a way that the harness does not know, or has nothing to start.
    pub(super) fn parse(text: &'a str) -> Result<Self, TestTextError> {
        let syntax = Syntax::of_valid(Language::Java, tree_sitter_java::LANGUAGE, text)?;
        let tests = Self { syntax, text };
        tests.refuse_unknown()?;
        if tests.starts().is_empty() && !tests.found().is_empty() {
            return Err(TestTextError::of_text("nothing to start: neither a `main` nor a method marked @Test"));
        }
        Ok(tests)
    }

    /// The assertions in source order.
    pub(super) fn assertions(&self) -> Vec<Assertion> {
        self.found().iter().map(|found| self.syntax.listed(found.node)).collect()
    }

    pub(super) fn part(&self, node: Node<'_>, field: &str) -> &'a str {
        node.child_by_field_name(field).map(|node| self.syntax.source(node)).unwrap_or_default()
    }

    /// The assertions, none inside of another.
    pub(super) fn found(&self) -> Vec<Found<'_>> {
        let mut all: Vec<Found<'_>> = Vec::new();
        let mut end = 0;
        for node in self.syntax.nodes() {
            if node.start_byte() < end {
                continue;
            }
            let form = match node.kind() {
                "assert_statement" => node.named_child(0).map(Form::Assert),
                "if_statement" => self.thrown(node).filter(|condition| !self.feeds(*condition)).map(Form::Throw),
                "expression_statement" => self.junit(node).map(Form::JUnit),
                "local_variable_declaration" => {
                    let elements = self.elements(node);
                    if !elements.is_empty() {
                        end = node.end_byte();
                    }
                    all.extend(elements.into_iter().map(|element| Found { node: element, form: Form::Element(node) }));
                    None
                }
                _ => None,
            };
            if let Some(form) = form {
                end = node.end_byte();
                all.push(Found { node, form });
            }
        }
        all
    }

    /// The condition of an `if` that does nothing but throw.
    fn thrown<'s>(&'s self, node: Node<'s>) -> Option<Node<'s>> {
        if node.child_by_field_name("alternative").is_some() {
            return None;
        }
        let body = node.child_by_field_name("consequence")?;
        let statements = if body.kind() == "block" { named_children(body) } else { vec![body] };
        let mut throws = false;
        for statement in statements {
            match statement.kind() {
                "throw_statement" => throws = self.is_complaint(statement),
                "line_comment" | "block_comment" => {}
                "expression_statement" if self.syntax.source(statement).starts_with("System.") => {}
                _ => return None,
            }
        }
        if throws { node.child_by_field_name("condition").map(bare) } else { None }
    }

    fn is_complaint(&self, throw: Node<'_>) -> bool {
        throw.named_child(0).is_some_and(|thrown| {
            let name = self.part(thrown, "type");
            thrown.kind() == "object_creation_expression" && COMPLAINTS.contains(&name.trim_start_matches("java.lang."))
        })
    }

    /// The elements of a list of truth values that a later `if` looks into and throws.
    pub(super) fn elements<'s>(&'s self, node: Node<'s>) -> Vec<Node<'s>> {
        let mut cursor = node.walk();
        let declarators: Vec<Node<'_>> = node.children_by_field_name("declarator", &mut cursor).collect();
        let [declarator] = declarators[..] else { return Vec::new() };
        let is_truth = ["Boolean", "boolean", "var"].iter().any(|word| self.part(node, "type").contains(word));
        let (name, value) = (self.part(declarator, "name"), declarator.child_by_field_name("value"));
        let (true, Some(value)) = (is_truth, value) else { return Vec::new() };
        let elements = match value.kind() {
            "method_invocation" => {
                let is_list = matches!(
                    (self.part(value, "object"), self.part(value, "name")),
                    ("Arrays" | "java.util.Arrays", "asList") | ("List" | "java.util.List" | "Set" | "Stream", "of")
                );
                value.child_by_field_name("arguments").filter(|_| is_list)
            }
            _ => None,
        };
        let looked_into = || {
            let nodes = node.parent().map(nodes_below).unwrap_or_default();
            nodes.into_iter().filter(|node| node.kind() == "if_statement").any(|node| {
                let condition = self.thrown(node);
                condition.is_some_and(|condition| self.asks(condition, name))
            })
        };
        let elements = elements.map(named_children).unwrap_or_default();
        let elements: Vec<_> = elements.into_iter().filter(|node| !node.kind().ends_with("_comment")).collect();
        if looked_into() { elements } else { Vec::new() }
    }

    /// Whether a condition looks into a list whose elements are assertions.
    fn feeds(&self, condition: Node<'_>) -> bool {
        let declarations = self.syntax.nodes().into_iter().filter(|node| node.kind() == "local_variable_declaration");
        declarations.filter(|node| node.end_byte() <= condition.start_byte()).any(|node| {
            let name = node.child_by_field_name("declarator").map(|declarator| self.part(declarator, "name"));
            name.is_some_and(|name| self.asks(condition, name)) && !self.elements(node).is_empty()
        })
    }

    /// Whether a condition asks a list of this name for an element (`all.contains(false)`).
    fn asks(&self, condition: Node<'_>, name: &str) -> bool {
        nodes_below(condition).into_iter().any(|node| {
            node.kind() == "method_invocation"
                && self.part(node, "object") == name
                && matches!(self.part(node, "name"), "contains" | "indexOf" | "stream")
        })
    }

    /// The call of JUnit that a statement is.
    fn junit<'s>(&'s self, statement: Node<'s>) -> Option<Node<'s>> {
        let call = statement.named_child(0).filter(|node| node.kind() == "method_invocation")?;
        self.is_junit(call).then_some(call)
    }

    /// Whether a call is one of JUnit's: by its class, or by a name that the text gives to no method of its own.
    fn is_junit(&self, call: Node<'_>) -> bool {
        let (object, name) = (self.part(call, "object"), self.part(call, "name"));
        if !object.is_empty() {
            return OWNERS.contains(&object) && (name.starts_with("assert") || name == "fail");
        }
        let own = |node: Node<'_>| node.kind() == "method_declaration" && self.part(node, "name") == name;
        METHODS.contains(&name) && !self.syntax.nodes().into_iter().any(own)
    }

    /// Assertions that the harness has not, or that are no statement of their own.
    fn refuse_unknown(&self) -> Result<(), TestTextError> {
        for node in self.syntax.nodes() {
            if node.kind() == "method_invocation" && self.is_junit(node) {
                let name = self.part(node, "name");
                if !METHODS.contains(&name) {
                    return Err(TestTextError::at(node, format!("the assertion {name} is not known here")));
                }
                let is_statement = node
                    .parent()
                    .is_some_and(|parent| matches!(parent.kind(), "expression_statement" | "lambda_expression"));
                if !is_statement {
                    return Err(TestTextError::at(node, "an assertion must be a statement of its own"));
                }
            }
            if node.kind() == "annotation" && self.is_test(node) && self.part(node, "arguments").contains("expected") {
                return Err(TestTextError::at(node, "exceptions expected by an annotation are not known here"));
            }
        }
        Ok(())
    }

    fn is_test(&self, annotation: Node<'_>) -> bool {
        last(self.part(annotation, "name")) == "Test"
    }

    /// What to start, as `CLASS#METHOD,METHOD…#ASSERTION,ASSERTION…`: the methods of a line are called on one object. The
    /// assertions are those in the test method; there are none behind a `main`, nor where some stand outside of all tests.
    pub(super) fn starts(&self) -> Vec<String> {
        let types = types(&self.syntax);
        let full = |name: &str| match package(&self.syntax) {
            Some(package) => format!("{package}.{name}"),
            None => name.to_owned(),
        };
        let main =
            types.iter().find(|found| methods(found.node).into_iter().any(|method| is_main(&self.syntax, method)));
        if let Some(main) = main {
            return vec![format!("{}#main", full(main.name))];
        }
        let assertions: Vec<usize> = self.found().iter().map(|found| found.node.start_byte()).collect();
        let mut starts = Vec::new();
        for found in &types {
            let named = |words: &[&str]| -> Vec<Node<'_>> {
                let marked = |method: &Node<'_>| self.annotations(*method).iter().any(|name| words.contains(name));
                methods(found.node).into_iter().filter(marked).collect()
            };
            let (before, after) = (named(&["Before", "BeforeEach"]), named(&["After", "AfterEach"]));
            for test in named(&["Test"]) {
                let order = before.iter().chain([&test]).chain(&after).map(|method| self.part(*method, "name"));
                let order: Vec<&str> = order.collect();
                let own = assertions.iter().enumerate().filter(|(_, at)| test.byte_range().contains(at));
                let own: Vec<String> = own.map(|(index, _)| index.to_string()).collect();
                starts.push((format!("{}#{}", full(found.name), order.join(",")), own));
            }
        }
        let all_owned = starts.iter().map(|(_, own)| own.len()).sum::<usize>() == assertions.len();
        let own = |own: Vec<String>| if all_owned { own.join(",") } else { String::new() };
        starts.into_iter().map(|(start, assertions)| format!("{start}#{}", own(assertions))).collect()
    }

    /// Names of a method's annotations, without their packages.
    fn annotations(&self, method: Node<'_>) -> Vec<&'a str> {
        let modifiers = named_children(method).into_iter().filter(|node| node.kind() == "modifiers");
        let annotations = modifiers.flat_map(named_children).filter(|node| node.kind().ends_with("annotation"));
        annotations.map(|node| last(self.part(node, "name"))).collect()
    }
}

/// The part of a name behind its last dot.
pub(super) fn last(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::TestText;

    fn listed(text: &str) -> Vec<(u32, String)> {
        let assertions = TestText::parse(text).unwrap().assertions();
        assertions
            .into_iter()
            .map(|found| (found.line, found.text.lines().next().unwrap_or_default().to_owned()))
            .collect()
    }

    #[test]
    fn assertions_are_elements_statements_and_conditions_that_throw() {
        let text = "class Main {\r\n  // assert x;\r\n  String s = \"assert y;\";\r\n  public static void \
                    main(String[] a) {\r\n    List<Boolean> all = Arrays.asList(\r\n      f(1) == 1, // one\r\n      \
                    !f(2)\r\n    );\r\n    if (all.contains(false)) {\r\n      throw new AssertionError();\r\n    \
                    }\r\n    List<Boolean> data = Arrays.asList(true, false);\r\n    for (int i = 0; i < 3; i++) \
                    assert f(i) : s;\r\n    if (!f(3).equals(data)) throw new RuntimeException(\"no\");\r\n    if \
                    (f(4)) { g(); throw new AssertionError(); }\r\n    if (f(5)) throw new AssertionError(); else \
                    g();\r\n  }\r\n}\r\n";
        let expected = [
            (6, "f(1) == 1"),
            (7, "!f(2)"),
            (13, "assert f(i) : s;"),
            (14, "if (!f(3).equals(data)) throw new RuntimeException(\"no\");"),
        ];
        assert_eq!(listed(text), expected.map(|(line, text)| (line, text.to_owned())));
        assert_eq!(listed("class Main {}"), []);
    }

    #[test]
    fn junit_tests_are_started_one_by_one() {
        let text = "package p;\npublic class T {\n  @Before public void up() {}\n  @org.junit.Test(timeout = 3) public \
                    void a() { org.junit.Assert.assertEquals(1, f()); }\n  @Test void b() { assertTrue(f()); own(1); \
                    }\n  void own(int n) { if (n != 1) throw new AssertionError(); }\n}\n";
        let tests = TestText::parse(text).unwrap();
        assert_eq!(tests.starts(), ["p.T#up,a#", "p.T#up,b#"]);
        assert_eq!(tests.assertions().len(), 3);
        let own = text.split(" void own").next().unwrap().to_owned() + "}";
        let tests = TestText::parse(&own).unwrap();
        assert_eq!(tests.starts(), ["p.T#up,a#0", "p.T#up,b#1"]);
    }

    #[test]
    fn what_the_harness_does_not_know_is_refused_at_its_place() {
        let refused = |text: &str| TestText::parse(text).err().map(|error| (error.line, error.problem)).unwrap();
        let (line, problem) = refused("class T {\n  @Test void a() {\n Assert.assertThat(1, is(1)); }\n}");
        assert_eq!((line, problem.as_str()), (3, "the assertion assertThat is not known here"));
        assert_eq!(refused("class T {\n  void a() { assert x; } }").1.split(':').next(), Some("nothing to start"));
        assert_eq!(refused("class T {\n  void a( { } }").0, 2);
    }
}
