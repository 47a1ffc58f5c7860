use std::path::Path;

use super::{exits, harness::GoHarness, sources, test_text::TestText};
use crate::{
    domain::{Assertion, Language, Limits},
    languages::{BoxCommand, Preparation, Recipe, TestTextError, Testing, Toolchain, Tools, Unit, Wanted},
};

/// The file that holds the candidate.
pub(super) const PROGRAM_FILE: &str = "program.go";

/// Where the compiler finds packages: a file in the prepared directory.
const IMPORTS_FILE: &str = "importcfg";

/// Compiles every package of the standard library and writes down where its archives are.
const PREPARE: &str = "GOCACHE=\"$PWD/cache\" \"$0\" list -export -deps -f '{{if .Export}}packagefile {{.ImportPath}}={{.Export}}{{end}}' std \
                       > importcfg";

/// Compiles and links: `$0` compiler, `$1` linker, `$2` where packages are, then the files.
const BUILD: &str = "compile=$0 link=$1 packages=$2; shift 2; \
                     \"$compile\" -o program.a -p main -importcfg \"$packages\" -pack -complete -trimpath \"$PWD\" \"$@\" \
                     && exec \"$link\" -importcfg \"$packages\" -buildmode=exe -s -w -o program program.a";

/// Go.
pub(in crate::languages) struct Go;

impl Toolchain for Go {
    fn language(&self) -> Language {
        Language::Go
    }

    fn fence_words(&self) -> &'static [&'static str] {
        &["go", "golang"]
    }

    fn limits(&self) -> Limits {
        Limits { test_cpu_ms: 2_000, processes: 256, ..Limits::default() }
    }

    fn wanted(&self) -> &'static [Wanted] {
        &[Wanted {
            name: "go",
            variable: "ROLECALL_GO",
            version: &["version"],
            resolve: &[],
            levels: 2,
            hint: "install Go 1.21 or later",
        }]
    }

    fn preparation(&self, tools: &Tools) -> Option<Preparation> {
        let version = tools.versions.get("go").map_or("", String::as_str);
        let command = ["/bin/sh", "-c", PREPARE, &tools.program("go")].map(str::to_owned).to_vec();
        let variables = [("CGO_ENABLED", "0"), ("GO111MODULE", "off"), ("GOFLAGS", ""), ("GOTOOLCHAIN", "local")];
        Some(Preparation {
            key: format!("{version}\n{}", command.join(" ")),
            files: Vec::new(),
            commands: vec![command],
            env: variables.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
            optional: false,
        })
    }

    fn testing(&self) -> Testing<'_> {
        Testing::Linked(&GoHarness)
    }

    fn program(&self, text: &str) -> Unit {
        Unit::of_one(PROGRAM_FILE, sources::whole_program(text))
    }

    fn recipe(&self, unit: &Unit, tools: &Tools) -> Recipe {
        let tool = |name: &str| tool_directory(&tools.program("go")).join(name).to_string_lossy().into_owned();
        let prepared = tools.prepared.clone().unwrap_or_default();
        let packages = prepared.join(IMPORTS_FILE).to_string_lossy().into_owned();
        let mut argv: Vec<String> = ["/bin/sh", "-c", BUILD].map(str::to_owned).to_vec();
        argv.extend([tool("compile"), tool("link"), packages]);
        argv.extend(unit.files.iter().map(|file| file.path.clone()));
        let command = |argv| BoxCommand { argv, ..BoxCommand::default() };
        Recipe {
            compile: Some(command(argv)),
            keep: vec!["program".to_owned()],
            run: command(vec!["./program".to_owned()]),
        }
    }

    fn nothing(&self) -> &'static str {
        ""
    }

    fn assertions(&self, tests: &str) -> Result<Vec<Assertion>, TestTextError> {
        Ok(TestText::parse(tests)?.assertions())
    }

    fn exits(&self, program: &str) -> Vec<Assertion> {
        exits::exits(program)
    }
}

/// Where an installation keeps its compiler and linker, from the path of its `go`.
fn tool_directory(go: &str) -> std::path::PathBuf {
    let system = if cfg!(target_os = "macos") { "darwin" } else { "linux" };
    let machine = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    let root = Path::new(go).parent().and_then(Path::parent).unwrap_or(Path::new("/usr/local/go"));
    root.join("pkg/tool").join(format!("{system}_{machine}"))
}
