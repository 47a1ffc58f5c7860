use super::{
    BoxCommand, Recipe, TestTextError, Testing, Toolchain, Tools, Unit, Wanted,
    syntax::{Syntax, named_children},
};
use crate::domain::{Assertion, Language};

/// `PYTHONHASHSEED` of every interpreter: sets of texts have one order, in candidates and in tests. Part of every record.
pub const PYTHON_HASH_SEED: u32 = 0;

/// CPython 3, whose candidates are forked from a warm interpreter.
pub(super) struct Python;

impl Toolchain for Python {
    fn language(&self) -> Language {
        Language::Python
    }

    fn fence_words(&self) -> &'static [&'static str] {
        &["python", "py", "ipython", "cpython"]
    }

    fn wanted(&self) -> &'static [Wanted] {
        &[Wanted {
            name: "python3",
            variable: "ROLECALL_PYTHON",
            version: &["--version"],
            resolve: &["python3", "-c", "import sys; print(sys.executable)"],
            levels: 2,
            hint: "install Python 3.8 or later",
        }]
    }

    fn testing(&self) -> Testing<'_> {
        Testing::Forked
    }

    fn has_profiles(&self) -> bool {
        true
    }

    fn program(&self, text: &str) -> Unit {
        Unit::of_one("program.py", text)
    }

    fn recipe(&self, unit: &Unit, tools: &Tools) -> Recipe {
        let argv = vec![tools.program("python3"), unit.entry.clone()];
        let env = vec![("PYTHONHASHSEED".to_owned(), PYTHON_HASH_SEED.to_string())];
        Recipe { run: BoxCommand { argv, env, bounded_addresses: true, ..BoxCommand::default() }, ..Recipe::default() }
    }

    fn nothing(&self) -> &'static str {
        "pass"
    }

    fn assertions(&self, tests: &str) -> Result<Vec<Assertion>, TestTextError> {
        let syntax = Syntax::of_valid(Language::Python, tree_sitter_python::LANGUAGE, tests)?;
        // The grammar takes an indented text for a program; Python does not.
        let first = named_children(syntax.root()).into_iter().find(|node| node.kind() != "comment");
        if let Some(first) = first.filter(|node| node.start_position().column > 0) {
            return Err(TestTextError::at(first, "unexpected indentation"));
        }
        let nodes = syntax.nodes().into_iter();
        Ok(nodes.filter(|node| node.kind() == "assert_statement").map(|node| syntax.listed(node)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::Python;
    use crate::languages::Toolchain;

    #[test]
    fn a_text_that_begins_indented_is_no_program() {
        let error = Python.assertions("# why\n    assert f(1) == 1\n").unwrap_err();
        assert_eq!((error.line, error.column, error.problem.as_str()), (2, 5, "unexpected indentation"));
        assert_eq!(Python.assertions("\n# why\nassert f(1) == 1\n").unwrap().len(), 1);
    }
}
