use tree_sitter::Node;

use crate::{
    domain::{Assertion, Language},
    languages::{
        TestTextError,
        edits::Edits,
        syntax::{Syntax, named_children, nodes_below},
    },
};

/// Macros of the standard library that a program may define anew; the tests mean these.
const MACROS: &[&str] = &[
    "assert",
    "assert_eq",
    "assert_ne",
    "concat",
    "dbg",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "eprint",
    "eprintln",
    "format",
    "format_args",
    "matches",
    "panic",
    "print",
    "println",
    "stringify",
    "thread_local",
    "todo",
    "unimplemented",
    "unreachable",
    "vec",
    "write",
    "writeln",
];

/// A test text in Rust: functions with `#[test]`, in modules or not, or a `main`, whose assertions are macros.
pub(super) struct TestText<'a> {
    syntax: Syntax<'a>,
    text: &'a str,
}

/// What an assertion compares.
struct Condition {
    operator: &'static str,
    left: String,
    right: String,
    is_swapped: bool,
    /// Neither `?` nor `return`, so that it can be computed in a function of its own.
    is_closed: bool,
}

impl<'a> TestText<'a> {
    /// Parses it.
    pub(super) fn parse(text: &'a str) -> Result<Self, TestTextError> {
        Ok(Self { syntax: Syntax::of_valid(Language::Rust, tree_sitter_rust::LANGUAGE, text)?, text })
    }

    /// Its assertions in source order.
    pub(super) fn assertions(&self) -> Result<Vec<Assertion>, TestTextError> {
        let found = self.found()?;
        found.iter().try_for_each(|node| self.condition(*node, None).map(drop))?;
        Ok(found.into_iter().map(|node| self.syntax.listed(node)).collect())
    }

    /// Every word of the text that a path begins with, and the word behind it.
    pub(super) fn paths(&self) -> Vec<(&'a str, &'a str)> {
        let nodes = self.syntax.nodes();
        let leaves: Vec<&str> =
            nodes.into_iter().filter(|node| node.child_count() == 0).map(|node| self.syntax.source(node)).collect();
        leaves.windows(3).filter(|three| three[1] == "::").map(|three| (three[0], three[2])).collect()
    }

    /// Name of an assertion's macro.
    fn macro_of(&self, node: Node<'_>) -> Option<&'a str> {
        if node.kind() != "macro_invocation" {
            return None;
        }
        let name = self.syntax.source(node.child_by_field_name("macro")?).rsplit("::").next()?.trim();
        let name = name.strip_prefix("debug_").unwrap_or(name);
        matches!(name, "assert" | "assert_eq" | "assert_ne").then_some(name)
    }

    fn found(&self) -> Result<Vec<Node<'_>>, TestTextError> {
        let mut found = Vec::new();
        let mut ignored_until = 0;
        for node in self.syntax.nodes() {
            if node.kind() == "function_item" {
                let attributes = self.attributes(node);
                if let Some(attribute) =
                    attributes.iter().find(|attribute| self.attribute_is(**attribute, "should_panic"))
                {
                    return Err(TestTextError::at(*attribute, "a test that must panic has no assertion to judge"));
                }
                if attributes.iter().any(|attribute| self.attribute_is(*attribute, "ignore")) {
                    ignored_until = node.end_byte();
                }
            }
            if node.start_byte() >= ignored_until && self.macro_of(node).is_some() {
                found.push(node);
            }
        }
        Ok(found)
    }

