use serde_json::Value;

use super::suite::{Suite, asserting};
use crate::domain::{Assertion, Language, Limits};
use crate::languages::{
    BoxCommand, Preparation, Recipe, SourceFile, TestTextError, Testing, Toolchain, Tools, Unit, Wanted,
    syntax::{Syntax, named_children},
};

/// What the machine sets aside for stacks and heap, used or not.
const SET_ASIDE_BYTES: u64 = 512 << 20;

/// The candidate's server.
const CANDIDATE: &str = concat!(
    include_str!("../harness/javascript/codec.js"),
    include_str!("../harness/javascript/reader.js"),
    include_str!("../harness/javascript/candidate.js"),
);

/// The tests' server.
const TESTS: &str = concat!(
    include_str!("../harness/javascript/codec.js"),
    include_str!("../harness/javascript/reader.js"),
    include_str!("../harness/javascript/tester.js"),
    include_str!("../harness/javascript/remote.js"),
);

/// What stands for the one package of npm that a public data set asks for.
const MD5: &str = include_str!("../harness/javascript/js-md5.js");

/// How Node.js is started: a heap that leaves room for the rest in 512 MiB, the stack that a box grants (64 MiB, less
/// what the system takes of it), the same random numbers and orders every time, and nothing said but errors.
const FLAGS: &[&str] =
    &["--max-old-space-size=384", "--stack-size=60000", "--random-seed=1", "--hash-seed=1", "--no-warnings"];

/// JavaScript as Node.js runs it; candidate and tests in two processes.
pub(in crate::languages) struct JavaScript;

impl Toolchain for JavaScript {
    fn language(&self) -> Language {
        Language::JavaScript
    }

    fn fence_words(&self) -> &'static [&'static str] {
        &["javascript", "js", "node", "nodejs", "node.js", "mjs", "cjs", "jsx", "ecmascript"]
    }

    fn limits(&self) -> Limits {
        Limits { processes: 256, ..Limits::default() } // A bare process has eleven threads.
    }

    fn wanted(&self) -> &'static [Wanted] {
        &[Wanted {
            name: "node",
            variable: "ROLECALL_NODE",
            version: &["--version"],
            resolve: &[],
            levels: 2,
            hint: "install Node.js 18 or later",
        }]
    }

    fn preparation(&self, _: &Tools) -> Option<Preparation> {
        let files = vec![SourceFile { path: "js-md5/index.js".to_owned(), text: MD5.to_owned() }];
        Some(Preparation { key: MD5.to_owned(), files, ..Preparation::default() })
    }

    fn testing(&self) -> Testing<'_> {
        Testing::Split { candidate: CANDIDATE, tests: TESTS }
    }

    fn program(&self, text: &str) -> Unit {
        Unit::of_one(if is_module(text) { "program.mjs" } else { "program.js" }, text)
    }

    fn recipe(&self, unit: &Unit, tools: &Tools) -> Recipe {
        let mut argv = vec![tools.program("node")];
        argv.extend(FLAGS.iter().map(|flag| (*flag).to_owned()));
        argv.push(unit.entry.clone());
        let modules = tools.prepared.as_ref().map(|path| ("NODE_PATH".to_owned(), path.to_string_lossy().into_owned()));
        let env = modules.into_iter().collect();
        let run = BoxCommand { argv, env, least_data_bytes: SET_ASIDE_BYTES, ..BoxCommand::default() };
        Recipe { run, ..Recipe::default() }
    }

    fn nothing(&self) -> &'static str {
        "void 0"
    }

    fn assertions(&self, tests: &str) -> Result<Vec<Assertion>, TestTextError> {
        let syntax = parse(tests)?;
        Ok(asserting(&syntax).into_iter().map(|node| syntax.listed(node)).collect())
    }

    fn suite(&self, tests: &str) -> Result<Value, TestTextError> {
        Ok(Suite::new(&parse(tests)?)?.request())
    }
}

/// Whether a program imports or exports as only a module can: Node.js goes by the file's name.
fn is_module(text: &str) -> bool {
    let syntax = Syntax::parse(Language::JavaScript, tree_sitter_javascript::LANGUAGE, text);
    syntax.is_ok_and(|syntax| {
        let statements = named_children(syntax.root());
        statements.iter().any(|node| matches!(node.kind(), "import_statement" | "export_statement"))
    })
}

fn parse(tests: &str) -> Result<Syntax<'_>, TestTextError> {
    Syntax::of_valid(Language::JavaScript, tree_sitter_javascript::LANGUAGE, tests)
}
