use std::path::Path;

use super::{exits, harness::RustHarness, test_text::TestText};
use crate::{
    domain::{Assertion, Language, Limits},
    languages::{BoxCommand, Preparation, Recipe, SourceFile, TestTextError, Testing, Toolchain, Tools, Unit, Wanted},
};

/// The file that holds the candidate.
pub(super) const PROGRAM_FILE: &str = "program.rs";

/// Crates that programs may use where they could be built: those of well-known test sets.
const CRATES: &[&str] = &["md5", "rand", "regex"];
const CRATES_MANIFEST: &str = include_str!("../harness/rust/crates.toml");

/// As `cargo test` builds, without what only debuggers read. Optimising test code costs more than it saves; a whole program
/// may compute for long.
const FLAGS: &[&str] = &[
    "--edition=2021",
    "--crate-name=program",
    "--crate-type=bin",
    "--cap-lints=allow",
    "--color=never",
    "-Ccodegen-units=1",
    "-Coverflow-checks=on",
    "-Cdebug-assertions=on",
    "-Cdebuginfo=0",
];

/// Rust 2021.
pub(in crate::languages) struct Rust;

impl Toolchain for Rust {
    fn language(&self) -> Language {
        Language::Rust
    }

    fn fence_words(&self) -> &'static [&'static str] {
        &["rust", "rs"]
    }

    fn limits(&self) -> Limits {
        Limits { test_cpu_ms: 2_000, ..Limits::default() }
    }

    fn wanted(&self) -> &'static [Wanted] {
        &[
            Wanted {
                name: "rustc",
                variable: "ROLECALL_RUSTC",
                version: &["--version"],
                resolve: &["rustup", "which", "rustc"],
                levels: 2,
                hint: "install Rust 1.66 or later",
            },
            Wanted {
                name: "cc",
                variable: "ROLECALL_CC",
                version: &["--version"],
                resolve: &[],
                levels: 1,
                hint: "install a C compiler, with which Rust links",
            },
        ]
    }

    /// Libraries that a program may name; it fails on a machine that cannot fetch them, where all other programs run.
    fn preparation(&self, tools: &Tools) -> Option<Preparation> {
        let version = tools.versions.get("rustc").map_or("", String::as_str);
        // Cargo lies beside the compiler, or there are no libraries.
        let cargo = Path::new(&tools.program("rustc")).with_file_name("cargo");
        let command = [&*cargo.to_string_lossy(), "build", "--release", "--quiet"].map(str::to_owned).to_vec();
        Some(Preparation {
            key: format!("{version}\n{}\n{CRATES_MANIFEST}", command.join(" ")),
            files: vec![
                SourceFile { path: "Cargo.toml".to_owned(), text: CRATES_MANIFEST.to_owned() },
                SourceFile { path: "src/lib.rs".to_owned(), text: String::new() },
            ],
            commands: vec![command],
            env: [("RUSTC", &*tools.program("rustc")), ("CARGO_NET_RETRY", "0"), ("CARGO_HTTP_TIMEOUT", "20")]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .to_vec(),
            optional: true,
        })
    }

    fn testing(&self) -> Testing<'_> {
        Testing::Linked(&RustHarness)
    }

    fn program(&self, text: &str) -> Unit {
        Unit::of_one(PROGRAM_FILE, text)
    }

    fn recipe(&self, unit: &Unit, tools: &Tools) -> Recipe {
        let mut argv = vec![tools.program("rustc")];
        argv.extend(FLAGS.iter().map(|flag| (*flag).to_owned()));
        // The compiler looks for its libraries beside the file that /proc says it is; a box has no /proc.
        let mut env = Vec::new();
        if let Some(root) = tools.programs.get("rustc").and_then(|path| path.ancestors().nth(2)) {
            argv.push(format!("--sysroot={}", root.to_string_lossy()));
            env.push(("LD_LIBRARY_PATH".to_owned(), root.join("lib").to_string_lossy().into_owned()));
        }
        let is_whole = unit.files.len() == 1;
        argv.push(format!("-Copt-level={}", u8::from(is_whole)));
        argv.push(format!("-Clinker={}", tools.program("cc")));
        let named: Vec<_> =
            CRATES.iter().filter(|name| unit.files.iter().any(|file| names_crate(&file.text, name))).collect();
        if let Some(prepared) = &tools.prepared
            && !named.is_empty()
        {
            argv.push(format!("-Ldependency={}", prepared.join("target/release/deps").to_string_lossy()));
            argv.push(format!("-Lcrate={}", prepared.join("target/release/deps").to_string_lossy()));
        }
        for name in named {
            argv.push(match &tools.prepared {
                Some(_) => format!("--extern={name}"),
                // The harness turns it into an error that says why.
                None => format!("--cfg=rolecall_missing_{name}"),
            });
        }
        argv.extend([&unit.entry, "-o", "program"].map(str::to_owned));
        let command =
            |argv, env| BoxCommand { argv, env, bounded_addresses: true, deep_stack: true, ..BoxCommand::default() };
        Recipe {
            compile: Some(command(argv, env)),
            keep: vec!["program".to_owned()],
            run: command(vec!["./program".to_owned()], Vec::new()),
        }
    }

    fn nothing(&self) -> &'static str {
        "()"
    }

    fn assertions(&self, tests: &str) -> Result<Vec<Assertion>, TestTextError> {
        TestText::parse(tests)?.assertions()
    }

    fn exits(&self, program: &str) -> Vec<Assertion> {
        exits::exits(program)
    }
}

/// Whether a text uses a crate: a path that begins with it, or a `use` or `extern crate` of it.
fn names_crate(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_';
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        let is_word = !before.ends_with(is_letter) && !after.starts_with(is_letter);
        let before = before.trim_end();
        is_word && (after.starts_with("::") || before.ends_with("use") || before.ends_with("crate"))
    })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::{Rust, names_crate};
    use crate::languages::{Linked, LinkedHarness, Testing, Toolchain, Tools};

    #[test]
    fn crates_are_given_to_programs_that_name_them_only() {
        assert!(names_crate("use rand::Rng;", "rand") && names_crate("let d = md5::compute(b);", "md5"));
        assert!(names_crate("extern crate rand;", "rand") && names_crate("use md5;", "md5"));
        assert!(!names_crate("fn rand() {} // operand::x, rand_core::y", "rand"));
        let arguments = |prepared: Option<&str>| {
            let tools = Tools { prepared: prepared.map(PathBuf::from), ..Tools::default() };
            Rust.recipe(&Rust.program("use regex::Regex;\nfn main() {}\n"), &tools).compile.unwrap().argv
        };
        let with = arguments(Some("/p"));
        assert!(with.contains(&"--extern=regex".to_owned()) && !with.contains(&"--extern=rand".to_owned()));
        assert!(arguments(None).contains(&"--cfg=rolecall_missing_regex".to_owned()));
    }

    #[test]
    fn no_crate_is_needed_for_a_program_that_names_none() {
        let tests = "#[test] fn t() { assert_eq!(f(), 1); }";
        let linked =
            Linked { program: "fn f() {}", preamble: None, support: None, tests, assertions: &[], entry_point: None };
        let Testing::Linked(harness) = Rust.testing() else { panic!("not linked") };
        let unit = LinkedHarness::unit(harness, &linked).unwrap();
        let arguments = Rust.recipe(&unit, &Tools::default()).compile.unwrap().argv;
        assert!(arguments.iter().all(|argument| !argument.contains("missing") && !argument.contains("extern")));
    }
}