    /// The attributes before an item.
    fn attributes<'t>(&self, item: Node<'t>) -> Vec<Node<'t>> {
        let mut attributes = Vec::new();
        let mut before = item.prev_sibling();
        while let Some(node) =
            before.filter(|node| matches!(node.kind(), "attribute_item" | "line_comment" | "block_comment"))
        {
            attributes.extend((node.kind() == "attribute_item").then_some(node));
            before = node.prev_sibling();
        }
        attributes
    }

    /// Whether it is `#[name]` or `#[name…]`.
    fn attribute_is(&self, attribute: Node<'_>, name: &str) -> bool {
        let text: String = self.syntax.source(attribute).split_whitespace().collect();
        text.strip_prefix("#[")
            .and_then(|text| text.strip_prefix(name))
            .is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    }

    /// What an assertion compares; `None`: a condition as it stands, whose text is that of its first argument.
    fn condition(
        &self,
        node: Node<'_>,
        entry_point: Option<&str>,
    ) -> Result<(Option<Condition>, String, bool), TestTextError> {
        let wrong = || TestTextError::at(node, "an assertion whose arguments are not expressions");
        let tree = named_children(node).into_iter().find(|child| child.kind() == "token_tree").ok_or_else(wrong)?;
        let inside = &self.text[tree.start_byte() + 1..tree.end_byte() - 1];
        let text = format!("fn f() {{ f({inside}\n); }}");
        let syntax = Syntax::of_valid(Language::Rust, tree_sitter_rust::LANGUAGE, &text).map_err(|_| wrong())?;
        let nodes = syntax.nodes();
        let call = nodes.iter().find(|node| node.kind() == "arguments").ok_or_else(wrong)?;
        let arguments: Vec<_> =
            named_children(*call).into_iter().filter(|child| !child.kind().ends_with("comment")).collect();
        let compared = |operator, left: Node<'_>, right: Node<'_>| Condition {
            operator,
            left: syntax.source(left).to_owned(),
            right: syntax.source(right).to_owned(),
            is_swapped: is_actual(&syntax, right, entry_point) && !is_actual(&syntax, left, entry_point),
            is_closed: is_closed(left) && is_closed(right),
        };
        let condition = match (self.macro_of(node), &arguments[..]) {
            (Some("assert_eq"), [left, right, ..]) => Some(compared("==", *left, *right)),
            (Some("assert_ne"), [left, right, ..]) => Some(compared("!=", *left, *right)),
            (Some("assert"), [condition, ..]) => {
                let mut inner = *condition;
                while inner.kind() == "parenthesized_expression" {
                    inner = named_children(inner).first().copied().ok_or_else(wrong)?;
                }
                let operator = inner.child_by_field_name("operator").map(|operator| syntax.source(operator));
                let sides = (inner.child_by_field_name("left"), inner.child_by_field_name("right"));
                let known = ["==", "!=", "<", "<=", ">", ">="].into_iter().find(|known| Some(*known) == operator);
                match (inner.kind(), known, sides) {
                    ("binary_expression", Some(known), (Some(left), Some(right))) => Some(compared(known, left, right)),
                    _ => return Ok((None, syntax.source(*condition).to_owned(), is_closed(*condition))),
                }
            }
            _ => return Err(TestTextError::at(node, "an assertion without what it asserts")),
        };
        let is_closed = condition.as_ref().is_some_and(|condition| condition.is_closed);
        Ok((condition, String::new(), is_closed))
    }

    /// The text with calls of the harness in place of assertions, macros of the standard library by their whole paths, and
    /// a function in each module that calls its test functions.
    pub(super) fn rewritten(&self, suffix: &str, entry_point: Option<&str>) -> Result<String, TestTextError> {
        let whole = TestText::parse(self.text)?.with_whole_paths();
        let text = TestText::parse(&whole)?;
        let mut edits = Edits::of(&whole);
        let harness = format!("crate::rolecall_{suffix}");
        for (index, node) in text.found()?.into_iter().enumerate() {
            let (condition, holds, is_closed) = text.condition(node, entry_point)?;
            let judged = match condition {
                Some(condition) => comparison(&condition, index, &harness),
                None => format!("let rolecall_holds: bool = {holds}; {harness}::holds({index}, rolecall_holds);"),
            };
            let run = if is_closed { format!("{harness}::assertion(|| {{ {judged} }})") } else { judged };
            edits.replace(node.byte_range(), format!("{{ if {harness}::begin({index}) {{ {run} }} }}"));
        }
        let run = text.calls(text.syntax.root(), suffix, &mut edits);
        let mut rewritten = edits.apply();
        rewritten.push_str(&format!("\nuse super::*; {run}\n"));
        Ok(rewritten)
    }

    fn with_whole_paths(&self) -> String {
        let mut edits = Edits::of(self.text);
        let nodes = self.syntax.nodes();
        let own: Vec<&str> = nodes
            .iter()
            .filter(|node| node.kind() == "macro_definition")
            .filter_map(|node| node.child_by_field_name("name").map(|name| self.syntax.source(name)))
            .collect();
        for node in nodes.iter().filter(|node| node.kind() == "identifier") {
            let name = self.syntax.source(*node);
            let is_macro =
                node.next_sibling().is_some_and(|next| next.kind() == "!" && next.start_byte() == node.end_byte());
            let is_path = node.prev_sibling().is_some_and(|before| matches!(before.kind(), "::" | "." | "$"));
            if is_macro && !is_path && MACROS.contains(&name) && !own.contains(&name) {
                edits.insert(node.start_byte(), "::std::".to_owned());
            }
        }
        edits.apply()
    }

    /// A function that calls the tests of a module, which must be put at its end; what only `cargo test` reads is blanked.
    fn calls(&self, module: Node<'_>, suffix: &str, edits: &mut Edits<'_>) -> String {
        let mut calls = String::new();
        for item in named_children(module) {
            let Some(name) = item.child_by_field_name("name").map(|name| self.syntax.source(name)) else { continue };
            let attributes = self.attributes(item);
            let has = |name| attributes.iter().copied().find(|attribute| self.attribute_is(*attribute, name));
            match item.kind() {
                "mod_item" => {
                    let tests = attributes.iter().filter(|attribute| self.attribute_is(**attribute, "cfg(test)"));
                    tests.for_each(|attribute| edits.blank(attribute.byte_range()));
                    if let Some(body) = item.child_by_field_name("body") {
                        let run = self.calls(body, suffix, edits);
                        edits.insert(body.end_byte() - 1, format!(" {run} "));
                        calls.push_str(&format!("{name}::rolecall_run_{suffix}(); "));
                    }
                }
                "function_item" => {
                    let test = has("test");
                    if let Some(attribute) = test {
                        edits.blank(attribute.byte_range());
                    }
                    let is_main = name == "main" && module.kind() == "source_file";
                    if (test.is_some() || is_main) && has("ignore").is_none() {
                        calls.push_str(&format!("crate::rolecall_{suffix}::test({name}); "));
                    }
                }
                _ => {}
            }
        }
        format!("pub fn rolecall_run_{suffix}() {{ {calls}}}")
    }
}

