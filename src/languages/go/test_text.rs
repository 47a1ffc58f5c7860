use tree_sitter::Node;

use crate::{
    domain::{Assertion, Language},
    languages::{
        TestTextError,
        edits::Edits,
        syntax::{Syntax, bare, named_children, nodes_below},
    },
};

/// Methods of testify's assert that the harness has under the same name.
const METHODS: &[&str] = &[
    "Contains",
    "ElementsMatch",
    "Empty",
    "Equal",
    "EqualValues",
    "Error",
    "False",
    "InDelta",
    "Len",
    "Nil",
    "NoError",
    "NotContains",
    "NotEmpty",
    "NotEqual",
    "NotNil",
    "NotPanics",
    "Panics",
    "True",
];

/// Methods of `testing.T` by which a test says that it failed.
const COMPLAINTS: &[&str] = &["Error", "Errorf", "Fail", "FailNow", "Fatal", "Fatalf"];

/// A test text and the assertions in it.
///
/// An assertion is a statement that calls testify (`assert.Equal(…)`, with `t` or by an object of `assert.New(t)`), or an
/// `if` without `else` whose body does nothing but complain (`t.Errorf(…)`, `t.Fatal(…)`, `panic(…)`), perhaps with a
/// `return`: its condition must not hold. A complaint anywhere else ends its test function.
pub(super) struct TestText<'a> {
    syntax: Syntax<'a>,
    text: &'a str,
}

/// An assertion as found in the tree.
struct Found<'t> {
    node: Node<'t>,
    form: Form<'t>,
}

enum Form<'t> {
    /// A method of testify and its arguments but for `t`.
    Testify(&'t str, Vec<Node<'t>>),
    /// An `if`, and what it complains with.
    If(Vec<Node<'t>>),
}

impl<'a> TestText<'a> {
    /// Parses a text.
    ///
    /// # Errors
    /// A text that is not Go, or asserts in a way that the harness does not know.
    pub(super) fn parse(text: &'a str) -> Result<Self, TestTextError> {
        let syntax = Syntax::of_valid(Language::Go, tree_sitter_go::LANGUAGE, text)?;
        let tests = Self { syntax, text };
        tests.refuse_unknown()?;
        Ok(tests)
    }

    /// The assertions in source order.
    pub(super) fn assertions(&self) -> Vec<Assertion> {
        self.found().iter().map(|found| self.syntax.listed(found.node)).collect()
    }

