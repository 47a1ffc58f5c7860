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

/// As `cargo test` builds, without what only debuggers read.
const FLAGS: &[&str] = &[
    "--edition=2021",
    "--crate-name=program",
    "--crate-type=bin",
    "--cap-lints=allow",
    "--color=never",
    "-Copt-level=0",
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
                name: "cargo",
                variable: "ROLECALL_CARGO",
                version: &["--version"],
                resolve: &["rustup", "which", "cargo"],
                levels: 2,
                hint: "install Cargo, which comes with Rust",
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
        let command = [&tools.program("cargo"), "build", "--release", "--quiet"].map(str::to_owned).to_vec();
        Some(Preparation {
            key: format!("{version}\n{}\n{CRATES_MANIFEST}", command.join(" ")),
            files: vec![
                SourceFile { path: "Cargo.toml".to_owned(), text: CRATES_MANIFEST.to_owned() },
                SourceFile { path: "src/lib.rs".to_owned(), text: String::new() },
            ],
            commands: vec![command],
            env: vec![("RUSTC".to_owned(), tools.program("rustc"))],
        })
    }

    fn testing(&self) -> Testing<'_> {
        Testing::Linked(&RustHarness)
    }

    fn program(&self, text: &str) -> Unit {
        let path = PROGRAM_FILE.to_owned();
        let files = vec![SourceFile { path: path.clone(), text: text.to_owned() }];
        Unit { files, entry: path.clone(), program_file: path }
    }

    fn recipe(&self, unit: &Unit, tools: &Tools) -> Recipe {
        let mut argv = vec![tools.program("rustc")];
        argv.extend(FLAGS.iter().map(|flag| (*flag).to_owned()));
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
        let command = |argv| BoxCommand { argv, bounded_addresses: true, deep_stack: true, ..BoxCommand::default() };
        Recipe {
            compile: Some(command(argv)),
            keep: vec!["program".to_owned()],
            run: command(vec!["./program".to_owned()]),
        }
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