/// The comparison as the standard macros write it, then the report.
fn comparison(condition: &Condition, index: usize, harness: &str) -> String {
    let Condition { operator, left, right, is_swapped, .. } = condition;
    let against = if *operator == "==" {
        format!(
            "{harness}::Value(rolecall_right).rolecall_against(&rolecall_plainly, |rolecall_other| *rolecall_left == *rolecall_other)"
        )
    } else {
        "!rolecall_plainly()".to_owned()
    };
    // Compared once, whether it is the canary or not: what differs from call to call cannot tell one from the other.
    format!(
        "match (&({left}), &({right})) {{ (rolecall_left, rolecall_right) => {{ #[allow(unused_imports)] use \
         {harness}::{{NoChange as _, NoText as _}}; let rolecall_plainly = || -> bool {{ *rolecall_left {operator} *rolecall_right }}; \
         let rolecall_holds: bool = if {harness}::is_canary({index}) {{ {against} }} else {{ rolecall_plainly() }}; \
         {harness}::compared({index}, \"{operator}\", {is_swapped}, (rolecall_left, rolecall_right), rolecall_holds, || \
         ({harness}::Value(rolecall_left).rolecall_text(), {harness}::Value(rolecall_right).rolecall_text())); }} }}"
    )
}

/// Whether a side of a comparison calls the function under test (any function where its name is not known).
fn is_actual(syntax: &Syntax<'_>, side: Node<'_>, entry_point: Option<&str>) -> bool {
    nodes_below(side).into_iter().any(|node| match entry_point {
        Some(name) => node.kind() == "identifier" && syntax.source(node) == name,
        None => node.kind() == "call_expression",
    })
}

/// Whether nothing in an expression leaves the function around it.
fn is_closed(expression: Node<'_>) -> bool {
    let leaves = ["try_expression", "return_expression", "break_expression", "continue_expression", "await_expression"];
    nodes_below(expression).iter().all(|node| !leaves.contains(&node.kind()))
}

#[cfg(test)]
mod tests {
    use super::TestText;

    fn listed(text: &str) -> Vec<(u32, String)> {
        let assertions = TestText::parse(text).unwrap().assertions().unwrap();
        assertions.into_iter().map(|assertion| (assertion.line, assertion.text)).collect()
    }

    fn rewritten(text: &str) -> String {
        TestText::parse(text).unwrap().rewritten("s", Some("f")).unwrap()
    }