    fn found(&self) -> Vec<Found<'_>> {
        let mut all: Vec<Found<'_>> = Vec::new();
        for node in self.syntax.nodes() {
            let form = match node.kind() {
                "expression_statement" => self.testify(node),
                "if_statement" => self.complaint(node),
                _ => None,
            };
            if let Some(form) = form {
                all.push(Found { node, form });
            }
        }
        all
    }

    /// Names that stand for testify's packages, and for objects that they made.
    fn is_testify(&self, name: &str) -> bool {
        matches!(name, "assert" | "require") || self.makers().iter().any(|(object, _)| *object == name)
    }

    /// Statements such as `assert := assert.New(t)`, with the object's name.
    fn makers(&self) -> Vec<(&str, Node<'_>)> {
        let nodes = self.syntax.nodes().into_iter().filter(|node| node.kind() == "short_var_declaration");
        nodes
            .filter_map(|node| {
                let right = self.part(node, "right").trim_start();
                let is_maker = ["assert.New(", "require.New("].iter().any(|start| right.starts_with(start));
                is_maker.then(|| (self.part(node, "left").trim(), node))
            })
            .collect()
    }

    /// Whether `name` is an object at `node`, so that its methods take no `t`.
    fn is_object(&self, name: &str, node: Node<'_>) -> bool {
        self.makers().iter().any(|(object, maker)| {
            let block = maker.parent().map(|block| block.byte_range()).unwrap_or_default();
            *object == name && maker.end_byte() <= node.start_byte() && block.contains(&node.start_byte())
        })
    }

    fn part(&self, node: Node<'_>, field: &str) -> &'a str {
        node.child_by_field_name(field).map(|node| self.syntax.source(node)).unwrap_or_default()
    }

    /// A call `X.Y(…)` as its two names.
    fn method(&self, call: Node<'_>) -> Option<(&'a str, &'a str)> {
        let function = call.child_by_field_name("function").filter(|node| node.kind() == "selector_expression")?;
        Some((self.part(function, "operand"), self.part(function, "field")))
    }

    fn testify<'s>(&'s self, statement: Node<'s>) -> Option<Form<'s>> {
        let call = statement.named_child(0).filter(|node| node.kind() == "call_expression")?;
        let (object, method) = self.method(call)?;
        if !self.is_testify(object) {
            return None;
        }
        let arguments = call.child_by_field_name("arguments").map(named_children).unwrap_or_default();
        let arguments = arguments.into_iter().filter(|node| node.kind() != "comment");
        let skipped = usize::from(!self.is_object(object, call));
        Some(Form::Testify(method, arguments.skip(skipped).collect()))
    }

    fn complaint<'s>(&'s self, node: Node<'s>) -> Option<Form<'s>> {
        if node.child_by_field_name("alternative").is_some() {
            return None;
        }
        let body = node.child_by_field_name("consequence")?;
        let mut statements = named_children(body);
        if let [list] = statements[..]
            && list.kind() == "statement_list"
        {
            statements = named_children(list);
        }
        let (mut complaints, mut says) = (Vec::new(), false);
        for statement in statements {
            match statement.kind() {
                "comment" | "return_statement" | "continue_statement" | "break_statement" => {}
                "expression_statement" => {
                    let call = statement.named_child(0).filter(|node| node.kind() == "call_expression")?;
                    let is_panic = self.part(call, "function") == "panic";
                    let named = self.method(call);
                    let complains = is_panic || named.is_some_and(|(_, method)| COMPLAINTS.contains(&method));
                    let logs = named.is_some_and(|(object, method)| object == "fmt" || method.starts_with("Log"));
                    if !complains && !logs || named.is_some_and(|(object, _)| self.is_testify(object)) {
                        return None;
                    }
                    says |= complains;
                    complaints.push(statement);
                }
                _ => return None,
            }
        }
        says.then_some(Form::If(complaints))
    }

    /// An assertion that is no statement of its own, or none that the harness has.
    fn refuse_unknown(&self) -> Result<(), TestTextError> {
        for call in self.syntax.nodes().into_iter().filter(|node| node.kind() == "call_expression") {
            let Some((object, method)) = self.method(call) else { continue };
            if !self.is_testify(object) || method == "New" {
                continue;
            }
            let known = method.strip_suffix('f').filter(|plain| METHODS.contains(plain)).unwrap_or(method);
            if !METHODS.contains(&known) {
                return Err(TestTextError::at(call, format!("the assertion {object}.{method} is not known here")));
            }
            if call.parent().is_none_or(|parent| parent.kind() != "expression_statement") {
                return Err(TestTextError::at(call, "an assertion must be a statement of its own"));
            }
        }
        Ok(())
    }

    /// The text with assertions turned into calls of the harness, as a part of a file whose head is still to come.
    pub(super) fn rewritten(&self, suffix: &str, entry_point: Option<&str>) -> String {
        let mut edits = Edits::of(self.text);
        for (index, found) in self.found().iter().enumerate() {
            match &found.form {
                Form::Testify(method, arguments) => {
                    // What the arguments hold may be a function that asserts, so they stay where they are.
                    let name = method.strip_suffix('f').filter(|plain| METHODS.contains(plain)).unwrap_or(method);
                    let (start, end) = (found.node.start_byte(), found.node.end_byte());
                    let call = format!("run_{suffix}({index}, func() {{ {name}_{suffix}({index}, ");
                    match (arguments.first(), arguments.last()) {
                        (Some(first), Some(last)) => {
                            edits.replace(start..first.start_byte(), call);
                            edits.replace(last.end_byte()..end, ") })".to_owned());
                        }
                        _ => edits.replace(start..end, format!("{call}) }})")),
                    }
                }
                Form::If(complaints) => {
                    edits.replace(
                        found.node.byte_range(),
                        self.condition(found.node, complaints, index, suffix, entry_point),
                    );
                }
            }
        }
        for (_, maker) in self.makers() {
            edits.blank(maker.byte_range());
        }
        for node in self.syntax.nodes() {
            match node.kind() {
                "import_declaration" | "package_clause" => edits.blank(node.byte_range()),
                "qualified_type" if self.syntax.source(node) == "testing.T" => {
                    edits.replace(node.byte_range(), format!("T_{suffix}"));
                }
                _ => {}
            }
        }
        for (name, _) in self.functions() {
            edits.insert(name.end_byte(), format!("_{suffix}"));
        }
        edits.apply()
    }

    /// An `if` that complains, as a call.
    fn condition(
        &self,
        node: Node<'_>,
        complaints: &[Node<'_>],
        index: usize,
        suffix: &str,
        entry_point: Option<&str>,
    ) -> String {
        let mut text = format!("run_{suffix}({index}, func() {{ ");
        if let Some(initializer) = node.child_by_field_name("initializer") {
            text.push_str(&format!("{}; ", self.syntax.source(initializer)));
        }
        // Never called; whatever the complaints name stays used.
        let complaints: Vec<&str> = complaints.iter().map(|statement| self.syntax.source(*statement)).collect();
        text.push_str(&format!("_ = func() {{ {} }}; ", complaints.join("; ")));
        if let Some(condition) = node.child_by_field_name("condition") {
            text.push_str(&self.outcome(condition, index, suffix, entry_point));
        }
        text.push_str(" })");
        text
    }

    /// The call that makes an assertion of a condition that must not hold.
    fn outcome(&self, condition: Node<'_>, index: usize, suffix: &str, entry_point: Option<&str>) -> String {
        let condition = bare(condition);
        let source = |node| self.syntax.source(node);
        if condition.kind() == "unary_expression" && self.part(condition, "operator") == "!" {
            let Some(operand) = condition.child_by_field_name("operand").map(bare) else { return String::new() };
            let arguments = operand.child_by_field_name("arguments").map(named_children).unwrap_or_default();
            if operand.kind() == "call_expression"
                && self.part(operand, "function") == "reflect.DeepEqual"
                && let [left, right] = arguments[..]
            {
                let (expected, actual) = self.sides(left, right, entry_point);
                return format!("Deep_{suffix}({index}, {}, {})", source(expected), source(actual));
            }
            if operand.kind() == "call_expression" {
                return format!("True_{suffix}({index}, {})", source(operand));
            }
            return format!("holds_{suffix}({index}, {})", source(operand));
        }
        let operator = self.part(condition, "operator");
        if condition.kind() == "binary_expression"
            && matches!(operator, "==" | "!=")
            && let (Some(left), Some(right)) =
                (condition.child_by_field_name("left"), condition.child_by_field_name("right"))
            && source(left) != "nil"
            && source(right) != "nil"
        {
            let (expected, actual) = self.sides(left, right, entry_point);
            let name = if operator == "!=" { "same" } else { "differ" };
            return format!("{name}_{suffix}({index}, {}, {})", source(expected), source(actual));
        }
        if condition.kind() == "call_expression" {
            return format!("False_{suffix}({index}, {})", source(condition));
        }
        format!("holds_{suffix}({index}, !({}))", source(condition))
    }

    /// Which operand is expected and which is the program's.
    fn sides<'t>(&self, left: Node<'t>, right: Node<'t>, entry_point: Option<&str>) -> (Node<'t>, Node<'t>) {
        let calls = |node: Node<'_>| {
            nodes_below(node).into_iter().any(|node| {
                node.kind() == "call_expression" && entry_point.is_none_or(|name| self.part(node, "function") == name)
            })
        };
        let is_wish = |node: Node<'_>| {
            let text = self.syntax.source(node).to_lowercase();
            node.kind().ends_with("_literal") || ["want", "expect", "exp"].iter().any(|word| text.contains(word))
        };
        let swapped = calls(right) && !calls(left) || is_wish(left) && !is_wish(right) && !calls(left);
        if swapped { (left, right) } else { (right, left) }
    }

    /// Test functions: their names' nodes, and whether they take a `T`.
    fn functions(&self) -> Vec<(Node<'_>, bool)> {
        let functions = named_children(self.syntax.root());
        let functions = functions.into_iter().filter(|node| node.kind() == "function_declaration");
        functions
            .filter_map(|function| {
                let name = function.child_by_field_name("name")?;
                let parameters = self.part(function, "parameters");
                let takes = parameters.contains("testing.T");
                let source = self.syntax.source(name);
                (source.starts_with("Test") && takes || source == "main").then_some((name, takes))
            })
            .collect()
    }

    /// Calls of the test functions in their order; of `main` only where there is nothing else.
    pub(super) fn calls(&self, suffix: &str) -> Vec<String> {
        let functions = self.functions();
        let any_test = functions.iter().any(|(_, takes)| *takes);
        let called = functions.iter().filter(|(_, takes)| *takes == any_test);
        called
            .map(|(name, takes)| {
                let name = self.syntax.source(*name);
                let argument = if *takes { format!("&T_{suffix}{{name: \"{name}\"}}") } else { String::new() };
                format!("{name}_{suffix}({argument})")
            })
            .collect()
    }
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
    fn assertions_are_calls_of_testify_and_conditions_that_complain() {
        let text = "// assert.Equal(t, 1, 2)\r\nfunc TestA(t *testing.T) {\r\n\ta := assert.New(t)\r\n\ts := \
                    \"a.True(x)\"\r\n\tfor i := range 3 {\r\n\t\ta.Equal(i, F(i), s)\r\n\t}\r\n\tif got := F(1); got \
                    != 2 {\r\n\t\tt.Fatalf(\"%d\", got)\r\n\t}\r\n\tif F(2) > 3 {\r\n\t\ts = \"\"\r\n\t}\r\n}\r\nfunc \
                    TestB(t *testing.T) { require.NoError(t, G()) }\r\n";
        let expected = [(6, "a.Equal(i, F(i), s)"), (8, "if got := F(1); got != 2 {"), (15, "require.NoError(t, G())")];
        assert_eq!(listed(text), expected.map(|(line, text)| (line, text.to_owned())));
        assert_eq!(listed("func TestA(t *testing.T) { t.Log(1) }"), []);
    }

    #[test]
    fn rewritten_lines_stay_where_they_were() {
        let text = "package main\n\nimport (\n\t\"testing\"\n\t\"math\"\n)\n\nfunc TestA(t *testing.T) {\n\tassert := \
                    assert.New(t)\n\tassert.Equal(1,\n\t\tF(1))\n\tif F(2) != 3 {\n\t\tt.Errorf(\"%d\", \
                    2)\n\t}\n\tif !reflect.DeepEqual(F(3), []int{3}) {\n\t\tt.Fail()\n\t}\n}\n";
        let tests = TestText::parse(text).unwrap();
        let rewritten = tests.rewritten("s", Some("F"));
        let lines: Vec<&str> = rewritten.lines().collect();
        assert_eq!(lines.len(), text.lines().count(), "{rewritten}");
        assert_eq!(lines[7], "func TestA_s(t *T_s) {");
        assert_eq!(lines[9], "\trun_s(0, func() { Equal_s(0, 1,");
        assert_eq!(lines[10], "\t\tF(1)) })");
        assert_eq!(lines[11], "\trun_s(1, func() { _ = func() { t.Errorf(\"%d\", 2) }; same_s(1, 3, F(2)) })");
        assert_eq!(lines[14], "\trun_s(2, func() { _ = func() { t.Fail() }; Deep_s(2, []int{3}, F(3)) })");
        assert_eq!(tests.calls("s"), ["TestA_s(&T_s{name: \"TestA\"})"]);
    }

    #[test]
    fn what_the_harness_does_not_know_is_refused_at_its_place() {
        let refused = |text: &str| TestText::parse(text).err().map(|error| (error.line, error.problem)).unwrap();
        let (line, problem) = refused("func TestA(t *testing.T) {\n\tassert.Regexp(t, \"a\", F())\n}");
        assert_eq!((line, problem.as_str()), (2, "the assertion assert.Regexp is not known here"));
        let (line, problem) = refused("func TestA(t *testing.T) {\n\n\tif assert.True(t, F()) { return }\n}");
        assert_eq!((line, problem.as_str()), (3, "an assertion must be a statement of its own"));
        assert_eq!(refused("func TestA( {").0, 1);
    }
}
