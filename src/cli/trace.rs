//! `rolecall trace`: reads trace files.

use std::path::Path;

use owo_colors::{OwoColorize, Stream};

use super::{
    args::TraceVerb,
    exit::{Exit, Failure},
    terminal,
};
use crate::{
    domain::read_regular_file,
    telemetry::{BadLine, show, show_json},
};

/// Longest trace that is read: 1 GiB.
const MAX_TRACE_BYTES: u64 = 1 << 30;

/// Carries out a verb of `trace`.
///
/// # Errors
/// A file that cannot be read, or is damaged: each mistake with file and line.
pub fn trace(verb: &TraceVerb) -> Result<Exit, Failure> {
    match verb {
        TraceVerb::Show { file, json } => {
            let text = read(file)?;
            if *json {
                terminal::json(&show_json(&text).map_err(|bad| damaged(file, &bad))?);
            } else {
                let page = show(&text, is_coloured()).map_err(|bad| damaged(file, &bad))?;
                terminal::painted(page.trim_end());
            }
        }
    }
    Ok(Exit::Ended)
}

fn read(file: &Path) -> Result<String, Failure> {
    let bytes = read_regular_file(file, MAX_TRACE_BYTES)
        .map_err(|error| Failure::usage(format!("{}: {error}", file.display())))?;
    String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        damaged(file, &[BadLine { line, reason: "not UTF-8".to_owned() }])
    })
}

fn damaged(file: &Path, bad: &[BadLine]) -> Failure {
    let lines: Vec<String> = bad.iter().map(|one| format!("{}:{one}", file.display())).collect();
    Failure::usage(lines.join("\n"))
}

/// Whether stdout shows colours: a terminal, unless the environment says otherwise. The crate tells by what it prints.
fn is_coloured() -> bool {
    "x".if_supports_color(Stream::Stdout, |text| text.bold()).to_string() != "x"
}
