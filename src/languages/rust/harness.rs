use super::{preamble, program, test_text::TestText, toolchain::PROGRAM_FILE};
use crate::{
    domain::Language,
    languages::{Linked, LinkedHarness, SourceFile, TestTextError, Unit, edits::suffix, syntax::Syntax},
};

/// One crate: the program, with the harness and the tests in modules whose names it cannot know.
pub(super) struct RustHarness;

impl LinkedHarness for RustHarness {
    fn unit(&self, linked: &Linked<'_>) -> Result<Unit, TestTextError> {
        let parsed = |text| Syntax::parse(Language::Rust, tree_sitter_rust::LANGUAGE, text);
        let suffix = suffix(linked);
        let tests = TestText::parse(linked.tests)?;
        let whole = parsed(linked.program)?;
        let mut own = program::derived(&whole, &tests);
        if let Some(support) = linked.support {
            own.extend(preamble::names(&parsed(support)?).into_iter().map(str::to_owned));
        }
        let own: Vec<String> = own.iter().map(|name| format!("{name:?}")).collect();
        let harness = [include_str!("../harness/rust/harness.rs"), include_str!("../harness/rust/change.rs")].concat();
        let harness = harness
            .replace("SUFFIX", &suffix)
            .replace("OWN_TYPES", &own.join(", "))
            .replace("COUNT", &linked.assertions.len().to_string());
        let imports = match linked.preamble {
            Some(text) => preamble::lacking(&parsed(text)?, &whole),
            None => String::new(),
        };
        let module =
            |path: &str, name: &str| format!("#[path = \"{path}_{suffix}.rs\"] pub mod rolecall_{name}{suffix}; ");
        let modules = module("harness", "") + &module("preamble", "preamble_");
        let imports = format!("{imports}\nuse super::*; {}\n", module("tests", "tests_"));
        let file = |name: &str, text| SourceFile { path: format!("{name}_{suffix}.rs"), text };
        let root = program::root(linked.program, linked.support, &modules);
        Ok(Unit {
            files: vec![
                SourceFile { path: PROGRAM_FILE.to_owned(), text: root },
                file("harness", harness),
                file("preamble", imports),
                file("tests", tests.rewritten(&suffix, linked.entry_point)?),
            ],
            entry: PROGRAM_FILE.to_owned(),
            program_file: PROGRAM_FILE.to_owned(),
        })
    }
}
