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

/// All damaged lines of a file, each located; `None` where there are none.
pub fn damage(file: &Path, bad: &[BadLine]) -> Option<String> {
    let mut lines: Vec<String> = bad.iter().take(NAMED).map(|one| format!("{}:{one}", file.display())).collect();
    if bad.len() > NAMED {
        lines.push(format!("{}: and {} more like these", file.display(), bad.len() - NAMED));
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
    if is_empty {
        let words = damage(file, bad).unwrap_or_else(|| format!("{}:1: the file holds no span", file.display()));
        return Err(Failure::usage(words));
    }
    Ok(())
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
