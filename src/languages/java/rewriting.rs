use tree_sitter::Node;

use super::test_text::{Form, TestText, last};
use crate::languages::{
    edits::Edits,
    syntax::{bare, named_children, nodes_below},
};

/// Annotations that mean something without JUnit.
const KEPT: &[&str] = &["Override", "SuppressWarnings", "SafeVarargs", "FunctionalInterface", "Deprecated"];

/// A test text's assertions turned into calls of the harness.
pub(super) struct Rewriting<'t> {
    pub(super) tests: &'t TestText<'t>,
    /// The harness class, with its package.
    pub(super) judge: String,
    pub(super) suffix: &'t str,
    pub(super) entry_point: Option<&'t str>,
}

impl Rewriting<'_> {
    /// The text; `head` comes behind its package declaration.
    pub(super) fn text(&self, head: String) -> String {
        let mut edits = Edits::of(self.tests.text);
        let mut at = 0;
        for node in self.tests.syntax.nodes() {
            match node.kind() {
                "package_declaration" => at = node.end_byte(),
                "import_declaration" if is_of_junit(self.tests.syntax.source(node)) => edits.blank(node.byte_range()),
                "annotation" | "marker_annotation" if !KEPT.contains(&last(self.tests.part(node, "name"))) => {
                    edits.blank(node.byte_range());
                }
                _ => {}
            }
        }
        edits.insert(at, head);
        let found = self.tests.found();
        let mut index = 0;
        while let Some(assertion) = found.get(index) {
            if let Form::Element(declaration) = assertion.form {
                index += self.list(declaration, index, &mut edits);
                continue;
            }
            let body = match assertion.form {
                Form::Assert(condition) => self.outcome(condition, true, index),
                Form::Throw(condition) => self.outcome(condition, false, index),
                Form::JUnit(call) | Form::Element(call) => self.junit(call, index),
            };
            edits.replace(assertion.node.byte_range(), format!("{}{body}{}", self.before(index), self.after(index)));
            index += 1;
        }
        edits.apply()
    }

    fn before(&self, index: usize) -> String {
        format!("{{ if ({}.begin({index})) try {{ ", self.judge)
    }

    fn after(&self, index: usize) -> String {
        let name = format!("raised_{}", self.suffix);
        format!(" }} catch (Throwable {name}) {{ {}.raised({index}, {name}); }} }}", self.judge)
    }

    /// A list of truth values: its elements become statements before it, each on its own lines, and it holds nothing but
    /// true. Says how many they were.
    fn list(&self, declaration: Node<'_>, first: usize, edits: &mut Edits<'_>) -> usize {
        let elements = self.tests.elements(declaration);
        let mut from = declaration.start_byte();
        for (offset, element) in elements.iter().enumerate() {
            let index = first + offset;
            let close = if offset == 0 { String::new() } else { self.after(index - 1) };
            edits.replace(from..element.start_byte(), format!("{close}{}", self.before(index)));
            edits.replace(element.byte_range(), self.outcome(*element, true, index));
            from = element.end_byte();
        }
        if let Some(last) = elements.len().checked_sub(1) {
            let list = self.truths(declaration, elements.len());
            edits.replace(from..declaration.end_byte(), format!("{} {list}", self.after(first + last)));
        }
        elements.len()
    }

    /// The declaration of a list with as many truths.
    fn truths(&self, declaration: Node<'_>, count: usize) -> String {
        let part = |node: Option<Node<'_>>, field| node.map_or("", |node| self.tests.part(node, field));
        let declarator = declaration.child_by_field_name("declarator");
        let value = declarator.and_then(|declarator| declarator.child_by_field_name("value"));
        let truths = vec!["true"; count].join(", ");
        let value = format!("{}.{}({truths})", part(value, "object"), part(value, "name"));
        format!("{} {} = {value};", self.tests.part(declaration, "type"), part(declarator, "name"))
    }

    /// The call that makes an assertion of a condition, which must be as `wanted`.
    fn outcome(&self, condition: Node<'_>, wanted: bool, index: usize) -> String {
        let (judge, tests) = (&self.judge, self.tests);
        let condition = bare(condition);
        let source = |node: Node<'_>| tests.syntax.source(node);
        let (operator, name, object) =
            (tests.part(condition, "operator"), tests.part(condition, "name"), tests.part(condition, "object"));
        match condition.kind() {
            "unary_expression" if operator == "!" => {
                if let Some(operand) = condition.child_by_field_name("operand") {
                    return self.outcome(operand, !wanted, index);
                }
            }
            "binary_expression" if matches!(operator, "==" | "!=") => {
                if let (Some(left), Some(right)) =
                    (condition.child_by_field_name("left"), condition.child_by_field_name("right"))
                {
                    let (same, swapped) =
                        ((operator == "==") == wanted, self.is_actual(right) && !self.is_actual(left));
                    return format!(
                        "{judge}.left({}).same({index}, {same}, {swapped}, {});",
                        source(left),
                        source(right)
                    );
                }
            }
            "method_invocation" => {
                let arguments = condition.child_by_field_name("arguments").map(named_children).unwrap_or_default();
                let receiver = condition.child_by_field_name("object");
                match (last(object), name, &arguments[..]) {
                    ("Objects", "equals", [left, right]) => {
                        let (expected, actual) = self.sides(*left, *right);
                        return format!("{judge}.equals({index}, {wanted}, {expected}, {actual});");
                    }
                    ("Arrays", "equals" | "deepEquals", [left, right]) => {
                        let (expected, actual) = self.sides(*left, *right);
                        return format!(
                            "{judge}.arrays({index}, {wanted}, {}, {expected}, {actual});",
                            name == "deepEquals"
                        );
                    }
                    (_, "equals", [right]) => {
                        if let Some(left) = receiver {
                            let swapped = self.is_actual(*right) && !self.is_actual(left);
                            return format!(
                                "{judge}.equal({index}, {wanted}, {swapped}, {}, {});",
                                source(left),
                                source(*right)
                            );
                        }
                    }
                    _ => {
                        if let Some(receiver) = receiver.filter(|node| node.kind() == "method_invocation") {
                            let question = &tests.text[receiver.end_byte()..condition.end_byte()];
                            let receiver = source(receiver);
                            return format!("{judge}.check({index}, {wanted}, {judge}.plain({receiver}){question});");
                        }
                    }
                }
                return format!("{judge}.check({index}, {wanted}, {});", source(condition));
            }
            "identifier" => return format!("{judge}.check({index}, {wanted}, {});", source(condition)),
            _ => {}
        }
        let not = if wanted { "" } else { "!" };
        format!("{judge}.holds({index}, {not}({}));", source(condition))
    }

    /// Expected and actual operand, as written.
    fn sides<'s>(&'s self, left: Node<'_>, right: Node<'_>) -> (&'s str, &'s str) {
        let source = |node: Node<'_>| self.tests.syntax.source(node);
        if self.is_actual(right) && !self.is_actual(left) {
            (source(left), source(right))
        } else {
            (source(right), source(left))
        }
    }

    /// Whether the program is called in an expression.
    fn is_actual(&self, node: Node<'_>) -> bool {
        nodes_below(node).into_iter().filter(|node| node.kind() == "method_invocation").any(|node| {
            let (object, name) = (self.tests.part(node, "object"), self.tests.part(node, "name"));
            match self.entry_point {
                Some(entry_point) => last(entry_point) == name,
                None => !object.starts_with(char::is_uppercase),
            }
        })
    }

    /// A call of JUnit as one of the harness.
    fn junit(&self, call: Node<'_>, index: usize) -> String {
        let (judge, name) = (&self.judge, self.tests.part(call, "name"));
        let arguments = call.child_by_field_name("arguments").map(named_children).unwrap_or_default();
        let arguments: Vec<&str> = arguments
            .into_iter()
            .filter(|node| !node.kind().ends_with("_comment"))
            .map(|node| self.tests.syntax.source(node))
            .collect();
        match (name, &arguments[..]) {
            ("assertEquals", [expected, actual]) => format!("{judge}.left({expected}).equal({index}, true, {actual});"),
            ("assertNotEquals", [expected, actual]) => {
                format!("{judge}.left({expected}).equal({index}, false, {actual});")
            }
            _ => {
                let arguments: String = arguments.iter().map(|argument| format!(", {argument}")).collect();
                format!("{judge}.{name}({index}{arguments});")
            }
        }
    }
}

