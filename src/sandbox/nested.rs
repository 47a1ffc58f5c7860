//! Processes of a PID name space as the host knows them.

use std::fs;
use std::io;

use super::usage::children;

/// The only child of a process.
pub(super) fn only_child(process: i32) -> io::Result<i32> {
    match children(process).as_slice() {
        [child] => Ok(*child),
        others => Err(io::Error::other(format!("{} children where one was expected", others.len()))),
    }
}

/// The child of `process` that is called `name` in the name space of that child.
pub(super) fn child_called(process: i32, name: i32) -> Option<i32> {
    children(process).into_iter().find(|child| {
        let status = fs::read_to_string(format!("/proc/{child}/status")).unwrap_or_default();
        let names = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
        names.and_then(|names| names.split_ascii_whitespace().last()?.parse().ok()) == Some(name)
    })
}
