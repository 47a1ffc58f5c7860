//! Where words go: stdout is data, stderr is talk. The only file that prints.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "this is the place")]

use std::io::{self, IsTerminal, Write};

use serde::Serialize;

/// A line of data. A closed pipe is no error: whoever read it has seen enough.
pub fn data(text: &str) {
    let mut out = io::stdout().lock();
    let _ = writeln!(out, "{text}").and_then(|()| out.flush());
}

/// An object of data, on one line.
pub fn json(value: &impl Serialize) {
    match serde_json::to_string(value) {
        Ok(line) => data(&line),
        Err(error) => talk(&format!("cannot be written as JSON: {error}")),
    }
}

/// A line of talk.
pub fn talk(text: &str) {
    let mut err = io::stderr().lock();
    let _ = writeln!(err, "{text}");
}

/// Whether somebody watches stderr.
pub fn is_watched() -> bool {
    io::stderr().is_terminal() && std::env::var_os("CI").is_none()
}