/// Whether an import is of JUnit or what belongs to it.
pub(super) fn is_of_junit(import: &str) -> bool {
    ["org.junit", "junit.", "org.hamcrest"].iter().any(|start| import.contains(start))
}

#[cfg(test)]
mod tests {
    use super::{Rewriting, TestText};

    fn rewritten(text: &str) -> String {
        let tests = TestText::parse(text).unwrap();
        let judge = "h.Judge".to_owned();
        Rewriting { tests: &tests, judge, suffix: "s", entry_point: Some("f") }.text("import q.*; ".to_owned())
    }

    fn call(body: &str) -> String {
        let text = rewritten(&format!("class Main {{ static void main(String[] a) {{ {body} }} }}"));
        let from = text.find("try { ").unwrap() + 6;
        text[from..text.find(" } catch").unwrap()].to_owned()
    }

    #[test]
    fn every_form_has_its_call() {
        for (statement, expected) in [
            ("assert f(1) == 2;", "h.Judge.left(f(1)).same(0, true, false, 2);"),
            ("assert (2 != f(1));", "h.Judge.left(2).same(0, false, true, f(1));"),
            ("if (!(f(1).equals(g()))) throw new Error();", "h.Judge.equal(0, true, false, f(1), g());"),
            ("if (!Objects.equals(1, f(1))) throw new Error();", "h.Judge.equals(0, true, 1, f(1));"),
            ("assert java.util.Arrays.equals(f(1), x);", "h.Judge.arrays(0, true, false, x, f(1));"),
            ("assert !f(1);", "h.Judge.check(0, false, f(1));"),
            ("assert f(1).get().isEmpty();", "h.Judge.check(0, true, h.Judge.plain(f(1).get()).isEmpty());"),
            ("if (f(1) > 2) throw new AssertionError(1);", "h.Judge.holds(0, !(f(1) > 2));"),
            ("Assert.assertEquals(f(1), 2);", "h.Judge.left(f(1)).equal(0, true, 2);"),
            ("assertEquals(1.0, f(1), 1e-6);", "h.Judge.assertEquals(0, 1.0, f(1), 1e-6);"),
        ] {
            assert_eq!(call(statement), expected, "{statement}");
        }
    }

    #[test]
    fn lines_stay_where_they_were() {
        let text = "package p;\nimport org.junit.*;\n@RunWith(X.class)\nclass Main {\n  static void main(String[] a) \
                    {\n    List<Boolean> all = Arrays.asList(\n      f(1), // first\n      f(2)\n    );\n    if \
                    (all.contains(false)) { throw new AssertionError(); }\n    int marker;\n  }\n}\n";
        let after = rewritten(text);
        let line = |text: &str, word: &str| text.lines().position(|line| line.contains(word));
        assert!(after.starts_with("package p;import q.*; \n"), "{after}");
        assert!(after.contains("List<Boolean> all = Arrays.asList(true, true);"), "{after}");
        assert!(!after.contains("org.junit") && !after.contains("RunWith"), "{after}");
        for word in ["f(1)", "f(2)", "all.contains", "marker"] {
            assert_eq!(line(&after, word), line(text, word), "{word}: {after}");
        }
    }
}
