use std::{collections::BTreeMap, path::PathBuf};

/// A tool that a language needs, and how to find out which program it is.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// Its name on the path (`g++`), which is also its key in [`Tools::programs`].
    pub name: &'static str,
    /// An environment variable that names another one (`ROLECALL_CPP`).
    pub variable: &'static str,
    /// Arguments that make it (or what [`Wanted::resolve`] gave) say its version on stdout or stderr.
    pub version: &'static [&'static str],
    /// A command whose one line of output is the tool's true path, where the one on the path may be a shim
    /// (`rustup which rustc`). Empty: symbolic links are followed.
    pub resolve: &'static [&'static str],
    /// How many directories above the program's true path the installation begins; all of it is readable in the box
    /// (1: the directory that holds it, 2: `/opt/go` for `/opt/go/bin/go`). What lies below /usr is readable anyway.
    pub levels: usize,
    /// How to get it, for people.
    pub hint: &'static str,
}

/// The tools of a language as found on this machine.
#[derive(Clone, Debug, Default)]
pub struct Tools {
    /// True path of each wanted tool by its name. It is the same inside the box.
    pub programs: BTreeMap<&'static str, PathBuf>,
    /// First line that each tool said of its version.
    pub versions: BTreeMap<&'static str, String>,
    /// Directories and files that the box shows, besides the system's.
    pub readable: Vec<PathBuf>,
    /// A directory of things built once for this toolchain (precompiled headers, libraries), readable in the box at the
    /// same path; absent where nothing could be prepared.
    pub prepared: Option<PathBuf>,
}

impl Tools {
    /// A tool's path as text for a command line.
    pub fn program(&self, name: &str) -> String {
        self.programs.get(name).map_or_else(|| name.to_owned(), |path| path.to_string_lossy().into_owned())
    }
}

/// A text file of a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// Its path in the working directory of the box: relative, without `..`.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// Files that are built and run as one program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unit {
    /// The files.
    pub files: Vec<SourceFile>,
    /// What the recipe needs to know of where the program starts (a Java class, a file), where it is not always the same.
    pub entry: String,
    /// Text for error reports: `file` in diagnostics of the compiler is the program itself (not a harness or tests).
    pub program_file: String,
}

impl Unit {
    /// A program that is one file, with which it starts.
    pub fn of_one(path: impl Into<String>, text: impl Into<String>) -> Self {
        let path = path.into();
        let files = vec![SourceFile { path: path.clone(), text: text.into() }];
        Self { files, entry: path.clone(), program_file: path }
    }
}

/// A command that runs in a box.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BoxCommand {
    /// Program (an absolute path, or one relative to the working directory that contains a `/`) and arguments.
    pub argv: Vec<String>,
    /// Variables besides PATH, HOME, TMPDIR, LANG, LC_ALL and TZ.
    pub env: Vec<(String, String)>,
    /// Whether a limit on address space may be set: not for runtimes that reserve more than they use.
    pub bounded_addresses: bool,
    /// The least limit on data, in bytes, below which the runtime does not start, since it sets more aside than it uses; what
    /// it really uses is bounded by the control group, or by who looks at it.
    pub least_data_bytes: u64,
    /// Whether the stack may grow as far as memory allows (C++, Rust); else 64 MiB.
    pub deep_stack: bool,
}

/// How a unit becomes a process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recipe {
    /// Builds it; absent for interpreted languages.
    pub compile: Option<BoxCommand>,
    /// Files and directories of the working directory that are kept of the build and given to each run, in place of the
    /// unit's own files. Empty where nothing is built.
    pub keep: Vec<String>,
    /// Runs it.
    pub run: BoxCommand,
}

/// A compiler that stays: one process that builds unit after unit, and runs nothing of them.
///
/// On its standard input it reads units, one after another:
///
/// ```text
/// unit FILES
/// PATH BYTES          (FILES times: this line, then as many bytes of text, no line end behind them)
/// ```
///
/// For each it writes on its standard output, before it reads the next:
///
/// ```text
/// unit ok|error|memory SAID FILES      (memory: there was none left for this unit)
///                     (SAID bytes: what the compiler said)
/// PATH BYTES          (FILES times: this line, then as many bytes of what was built)
/// ```
///
/// It ends at the end of its input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resident {
    /// Starts it, in the stead of [`Recipe::compile`]; for units that are linked with their tests and for others alike.
    pub command: BoxCommand,
    /// The directory of the working directory in which what was built belongs: what [`Recipe::keep`] names.
    pub directory: String,
    /// After how many units a new one is to be started.
    pub units: u32,
}

/// Things built once for a toolchain on this machine, from texts of our own (precompiled headers, libraries).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preparation {
    /// Changes with whatever the result depends on: versions, flags, texts.
    pub key: String,
    /// Files written into the directory before the commands run.
    pub files: Vec<SourceFile>,
    /// Commands run one after another in the directory, by their true paths; each may take minutes.
    pub commands: Vec<Vec<String>>,
    /// Variables of their environment, which holds nothing else but PATH and HOME.
    pub env: Vec<(String, String)>,
    /// Whether the toolchain works without it: then failing is no error, and is tried again another time.
    pub optional: bool,
}
