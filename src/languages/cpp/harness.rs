use std::collections::BTreeSet;

use super::{
    test_text::{TestText, classes},
    toolchain::{BASE, BASE_FILE, PROGRAM_FILE},
};
use crate::{
    domain::Language,
    languages::{
        Linked, LinkedHarness, SourceFile, TestTextError, Unit,
        edits::suffix,
        syntax::{Syntax, named_children, nodes_below},
    },
};

/// The file that is compiled.
const UNIT_FILE: &str = "unit.cpp";

/// What the calls in place of assertions are made of; a program may have made macros of these words.
const OUR_WORDS: &[&str] = &[
    "auto",
    "bool",
    "catch",
    "char",
    "const",
    "define",
    "false",
    "if",
    "int",
    "main",
    "nullptr",
    "return",
    "std",
    "struct",
    "template",
    "true",
    "true_type",
    "try",
    "void",
];

/// One translation unit: the harness before anything that the program could redefine, the program, and the tests after
/// its macros have been taken back.
pub(super) struct CppHarness;

impl LinkedHarness for CppHarness {
    fn unit(&self, linked: &Linked<'_>) -> Result<Unit, TestTextError> {
        let tests = TestText::parse(linked.tests)?;
        let suffix = suffix(linked);
        let count = linked.assertions.len().to_string();
        let harness =
            [include_str!("../harness/cpp/channel.hpp"), include_str!("../harness/cpp/values.hpp")].join("\n");
        let harness = harness.replace("SUFFIX", &suffix).replace("COUNT", &count);

        let mut files = vec![
            source(BASE_FILE, BASE.to_owned()),
            source(PROGRAM_FILE, linked.program.to_owned()),
            source(&format!("harness_{suffix}.hpp"), harness),
        ];
        let mut unit = format!("#include \"{BASE_FILE}\"\n#include \"harness_{suffix}.hpp\"\n");
        // A program that includes this file to see the tests, or to have them judged by its macros, does not compile.
        unit.push_str(&format!(
            "#ifdef ROLECALL_{suffix}\n#error \"the program includes its own tests\"\n#endif\n#define ROLECALL_{suffix}\n"
        ));
        let mut defined = defined_words(linked.program);
        if let Some(support) = linked.support {
            unit.push_str(&format!("#include \"support_{suffix}.hpp\"\n"));
            let syntax = Syntax::parse(Language::Cpp, tree_sitter_cpp::LANGUAGE, support)?;
            unit.push_str(&own_classes(&classes(&syntax), &suffix));
            files.push(source(&format!("support_{suffix}.hpp"), support.to_owned()));
        }
        unit.push_str(&format!("#define main rolecall_main_{suffix}\n#include \"{PROGRAM_FILE}\"\n#undef main\nnamespace program_ended_{suffix} {{}}\n"));
        let words: BTreeSet<&str> = tests.words().chain(OUR_WORDS.iter().copied()).collect();
        defined.retain(|word| words.contains(word.as_str()));
        for word in defined {
            unit.push_str(&format!("#undef {word}\n"));
        }
        if let Some(preamble) = linked.preamble {
            unit.push_str(&format!("#include \"preamble_{suffix}.hpp\"\n"));
            files.push(source(&format!("preamble_{suffix}.hpp"), lacking(preamble, linked.program)?));
        }
        unit.push_str(&own_classes(&tests.classes(), &suffix));
        unit.push_str(&format!("#include \"tests_{suffix}.cpp\"\n"));
        files.push(source(&format!("tests_{suffix}.cpp"), tests.rewritten(&suffix, linked.entry_point)?));
        files.push(source(UNIT_FILE, unit));
        Ok(Unit { files, entry: UNIT_FILE.to_owned(), program_file: PROGRAM_FILE.to_owned() })
    }
}

fn source(path: &str, text: String) -> SourceFile {
    SourceFile { path: path.to_owned(), text }
}

/// Says that equality of these classes is not the program's.
fn own_classes(names: &[&str], suffix: &str) -> String {
    let own = |name: &&str| {
        format!("struct {name};\ntemplate <> struct rolecall_{suffix}::own<{name}> : std::true_type {{}};\n")
    };
    names.iter().map(own).collect()
}

/// Words that a text may make macros of: whatever follows `define` on a line of the preprocessor, however it is written.
fn defined_words(text: &str) -> BTreeSet<String> {
    let text = joined(text);
    let mut words = BTreeSet::new();
    for (at, found) in text.match_indices("define") {
        let rest = &text[at + found.len()..];
        let line = rest.find('\n').map_or(rest, |end| &rest[..end]);
        // A comment between, which may end on a later line, hides the word: then every word of what follows counts.
        let (line, most) = if line.contains("/*") { (rest, usize::MAX) } else { (line, 1) };
        let candidates = line.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        words.extend(candidates.filter(|word| !word.is_empty()).take(most).map(str::to_owned));
    }
    words
}

/// A text whose continued lines are one, as the preprocessor reads it: words may be cut there too.
fn joined(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        match line.trim_end().strip_suffix('\\') {
            Some(begun) if line.ends_with('\n') => joined.push_str(begun),
            _ => joined.push_str(line),
        }
    }
    joined
}

