//! What of a trace file a collector has acknowledged: byte ranges, one a line, in a note beside the file.
//!
//! Ranges and not one offset, since a refused request leaves a hole that a later delivery fills.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write},
    path::Path,
};

use super::file::{Extent, acknowledged_path};

/// Notes that `extent` of `file` was acknowledged.
///
/// # Errors
/// Those of the disk.
pub fn note(file: &Path, extent: Extent) -> io::Result<()> {
    let mut note = OpenOptions::new().create(true).append(true).open(acknowledged_path(file))?;
    note.write_all(format!("{} {}\n", extent.start, extent.end).as_bytes())
}

/// What of the first `length` bytes of `file` is still to be sent, in order.
///
/// # Errors
/// Where the note exists and cannot be read. A line of it that was cut off by a kill counts for nothing.
pub fn unsent(file: &Path, length: u64) -> io::Result<Vec<Extent>> {
    let text = match fs::read_to_string(acknowledged_path(file)) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error),
    };
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let mut done: Vec<Extent> = whole.lines().filter_map(parse).collect();
    done.sort_by_key(|extent| extent.start);
    let mut unsent = Vec::new();
    let mut at = 0;
    for extent in done.into_iter().chain([Extent { start: length, end: length }]) {
        if extent.start > at {
            unsent.push(Extent { start: at, end: extent.start.min(length) });
        }
        at = at.max(extent.end);
    }
    unsent.retain(|extent| extent.start < extent.end);
    Ok(unsent)
}

fn parse(line: &str) -> Option<Extent> {
    let (start, end) = line.split_once(' ')?;
    Some(Extent { start: start.parse().ok()?, end: end.parse().ok()? })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]

    use super::{note, unsent};
    use crate::telemetry::file::{Extent, acknowledged_path};

    fn extents(pairs: &[(u64, u64)]) -> Vec<Extent> {
        pairs.iter().map(|&(start, end)| Extent { start, end }).collect()
    }

    #[test]
    fn holes_are_what_is_still_to_be_sent() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("a.jsonl");
        assert_eq!(unsent(&file, 0).unwrap(), extents(&[]));
        assert_eq!(unsent(&file, 10).unwrap(), extents(&[(0, 10)]));
        for extent in extents(&[(30, 40), (0, 10), (10, 20)]) {
            note(&file, extent).unwrap();
        }
        assert_eq!(unsent(&file, 50).unwrap(), extents(&[(20, 30), (40, 50)]));
        assert_eq!(unsent(&file, 40).unwrap(), extents(&[(20, 30)]));
    }

    #[test]
    fn a_note_that_a_kill_cut_off_counts_for_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("a.jsonl");
        std::fs::write(acknowledged_path(&file), "0 10\nrubbish\n10 2").unwrap();
        assert_eq!(unsent(&file, 20).unwrap(), extents(&[(10, 20)]));
    }
}
