//! Which file a command is about, what is said of a damaged one, and how pages are shown.

use std::{
    fs::File,
    io::{BufReader, IsTerminal},
    path::{Path, PathBuf},
};

use owo_colors::{OwoColorize, Stream};

use super::args::Below;
use crate::{
    cli::{
        exit::{Exit, Failure},
        terminal,
    },
    domain::open_regular_file,
    telemetry::{BadLine, Look, look_up},
};

/// How many damaged lines are named.
const NAMED: usize = 20;

/// The file that a word of the command line names.
///
/// # Errors
/// Where it names none, or several.
pub fn find(word: &str, below: &Below) -> Result<PathBuf, Failure> {
    look_up(word, &below.traces).map_err(Failure::usage)
}

/// Opens a file to be read from its beginning.
///
/// # Errors
/// Where it cannot be opened, or is none.
pub fn open(file: &Path) -> Result<BufReader<File>, Failure> {
    open_regular_file(file).map(BufReader::new).map_err(|error| unreadable(file, &error))
}

/// A file that cannot be read.
pub fn unreadable(file: &Path, error: &std::io::Error) -> Failure {
    Failure::usage(format!("{}: {error}", file.display()))
}

/// All damaged lines of a file, each located; `None` where there are none. Lines one after the other that are damaged in the
/// same way, as in a file of another kind, are told at once.
pub fn damage(file: &Path, bad: &[BadLine]) -> Option<String> {
    let alike: Vec<&[BadLine]> = bad.chunk_by(|a, b| a.reason == b.reason && b.line == a.line + 1).collect();
    let told = |these: &&[BadLine]| match these {
        [first, .., last] => format!("{}:{}-{}: {}", file.display(), first.line, last.line, first.reason),
        [one] => format!("{}:{one}", file.display()),
        [] => String::new(),
    };
    let mut lines: Vec<String> = alike.iter().take(NAMED).map(told).collect();
    if alike.len() > NAMED {
        let more: usize = alike[NAMED..].iter().map(|these| these.len()).sum();
        lines.push(format!("{}: and {more} more like these", file.display()));
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// How a command ends that has printed what could be read: damage is said, and told by the exit code.
///
/// # Errors
/// Where there is damage.
pub fn ended(file: &Path, bad: &[BadLine]) -> Result<Exit, Failure> {
    damage(file, bad).map_or(Ok(Exit::Ended), |words| Err(Failure::usage(words)))
}

/// Refuses a file that holds nothing which can be read.
///
/// # Errors
/// Where `is_empty`.
pub fn refuse_empty(file: &Path, is_empty: bool, bad: &[BadLine]) -> Result<(), Failure> {
    if is_empty { Err(Failure::usage(no_span(file, bad))) } else { Ok(()) }
}

/// What is said of a file without a span: what is damaged, or in short where nothing of it is of a trace.
pub fn no_span(file: &Path, bad: &[BadLine]) -> String {
    let file_name = file.display();
    match bad {
        [] => format!("{file_name}: the file holds no span"),
        [first, ..] if bad.len() > NAMED => {
            format!("{file_name}: no trace file: none of its {} lines can be read; line {first}", bad.len())
        }
        _ => damage(file, bad).unwrap_or_default(),
    }
}

/// Prints a page.
pub fn print(page: &str) {
    terminal::painted(page.trim_end());
}

/// As stdout wants it: coloured on a terminal, unless the environment says otherwise, and as wide as that is.
pub fn look() -> Look {
    let is_terminal = std::io::stdout().is_terminal();
    let size = terminal_size::terminal_size_of(std::io::stdout());
    Look {
        // The crate tells by what it prints.
        colour: "x".if_supports_color(Stream::Stdout, |text| text.bold()).to_string() != "x",
        width: size.filter(|_| is_terminal).map(|(width, _)| usize::from(width.0)),
    }
}
