use super::{
    sources::{declared, head, parsed, part},
    test_text::TestText,
    toolchain::PROGRAM_FILE,
};
use crate::languages::{Linked, LinkedHarness, SourceFile, TestTextError, Unit, edits::suffix};

/// Words of the language that are no keywords: a program may give them another meaning in the whole package, which tests
/// and harness are of. Functions such as `min`, which older programs define, are left to them.
const PREDECLARED: &[&str] = &[
    "any",
    "append",
    "bool",
    "byte",
    "cap",
    "comparable",
    "complex128",
    "complex64",
    "copy",
    "delete",
    "error",
    "false",
    "float32",
    "float64",
    "int",
    "int16",
    "int32",
    "int64",
    "int8",
    "iota",
    "len",
    "make",
    "new",
    "nil",
    "panic",
    "recover",
    "rune",
    "string",
    "true",
    "uint",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
    "uintptr",
];

/// Package main of several files: the harness, which is initialised first, the support code, the program, the tests.
pub(super) struct GoHarness;

impl LinkedHarness for GoHarness {
    fn unit(&self, linked: &Linked<'_>) -> Result<Unit, TestTextError> {
        let tests = TestText::parse(linked.tests)?;
        let suffix = suffix(linked);
        let body = tests.rewritten(&suffix, linked.entry_point);
        let texts = [linked.support, linked.preamble, Some(linked.tests)];
        let texts: Vec<&str> = texts.into_iter().flatten().collect();
        let test_file = format!("{}{body}", head(&body, &texts)?);

        let mut harness = include_str!("../harness/go/harness.go").replace("SUFFIX", &suffix);
        harness.push_str("\nfunc main() {\n");
        for call in tests.calls(&suffix) {
            harness.push_str(&format!("\ttest_{suffix}(func() {{ {call} }})\n"));
        }
        harness.push_str(&format!("\tdone_{suffix}()\n}}\n"));
        let program = parsed(linked.program)?;
        let declared = declared(&program);
        let asked = format!("{harness}\n{test_file}");
        for word in PREDECLARED.iter().filter(|word| declared.contains(*word) && uses(&asked, word)) {
            // Declared twice: the program does not compile.
            harness.push_str(&format!("\ntype {word} struct{{}}\n"));
        }

        let mut files = vec![source(&format!("harness_{suffix}.go"), harness)];
        if let Some(support) = linked.support {
            files.push(source(&format!("support_{suffix}.go"), part(support, &suffix)?));
        }
        files.push(source(PROGRAM_FILE, part(linked.program, &suffix)?));
        files.push(source(&format!("tests_{suffix}.go"), test_file));
        Ok(Unit { files, entry: String::new(), program_file: PROGRAM_FILE.to_owned() })
    }
}

fn source(path: &str, text: String) -> SourceFile {
    SourceFile { path: path.to_owned(), text }
}

/// Whether a word stands anywhere in a text.
fn uses(text: &str, word: &str) -> bool {
    text.split(|letter: char| !letter.is_alphanumeric() && letter != '_').any(|found| found == word)
}

#[cfg(test)]
mod tests {
    use super::GoHarness;
    use crate::languages::{Linked, LinkedHarness};

    fn harness(program: &str) -> String {
        let tests = "func TestF(t *testing.T) { assert.Equal(t, true, F()) }";
        let linked = Linked { program, preamble: None, support: None, tests, assertions: &[], entry_point: Some("F") };
        GoHarness.unit(&linked).unwrap().files[0].text.clone()
    }

    #[test]
    fn a_program_that_gives_words_of_the_language_another_meaning_does_not_compile() {
        assert!(harness("const true = 1 == 2\n").contains("\ntype true struct{}\n"));
        assert!(!harness("func max(a int) int { true := a; return true }\n").contains("type true"));
        assert!(!harness("func min() {}\ntype rune int\n").contains("type rune"));
    }
}
