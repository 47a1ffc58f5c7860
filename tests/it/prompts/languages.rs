//! Replies in the languages of braces: the same cases as for Python, each with what is particular there.

use proptest::prelude::*;
use rolecall::{
    domain::{Language, Task},
    prompts::{assemble, extract_program},
};

use super::{function_task, program_task};

fn task(language: Language, name: &str, signature: &str, preamble: Option<&str>) -> Task {
    Task { language, ..function_task(name, signature, preamble) }
}

/// A task for the next number in each language, and its function.
fn inc() -> Vec<(Task, &'static str, &'static str)> {
    let of = |language, signature: &'static str, body: &'static str| {
        (task(language, "inc", signature, None), signature, body)
    };
    vec![
        of(Language::Cpp, "int inc(int n) {", "    return n + 1;\n"),
        of(Language::Java, "class Solution {\n    static int inc(int n) {", "        return n + 1;\n"),
        of(Language::JavaScript, "const inc = (n) => {", "  return n + 1;\n"),
        of(Language::Go, "func inc(n int) int {", "\treturn n + 1\n"),
        of(Language::Rust, "fn inc(n: i32) -> i32 {", "    n + 1\n"),
    ]
}

/// The braces that close what the signature opens.
fn ends(signature: &str) -> &'static str {
    if signature.starts_with("class") { "}\n}\n" } else { "}\n" }
}

#[test]
fn e17_fences_and_their_words() {
    for (task, signature, body) in inc() {
        let language = task.language;
        let program = format!("{signature}\n{body}{}", ends(signature));
        let replies = [
            format!("```{language}\n{program}```"),
            format!("```\n{program}```\nThat is all."),
            format!("~~~solution\n{program}~~~"),
            format!("Here it is:\n\n```{language}\n{program}"),
            format!("{program}```\nThat is all."),
            program.clone(),
            format!("```text\nadd one\n```\n```{language}\n{program}```\n```bash\nls\n```"),
            format!("<think>```{language}\nhalf {{\n```</think>```{language}\n{program}```"),
            format!("```{language}\r\n{}```", program.replace('\n', "\r\n")),
        ];
        for reply in &replies {
            assert_eq!(extract_program(reply, &task).as_ref(), Some(&program), "{language}: {reply}");
        }
        let between = format!("Here it is:\n\n{program}\nI hope it helps.");
        assert_eq!(extract_program(&between, &task).unwrap().trim_end(), program.trim_end(), "{language}");
        for none in ["I cannot help with that.", "Done", "", "```\n```", "Use it like this: inc(1)"] {
            assert_eq!(extract_program(none, &task), None, "{language}: {none}");
        }
        let cut = format!("```{language}\n{signature}\n{}", body.trim_end().trim_end_matches(['1', ';']));
        assert_eq!(extract_program(&cut, &task), None, "{language}: half a program");
    }
}

#[test]
fn e18_a_fence_in_a_string_or_comment_does_not_end_the_block() {
    let programs = [
        (Language::Cpp, "std::string", "const char* inc() {\n    return R\"(\n```sh\nls\n```\n)\";\n}\n"),
        (
            Language::Java,
            "",
            "class Solution {\n    static String inc() {\n        return \"\"\"\n```\nls\n```\n\"\"\";\n    }\n}\n",
        ),
        (Language::JavaScript, "", "function inc() {\n  return '```\\n' + 'ls' /*\n```\n*/;\n}\n"),
        (Language::Go, "", "func inc() string {\n\t/*\n```\n*/\n\treturn \"ls\"\n}\n"),
        (Language::Rust, "", "fn inc() -> &'static str {\n    \"\n```sh\nls\n```\n\"\n}\n"),
    ];
    for (language, _, program) in programs {
        let task = task(language, "inc", "", None);
        let reply = format!("So:\n```{language}\n{program}```\nRun:\n```bash\nls\n```\n");
        assert_eq!(extract_program(&reply, &task).as_deref(), Some(program), "{language}");
    }
}