    #[test]
    fn every_assertion_is_listed_and_nothing_that_looks_like_one() {
        let text = "// assert!(true)\r\n/* assert!(1) */\r\n#[cfg(test)]\r\nmod tests {\r\n    use super::*;\r\n    fn \
                    helper(x: i32) { assert!(x > 0); }\r\n    #[test]\r\n    fn a() {\r\n        for i in 0..3 { \
                    assert_eq!(f(i),\r\n            i, \"at {}\", i); }\r\n        let s = \"assert!(x)\";\r\n        match \
                    f(1) { 0 => assert_ne!(f(2), 1), _ => std::assert!(false) }\r\n    }\r\n    #[test]\r\n    #[ignore]\r\n    \
                    fn b() { assert!(false); }\r\n}\r\n";
        let expected = [
            (6, "assert!(x > 0)"),
            (9, "assert_eq!(f(i),\r\n            i, \"at {}\", i)"),
            (12, "assert_ne!(f(2), 1)"),
            (12, "std::assert!(false)"),
        ];
        assert_eq!(listed(text), expected.map(|(line, text)| (line, text.to_owned())));
        assert_eq!(listed("/*\n#[test]\nfn t() { assert!(true); }\n*/\n"), []);
    }

    #[test]
    fn texts_that_cannot_be_judged_say_where() {
        let problem = |text| {
            let error = TestText::parse(text).and_then(|text| text.assertions()).unwrap_err();
            (error.line, error.problem)
        };
        assert_eq!(problem("#[test]\nfn t() { assert f(1) }\n"), (2, "not valid Rust".to_owned()));
        assert_eq!(
            problem("#[test]\nfn t() {\n assert!();\n}"),
            (3, "an assertion without what it asserts".to_owned())
        );
        let panics = "#[test]\n#[should_panic(expected = \"x\")]\nfn t() { f(); }";
        assert_eq!(problem(panics), (2, "a test that must panic has no assertion to judge".to_owned()));
    }

    #[test]
    fn comparisons_and_conditions_become_calls_with_their_index() {
        let text = rewritten(
            "#[test] fn t() {\n assert_eq!(HashMap::<i32, i32>::new(), f(1));\n assert!((f(2) < 3));\n assert!(f(3));\n \
             assert_eq!(f(4)?, 1, \"{}\", 2);\n}",
        );
        let at = |line: usize| text.lines().nth(line).unwrap();
        assert!(at(1).contains("match (&(HashMap::<i32, i32>::new()), &(f(1)))"), "{text}");
        assert!(at(1).contains("compared(0, \"==\", true,") && at(1).contains("::assertion(||"), "{text}");
        assert!(
            at(2).contains("*rolecall_left < *rolecall_right") && at(2).contains("{ !rolecall_plainly() }"),
            "{text}"
        );
        assert!(
            at(3).contains("let rolecall_holds: bool = f(3); crate::rolecall_s::holds(2, rolecall_holds);"),
            "{text}"
        );
        assert!(at(4).contains("begin(3)") && !at(4).contains("::assertion(||"), "{text}");
    }

    #[test]
    fn everything_else_stays_on_its_line() {
        let text = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() {\n        assert_eq!(\n            f(1),\n            2\n        \
                    );\n        let x = 7;\n    }\n}\n";
        let new = rewritten(text);
        assert_eq!(new.lines().nth(8), Some("        let x = 7;"));
        assert!(!new.contains("#[test]") && !new.contains("cfg(test)"));
    }

    #[test]
    fn test_functions_are_called_in_source_order_through_their_modules() {
        let text = rewritten(
            "mod a { #[test] fn one() {} mod b { #[test] fn two() {} } fn helper() {} #[test] fn three() {} }\n#[test]\nfn four() {}",
        );
        assert!(text.contains("pub fn rolecall_run_s() { crate::rolecall_s::test(two); }"), "{text}");
        let outer = "crate::rolecall_s::test(one); b::rolecall_run_s(); crate::rolecall_s::test(three);";
        assert!(text.contains(outer), "{text}");
        assert!(text.ends_with("{ a::rolecall_run_s(); crate::rolecall_s::test(four); }\n"), "{text}");
        assert!(rewritten("fn main() { assert!(f()); }").contains("test(main);"));
    }

    #[test]
    fn macros_of_the_standard_library_cannot_be_those_of_the_program() {
        let text = rewritten(
            "macro_rules! todo { () => {} }\n#[test] fn t() { assert!(f(vec![format!(\"\")])); todo!(); a.vec != 1; }",
        );
        assert!(text.contains("f(::std::vec![::std::format!(\"\")])"), "{text}");
        assert!(text.contains(" todo!();") && text.contains("a.vec != 1"), "{text}");
    }
}
