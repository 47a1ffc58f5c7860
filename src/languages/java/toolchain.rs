use std::path::{Path, PathBuf};

use super::{exits, harness::JavaHarness, sources, test_text::TestText};
use crate::{
    domain::{Assertion, Language, Limits},
    languages::{
        BoxCommand, Preparation, Recipe, Resident, SourceFile, TestTextError, Testing, Toolchain, Tools, Unit, Wanted,
    },
};

/// Where the compiler puts classes.
const CLASSES: &str = "classes";

/// What the entry of a unit that is linked with its tests begins with; its harness' package follows.
pub(super) const LINKED_ENTRY: char = '@';

/// The compiler that stays, and parts of the harness that are the same for every program.
const PREPARED: &[(&str, &str)] = &[
    ("Compiler.java", include_str!("../harness/java/Compiler.java")),
    ("Launcher.java", include_str!("../harness/java/Launcher.java")),
    ("ProgramLoader.java", include_str!("../harness/java/ProgramLoader.java")),
    ("Seal.java", include_str!("../harness/java/Seal.java")),
    ("Starter.java", include_str!("../harness/java/Starter.java")),
    ("Values.java", include_str!("../harness/java/Values.java")),
];

/// Classes of the compiler as it has them in memory, so that it starts faster.
const COMPILER_ARCHIVE: &str = "javac.jsa";

/// Flags of every machine: short programs on few cores, where text is UTF-8 and nothing is left in /tmp.
const MACHINE: &[&str] = &[
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Xshare:auto",
    "-XX:-UsePerfData",
    "-Dfile.encoding=UTF-8",
    "-Dstdout.encoding=UTF-8",
    "-Dstderr.encoding=UTF-8",
];

/// Options of the compiler.
const OPTIONS: &[&str] = &["-encoding", "UTF-8", "-proc:none", "-nowarn", "-XDignore.symbol.file"];

/// Heap of a program, in MiB: the limit of memory less what the machine itself, its code and stacks need.
const HEAP_MIB: u64 = 640;

/// What the machine sets aside for stacks and heap, used or not.
const SET_ASIDE_BYTES: u64 = 1 << 30;

/// Java 17 or later.
pub(in crate::languages) struct Java;

impl Toolchain for Java {
    fn language(&self) -> Language {
        Language::Java
    }