#[test]
fn a35_code_fences_inside_code() {
    let rust = task(Language::Rust, "inc", "fn inc(n: i32) -> i32 {", None);
    let program =
        "/// Adds one.\n///\n/// ```\n/// assert_eq!(inc(1), 2);\n/// ```\nfn inc(n: i32) -> i32 {\n    n + 1\n}\n";
    let replies = [
        ("closed", format!("```rust\n{program}```\n"), Some(program)),
        ("prose first", format!("```text\nadd one\n```\n```rust\n{program}```\nDone."), Some(program)),
        ("never closed", format!("```rust\n{program}"), Some(program)),
        ("CRLF line ends", format!("```rust\n{program}```\n").replace('\n', "\r\n"), Some(program)),
        ("no fence around it", program.to_owned(), Some(program)),
        ("cut inside of it", format!("```rust\n{}", program.replace("    n + 1\n}\n", "    n +")), None),
    ];
    for (what, reply, expected) in replies {
        assert_eq!(extract_program(&reply, &rust).as_deref(), expected, "{what}");
    }
}

#[test]
fn e20_a_completion_is_joined_below_the_signature() {
    for (task, signature, body) in inc() {
        let whole = format!("{signature}\n{body}{}", ends(signature));
        let completions = [
            ("with the braces that close it", format!("{body}{}", ends(signature))),
            ("without them", body.to_owned()),
            ("in a fence", format!("```\n{body}{}```", ends(signature))),
            ("the whole again", whole.clone()),
        ];
        for (what, reply) in completions {
            assert_eq!(extract_program(&reply, &task).as_ref(), Some(&whole), "{}: {what}", task.language);
        }
        assert_eq!(assemble(&task, &whole), whole, "{}: the head is never doubled", task.language);
        let bare = Task { signature: Some(signature.trim_end_matches('{').trim_end().to_owned()), ..task.clone() };
        assert_eq!(assemble(&bare, body), whole, "{}: a signature without its brace", task.language);
    }
    let (go, signature, _) = inc().remove(3);
    let trimmed = assemble(&go, "return n + 1");
    assert_eq!(trimmed, format!("{signature}\nreturn n + 1\n}}\n"), "indentation has no meaning in Go");
}

#[test]
fn e20_a_method_alone_is_joined_to_its_class() {
    let signature = "class Solution {\n    int half(int n) { return n / 2; }\n    public int inc(int n) {";
    let java = task(Language::Java, "inc", signature, Some("import java.util.*;\n"));
    let method = "    public int inc(int n) {\n        return half(2 * n) + 1;\n    }\n";
    let expected = "import java.util.*;\n\n\
                    class Solution {\n    int half(int n) { return n / 2; }\n        \
                    public int inc(int n) {\n        return half(2 * n) + 1;\n    }\n}\n";
    assert_eq!(extract_program(&format!("```java\n{method}```"), &java).as_deref(), Some(expected));
}

#[test]
fn e21_go_imports_are_added_where_they_are_used_and_once() {
    let preamble =
        "package main\n\nimport (\n\t\"math\"\n\t\"strings\"\n)\n\nfunc half(n int) int {\n\treturn n / 2\n}\n";
    let go = task(Language::Go, "up", "func up(text string) string {", Some(preamble));
    let function = "func up(text string) string {\n\treturn strings.ToUpper(text)\n}\n";
    let half = "func half(n int) int {\n\treturn n / 2\n}";
    let full = format!("package main\n\nimport \"strings\"\n{half}\n\n\n{function}");
    assert_eq!(assemble(&go, function), full);
    assert_eq!(assemble(&go, "\treturn strings.ToUpper(text)\n"), full);
    assert_eq!(assemble(&go, &full), full, "twice changes nothing");
    let own = format!("package main\n\nimport \"strings\"\n\nfunc half(n int) int {{ return n }}\n\n{function}");
    assert_eq!(assemble(&go, &own), own);
    let shadowed = assemble(&go, "func up(strings string) string {\n\treturn strings\n}\n");
    assert!(!shadowed.contains("import"), "a parameter is no use of a package: {shadowed}");
}

#[test]
fn e21_rust_names_are_imported_once_and_foreign_crates_only_where_they_are_used() {
    let preamble = "use std::{cmp::max, collections::{HashMap, HashSet}};\nuse rand::Rng;\n\nfn half(n: u32) -> u32 {\n    n / 2\n}\n";
    let rust = task(Language::Rust, "count", "fn count(n: u32) -> u32 {", Some(preamble));
    let code = "use std::collections::HashMap;\n\nfn count(n: u32) -> u32 {\n    HashMap::from([(half(n), n)]).len() as u32\n}\n";
    let program = assemble(&rust, code);
    assert_eq!(program.matches("HashMap;").count(), 1, "{program}");
    assert!(program.contains("use std::cmp::max;\nuse std::collections::HashSet;\n"), "{program}");
    assert!(!program.contains("rand"), "{program}");
    assert_eq!(assemble(&rust, &program), program);
    let random = assemble(&rust, "fn count(n: u32) -> u32 {\n    rand::thread_rng().gen_range(0, n)\n}\n");
    assert!(random.starts_with("use std::{cmp::max, collections::{HashMap, HashSet}};\nuse rand::Rng;\n"), "{random}");
}

