use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use serde::Deserialize;

use crate::domain::{Profile, TestCoverage, Verdict};

/// Lines that can be marked; the note of types and values follows them in the shared memory.
const LINES: usize = 1 << 16;

/// Longest note, in bytes.
const NOTE_BYTES: usize = 1 << 20;

/// Values kept for a variable at a line, and characters of each.
const KEPT: (usize, usize) = (3, 80);

/// Memory that a traced candidate writes and the judge reads: what it holds survives the candidate's death.
///
/// The candidate could forge all of it, so nothing that counts is ever taken from here.
pub(super) struct Probe {
    memory: File,
    profile: Profile,
    /// Lines executed while the program was loaded: part of every test.
    loading: BTreeSet<u32>,
    lines: Vec<BTreeSet<u32>>,
}

/// Types and values as the tracer writes them.
#[derive(Deserialize)]
struct Note {
    types: BTreeMap<String, BTreeSet<String>>,
    values: BTreeMap<u32, BTreeMap<String, Vec<String>>>,
}

impl Probe {
    /// Shared memory for an execution of `tests` tests.
    pub(super) fn new(tests: usize) -> io::Result<Self> {
        let memory = memfd_create("rolecall-probe", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        ftruncate(&memory, LINES as u64)?;
        // Or the candidate could take away what is read here.
        fcntl_add_seals(&memory, SealFlags::SHRINK)?;
        let memory = File::from(memory);
        let lines = vec![BTreeSet::new(); tests];
        Ok(Self { memory, profile: Profile::default(), loading: BTreeSet::new(), lines })
    }

    /// A descriptor for the candidate.
    pub(super) fn share(&self) -> io::Result<OwnedFd> {
        self.memory.try_clone().map(OwnedFd::from)
    }

    /// Takes the lines that were marked since the last time.
    fn take_lines(&self) -> io::Result<BTreeSet<u32>> {
        let mut marks = vec![0; LINES];
        self.memory.read_exact_at(&mut marks, 0)?;
        let lines = (1..LINES).filter(|line| marks[*line] != 0).filter_map(|line| u32::try_from(line).ok()).collect();
        marks.fill(0);
        self.memory.write_all_at(&marks, 0)?;
        Ok(lines)
    }

    /// What was marked belongs to the loading of the program.
    pub(super) fn loaded(&mut self) -> io::Result<()> {
        let lines = self.take_lines()?;
        self.loading.extend(lines);
        Ok(())
    }

    /// What was marked belongs to these tests.
    pub(super) fn called(&mut self, tests: &[usize]) -> io::Result<()> {
        let lines = self.take_lines()?;
        for test in tests {
            if let Some(of_test) = self.lines.get_mut(*test) {
                of_test.extend(&lines);
            }
        }
        Ok(())
    }

    /// Takes in what a process noted of types and values, at its end. A broken note is no note.
    pub(super) fn noted(&mut self) -> io::Result<()> {
        let mut text = vec![0; NOTE_BYTES];
        let length = self.memory.read_at(&mut text, LINES as u64)?;
        let note = text[..length].split(|byte| *byte == b'\n').next().unwrap_or_default();
        if let Ok(note) = serde_json::from_slice::<Note>(note) {
            for (name, types) in note.types {
                self.profile.types.entry(name).or_default().extend(types);
            }
            for (line, values) in note.values {
                let at_line = self.profile.values.entry(line).or_default();
                for (name, seen) in values {
                    let last = seen.iter().skip(seen.len().saturating_sub(KEPT.0));
                    at_line.insert(name, last.map(|text| text.chars().take(KEPT.1).collect()).collect());
                }
            }
        }
        self.memory.write_all_at(b"\n", LINES as u64)
    }

    /// The profile, given the tests' verdicts.
    pub(super) fn into_profile(self, verdicts: impl IntoIterator<Item = Verdict>) -> Profile {
        let Self { mut profile, loading, lines, .. } = self;
        profile.tests = verdicts
            .into_iter()
            .zip(lines)
            .map(|(verdict, lines)| TestCoverage { verdict, lines: lines.union(&loading).copied().collect() })
            .collect();
        profile
    }
}
