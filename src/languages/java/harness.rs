use std::collections::BTreeSet;

use super::{
    library::full_name,
    rewriting::{Rewriting, is_of_junit},
    sources::{file_name, imports, package, parsed, types},
    test_text::TestText,
    toolchain::LINKED_ENTRY,
};
use crate::languages::{
    Linked, LinkedHarness, SourceFile, TestTextError, Unit,
    edits::{Edits, suffix},
    syntax::Syntax,
};

/// Classes of program, support code, tests and harness, each in files of their own.
pub(super) struct JavaHarness;

impl LinkedHarness for JavaHarness {
    fn unit(&self, linked: &Linked<'_>) -> Result<Unit, TestTextError> {
        let suffix = suffix(linked);
        let harness = format!("rolecall_{suffix}");
        let program = parsed(linked.program)?;
        let support = linked.support.map(parsed).transpose()?;
        let home = package(&program);

        let defined: BTreeSet<&str> = types(&program).iter().map(|found| found.name).collect();
        let renamed = renamed(linked.tests, &defined, &suffix)?;
        let tests = TestText::parse(&renamed)?;
        let test_package = package(&tests.syntax).or(home);
        let mut head = match home {
            Some(home) if package(&tests.syntax).is_none() => format!("package {home}; "),
            _ => String::new(),
        };
        head.push_str(&self.imports(linked, &tests, &defined, support.as_ref())?);

        let own_tests = types(&tests.syntax).into_iter().map(|found| (test_package, found.name));
        let own_support = support.iter().flat_map(|support| {
            let home = package(support).or(home);
            types(support).into_iter().map(move |found| (home, found.name))
        });
        let own: Vec<String> = own_tests.chain(own_support).map(|(package, name)| quoted(package, name)).collect();
        let starts = tests.starts();
        let starts = starts.iter().map(|start| match home {
            Some(home) if package(&tests.syntax).is_none() => format!("\"{home}.{start}\""),
            _ => format!("\"{start}\""),
        });
        let judge = include_str!("../harness/java/Judge.java")
            .replace("SUFFIX", &suffix)
            .replace("OWN_TYPES", &own.join(", "))
            .replace("MESSAGE_IS_LAST", if linked.tests.contains("org.junit.jupiter") { "true" } else { "false" })
            .replace("TEST_NAMES", &starts.collect::<Vec<_>>().join(", "));

        let rewriting = Rewriting {
            tests: &tests,
            judge: format!("{harness}.Judge"),
            suffix: &suffix,
            entry_point: linked.entry_point,
        };
        let program_file = format!("program/{}", file_name(&program));
        let mut files = vec![
            source("harness/Judge.java", judge),
            source(&program_file, linked.program.to_owned()),
            source(&format!("tests/{}", file_name(&tests.syntax)), rewriting.text(head)),
        ];
        if let (Some(text), Some(syntax)) = (linked.support, &support) {
            let head = match home {
                Some(home) if package(syntax).is_none() => format!("package {home}; "),
                _ => String::new(),
            };
            files.push(source(&format!("support/{}", file_name(syntax)), format!("{head}{text}")));
        }
        Ok(Unit { files, entry: format!("{LINKED_ENTRY}{harness}"), program_file })
    }
}

impl JavaHarness {
    /// Imports for the tests: those of the prompt, and by their names those types of the library that the program hides by
    /// types of its own.
    fn imports(
        &self,
        linked: &Linked<'_>,
        tests: &TestText<'_>,
        defined: &BTreeSet<&str>,
        support: Option<&Syntax<'_>>,
    ) -> Result<String, TestTextError> {
        let mut all = match linked.preamble {
            Some(preamble) => imports(&parsed(preamble)?),
            None => Vec::new(),
        };
        all.retain(|import| !is_of_junit(import));
        let mut known = imports(&tests.syntax);
        known.extend(all.iter().cloned());
        if known.is_empty() {
            all.push("java.util.*".to_owned());
            known.push("java.util.*".to_owned());
        }
        let packages: Vec<&str> = known.iter().filter_map(|import| import.strip_suffix(".*")).collect();
        let nodes = tests.syntax.nodes().into_iter().filter(|node| node.kind().ends_with("identifier"));
        let mut used: BTreeSet<&str> = nodes.map(|node| tests.syntax.source(node)).collect();
        used.insert("Throwable");
        let others: BTreeSet<&str> =
            support.iter().flat_map(|support| types(support)).map(|found| found.name).collect();
        for name in defined.iter().filter(|name| used.contains(*name) && !others.contains(*name)) {
            all.extend(full_name(name, &packages));
        }
        Ok(all.iter().map(|import| format!("import {import}; ")).collect())
    }
}

/// The tests with another name for every type that the program defines too (`Main`).
fn renamed(tests: &str, defined: &BTreeSet<&str>, suffix: &str) -> Result<String, TestTextError> {
    let syntax = parsed(tests)?;
    let own: BTreeSet<&str> = types(&syntax).iter().map(|found| found.name).collect();
    let mut edits = Edits::of(tests);
    for node in syntax.nodes() {
        let name = syntax.source(node);
        if node.kind().ends_with("identifier") && own.contains(name) && defined.contains(name) {
            edits.insert(node.end_byte(), format!("_{suffix}"));
        }
    }
    Ok(edits.apply())
}

fn quoted(package: Option<&str>, name: &str) -> String {
    package.map_or_else(|| format!("\"{name}\""), |package| format!("\"{package}.{name}\""))
}

fn source(path: &str, text: String) -> SourceFile {
    SourceFile { path: path.to_owned(), text }
}

#[cfg(test)]
mod tests {
    use super::JavaHarness;
    use crate::languages::{Linked, LinkedHarness, Unit};

    fn unit(program: &str, preamble: Option<&str>, tests: &str) -> Unit {
        let linked = Linked { program, preamble, support: None, tests, assertions: &[], entry_point: Some("f") };
        JavaHarness.unit(&linked).unwrap()
    }

    fn tests(unit: &Unit) -> &str {
        &unit.files.iter().find(|file| file.path.starts_with("tests/")).unwrap().text
    }

    const TESTS: &str = "public class Main {\n  static void main(String[] a) { assert Objects.equals(Main.n(), f(1)); }\n  \
                         static int n() { return 1; } }\n";

    #[test]
    fn names_that_the_program_takes_are_left_to_it() {
        let program = "package p;\npublic class Main { static void main(String[] a) {} }\nclass Objects {}\n";
        let unit = unit(program, Some("import java.util.*;\nclass Solution {\n  int f("), TESTS);
        assert_eq!(unit.program_file, "program/Main.java");
        let suffix = unit.entry.trim_start_matches("@rolecall_").to_owned();
        let path = format!("tests/Main_{suffix}.java");
        assert!(unit.files.iter().any(|file| file.path == path), "{:?}", unit.files);
        let head = format!("package p; import java.util.*; import java.util.Objects; public class Main_{suffix} {{");
        assert_eq!(tests(&unit).lines().next(), Some(head.as_str()));
        assert!(tests(&unit).contains(&format!("Main_{suffix}.n()")));
        let judge = &unit.files[0].text;
        assert!(judge.contains(&format!("{{\"p.Main_{suffix}#main\"}}")), "{judge}");
    }

    #[test]
    fn tests_see_what_the_prompt_imports() {
        let first = |preamble| tests(&unit("class Solution {}", preamble, TESTS)).lines().next().unwrap().to_owned();
        assert_eq!(first(None), "import java.util.*; public class Main {");
        assert_eq!(first(Some("import java.io.File;")), "import java.io.File; public class Main {");
    }
}