    fn fence_words(&self) -> &'static [&'static str] {
        &["java", "jdk"]
    }

    fn limits(&self) -> Limits {
        Limits { test_cpu_ms: 2_000, memory_bytes: 1 << 30, processes: 256, ..Limits::default() }
    }

    fn wanted(&self) -> &'static [Wanted] {
        const HINT: &str = "install a JDK of version 17 or later";
        &[
            Wanted {
                name: "java",
                variable: "ROLECALL_JAVA",
                version: &["-version"],
                resolve: &[],
                levels: 2,
                hint: HINT,
            },
            Wanted {
                name: "javac",
                variable: "ROLECALL_JAVAC",
                version: &["-version"],
                resolve: &[],
                levels: 2,
                hint: HINT,
            },
        ]
    }

    fn beside(&self, tools: &Tools) -> Vec<PathBuf> {
        // Debian keeps the configuration, without which no machine starts, below /etc.
        let inside = home(tools).join("conf/security/java.security");
        let outside = std::fs::canonicalize(&inside).ok().filter(|path| *path != inside);
        outside.iter().filter_map(|path| path.ancestors().nth(2)).map(Path::to_path_buf).collect()
    }

    fn preparation(&self, tools: &Tools) -> Option<Preparation> {
        let version = tools.versions.get("javac").map_or("", String::as_str);
        let files: Vec<SourceFile> = PREPARED
            .iter()
            .map(|(path, text)| SourceFile { path: (*path).to_owned(), text: (*text).to_owned() })
            .collect();
        let names: Vec<String> = files.iter().map(|file| file.path.clone()).collect();
        let command = |archive: String, directory: &str| {
            let mut command = compiler(tools, &[archive]);
            command.extend(["-d".to_owned(), directory.to_owned()]);
            command.extend(names.clone());
            command
        };
        let commands = vec![
            command("-J-Xshare:auto".to_owned(), "."),
            command(format!("-J-XX:ArchiveClassesAtExit={COMPILER_ARCHIVE}"), "again"),
        ];
        let texts: String = files.iter().map(|file| file.text.as_str()).collect();
        Some(Preparation {
            key: format!("{version}\n{commands:?}\n{texts}"),
            files,
            commands,
            ..Preparation::default()
        })
    }

    fn resident(&self, tools: &Tools) -> Option<Resident> {
        let path = tools.prepared.as_ref()?.to_string_lossy().into_owned();
        let mut argv = vec![tools.program("java")];
        argv.extend(MACHINE.iter().map(|flag| (*flag).to_owned()));
        argv.extend([format!("-Xmx{HEAP_MIB}m"), "-cp".to_owned(), path.clone(), "rolecall.Compiler".to_owned()]);
        argv.extend(OPTIONS.iter().map(|option| (*option).to_owned()));
        argv.extend(["-cp".to_owned(), path]);
        Some(Resident { command: command(tools, argv), directory: CLASSES.to_owned(), units: 200 })
    }

    fn testing(&self) -> Testing<'_> {
        Testing::Linked(&JavaHarness)
    }

    fn program(&self, text: &str) -> Unit {
        let (path, entry) = sources::parsed(text).map_or_else(
            |_| ("Main.java".to_owned(), "Main".to_owned()),
            |syntax| (sources::file_name(&syntax), sources::main_class(&syntax)),
        );
        let files = vec![SourceFile { path: path.clone(), text: text.to_owned() }];
        Unit { files, entry, program_file: path }
    }

    fn recipe(&self, unit: &Unit, tools: &Tools) -> Recipe {
        let prepared = tools.prepared.clone().unwrap_or_default();
        let archive = format!("-J-XX:SharedArchiveFile={}", prepared.join(COMPILER_ARCHIVE).to_string_lossy());
        let mut compile = compiler(tools, &[archive]);
        compile.extend(["-d".to_owned(), CLASSES.to_owned()]);
        let mut run = vec![tools.program("java")];
        run.extend(MACHINE.iter().map(|flag| (*flag).to_owned()));
        run.push(format!("-Xmx{HEAP_MIB}m"));
        let path = prepared.to_string_lossy().into_owned();
        if let Some(harness) = unit.entry.strip_prefix(LINKED_ENTRY) {
            compile.extend(["-cp".to_owned(), path.clone()]);
            run.extend(["-cp", &path, "rolecall.Launcher", CLASSES, harness].map(str::to_owned));
        } else {
            run.extend(["-cp", &format!("{path}:{CLASSES}"), "rolecall.Starter", &unit.entry].map(str::to_owned));
        }
        compile.extend(unit.files.iter().map(|file| file.path.clone()));
        let command = |argv| command(tools, argv);
        Recipe { compile: Some(command(compile)), keep: vec![CLASSES.to_owned()], run: command(run) }
    }

    fn nothing(&self) -> &'static str {
        ";"
    }

    fn assertions(&self, tests: &str) -> Result<Vec<Assertion>, TestTextError> {
        Ok(TestText::parse(tests)?.assertions())
    }

    fn exits(&self, program: &str) -> Vec<Assertion> {
        exits::exits(program)
    }
}

/// A command of the machine. Where there is no /proc, it does not find its own libraries unless told where they are.
fn command(tools: &Tools, argv: Vec<String>) -> BoxCommand {
    let libraries = home(tools).join("lib").to_string_lossy().into_owned();
    let env = vec![("LD_LIBRARY_PATH".to_owned(), libraries)];
    BoxCommand { argv, env, least_data_bytes: SET_ASIDE_BYTES, ..BoxCommand::default() }
}

/// A call of the compiler, but for where classes go and which files there are.
fn compiler(tools: &Tools, more: &[String]) -> Vec<String> {
    let mut argv = vec![tools.program("javac")];
    argv.extend(MACHINE.iter().map(|flag| format!("-J{flag}")));
    argv.extend_from_slice(more);
    argv.extend(OPTIONS.iter().map(|option| (*option).to_owned()));
    argv
}

/// Where the JDK is installed.
fn home(tools: &Tools) -> PathBuf {
    let java = PathBuf::from(tools.program("java"));
    java.ancestors().nth(2).unwrap_or(Path::new("/")).to_path_buf()
}