/// What of the prompt's code the program does not define itself: includes, names brought in, helpers.
fn lacking(preamble: &str, program: &str) -> Result<String, TestTextError> {
    let parsed = |text| Syntax::parse(Language::Cpp, tree_sitter_cpp::LANGUAGE, text);
    let (preamble, program) = (parsed(preamble)?, parsed(program)?);
    let present: BTreeSet<String> =
        named_children(program.root()).iter().flat_map(|node| names(&program, *node)).collect();
    let mut text = String::new();
    for node in named_children(preamble.root()) {
        let is_kept = match node.kind() {
            "preproc_include" | "preproc_def" | "preproc_function_def" | "using_declaration" => true,
            "function_definition"
            | "template_declaration"
            | "declaration"
            | "struct_specifier"
            | "class_specifier"
            | "enum_specifier"
            | "type_definition"
            | "alias_declaration" => {
                let names = names(&preamble, node);
                !node.has_error() && !names.is_empty() && names.iter().all(|name| !present.contains(name))
            }
            _ => false,
        };
        if is_kept {
            text.push_str(preamble.source(node).trim_end());
            // The grammar leaves the semicolon behind a class to nobody.
            text.push_str(if node.kind().ends_with("_specifier") { ";\n" } else { "\n" });
        }
    }
    Ok(text)
}

/// Names that a declaration outside of functions defines.
fn names(syntax: &Syntax<'_>, node: tree_sitter::Node<'_>) -> Vec<String> {
    let body = node.child_by_field_name("body").map_or(node.end_byte(), |body| body.start_byte());
    let first = nodes_below(node).into_iter().filter(|below| below.start_byte() < body).find(|below| {
        let is_name = below.parent().is_some_and(|parent| {
            let field = |name| parent.child_by_field_name(name) == Some(*below);
            field("name") || field("declarator")
        });
        is_name && matches!(below.kind(), "identifier" | "type_identifier")
    });
    first.map(|name| syntax.source(name).to_owned()).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::{CppHarness, defined_words, lacking};
    use crate::languages::{Linked, LinkedHarness, Unit};

    fn unit(program: &str, tests: &str, support: Option<&str>) -> Unit {
        let linked = Linked { program, preamble: None, support, tests, assertions: &[], entry_point: None };
        CppHarness.unit(&linked).unwrap()
    }

    fn text<'a>(unit: &'a Unit, path: &str) -> &'a str {
        &unit.files.iter().find(|file| file.path == path).unwrap().text
    }

    #[test]
    fn macros_of_the_program_are_taken_back_before_the_tests() {
        let program = "#define assert(x)\n# define if while\n#define other 1\nint f();\n";
        let unit = unit(program, "int main() { assert(f()); }", None);
        let text = text(&unit, "unit.cpp");
        let (before, after) = text.split_once("#include \"program.cpp\"\n").unwrap();
        assert!(!before.contains("#undef"));
        assert!(after.contains("#undef assert\n#undef if\n") && !after.contains("other"), "{text}");
        assert!(after.find("#undef assert") < after.find("#include \"tests_"));
    }

    #[test]
    fn definitions_are_found_however_they_are_written() {
        let words = |text| defined_words(text).into_iter().collect::<Vec<_>>();
        assert_eq!(words("%:define a(x) x\n"), ["a"]);
        assert_eq!(words("#define \\\n  b c\n"), ["b"]);
        assert_eq!(words("#define/* */d e\n"), ["d", "e"]);
        assert_eq!(words("#def\\\nine f g\n#de\\ \r\nfine h\n"), ["f", "h"]);
    }

    #[test]
    fn the_program_cannot_know_the_names_of_harness_and_tests() {
        let tests = "int main() { assert(f() == 1); }";
        let (one, two) = (unit("int f();", tests, None), unit("int f() ;", tests, None));
        let name = |unit: &Unit| unit.files.iter().find(|file| file.path.starts_with("tests_")).unwrap().path.clone();
        assert_ne!(name(&one), name(&two));
        assert_eq!(text(&one, "program.cpp"), "int f();");
    }

    #[test]
    fn classes_of_support_code_and_tests_may_be_compared() {
        let unit = unit("P f();", "class Q { };\nint main() { }", Some("struct P { int x; };\nstruct Later;\n"));
        let text = text(&unit, "unit.cpp");
        assert!(text.contains("::own<P>") && text.contains("::own<Q>") && !text.contains("Later"), "{text}");
        assert!(text.find("::own<P>") < text.find("program.cpp") && text.find("::own<Q>") > text.find("program.cpp"));
    }

    #[test]
    fn only_what_the_program_lacks_of_the_prompt_is_added() {
        let preamble = "#include <map>\nusing namespace std;\ntypedef int Number;\nint helper(int x) {\n  return x;\n}\nstruct P \
                        { int x; };\nint known() { return 1; }\nint f(int x) {\n";
        let lacking = lacking(preamble, "int known() { return 1; }\nint f(int x) { return x; }\n").unwrap();
        assert!(lacking.contains("helper") && lacking.contains("struct P { int x; };") && lacking.contains("Number"));
        assert!(lacking.starts_with("#include <map>\nusing namespace std;\n"), "{lacking}");
        assert!(!lacking.contains("known") && !lacking.contains("int f"), "{lacking}");
    }
}