#[test]
fn e21_includes_helpers_and_java_imports() {
    let preamble = "#include <string>\nusing namespace std;\nint half(int n) {\n    return n / 2;\n}\n";
    let cpp = task(Language::Cpp, "name", "string name(int n) {", Some(preamble));
    let function = "string name(int n) {\n    return to_string(half(n));\n}\n";
    let program = assemble(&cpp, &format!("#include<string>\n{function}"));
    assert_eq!(program.matches("<string>").count(), 1, "{program}");
    assert!(program.starts_with("using namespace std;\n#include<string>\nint half(int n)"), "{program}");
    assert!(assemble(&cpp, function).starts_with("#include <string>\nusing namespace std;\nint half(int n)"));
    let promised = assemble(&cpp, &format!("int half(int n);\n{function}"));
    assert!(promised.contains("return n / 2"), "a prototype defines nothing: {promised}");

    let java = task(Language::Java, "up", "class Solution {\n    int up(int n) {", Some("import java.util.*;\n"));
    let packaged =
        "package a.b;\n\nimport java.io.*;\n\nclass Solution {\n    int up(int n) {\n        return n;\n    }\n}\n";
    assert_eq!(assemble(&java, packaged), packaged.replace("b;\n\n", "b;\nimport java.util.*;\n\n"));
}

#[test]
fn e23_class_names_and_packages_stay_as_they_are() {
    let program = "package demo.app;\n\n// It's \"public class Fake\" that people expect here\n/* public class Older {} */\n\
                   public class Real {\n    static final String S = \"public class Str {\";\n    \
                   public static void main(String[] a) {\n        System.out.println(1);\n    }\n}\n";
    let java = Task { language: Language::Java, ..program_task() };
    assert_eq!(extract_program(&format!("```java\n{program}```"), &java).as_deref(), Some(program));
}

#[test]
fn e22_programs_for_stdin_and_stdout_are_found() {
    let programs = [
        (
            Language::Cpp,
            "#include <iostream>\nint main() {\n    int n;\n    std::cin >> n;\n    std::cout << 2 * n;\n}\n",
        ),
        (Language::Java, "public class Twice {\n    public static void main(String[] a) {\n        run();\n    }\n}\n"),
        (Language::JavaScript, "const n = Number(require('fs').readFileSync(0));\nconsole.log(2 * n);\n"),
        (Language::Go, "package main\n\nfunc main() {\n\tprintln(2)\n}\n"),
        (Language::Rust, "fn main() {\n    println!(\"{}\", 2);\n}\n"),
    ];
    for (language, program) in programs {
        let task = Task { language, ..program_task() };
        let reply = format!("So:\n```{language}\n{program}```\nIt prints:\n```\n42\n```\n");
        assert_eq!(extract_program(&reply, &task).as_deref(), Some(program), "{language}");
        assert_eq!(extract_program("```\n42\n```", &task), None, "{language}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn a35_no_reply_panics_and_assembling_twice_changes_nothing(
        pieces in proptest::collection::vec(prop_oneof![
            "\\PC{0,12}",
            any::<String>(),
            Just("```".to_owned()),
            Just("{\n".to_owned()),
            Just("}\n".to_owned()),
            Just("import (\"a\"; b \"c/d\")\nuse a::{b, c::*};\n".to_owned()),
            Just("int inc(int n) {\n".to_owned()),
            Just("func inc(n int) int {\n".to_owned()),
            Just("fn inc() {\n".to_owned()),
            Just("const {inc, b: [c]} = (n) => {\n".to_owned()),
            Just("class A { int inc() {\n".to_owned()),
            Just("return n;\n".to_owned()),
        ], 0..10)
    ) {
        let reply = pieces.concat();
        for (task, _, _) in inc() {
            let task = Task { preamble: Some("import \"a\"\n".to_owned()), ..task };
            if let Some(program) = extract_program(&reply, &task) {
                prop_assert!(!program.trim().is_empty());
                prop_assert_eq!(assemble(&task, &program), program);
            }
        }
    }
}
