use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;

use super::launcher;
use super::verdicts::Halt;
use crate::domain::{Limits, Verdict};

/// What a limit on memory is rounded up to, in bytes, so that what the server holds does not move it at every turn.
const GRAIN: u64 = 16 << 20;

/// Longest file of a control group that is read, in bytes.
const FILE_BYTES: usize = 8 << 10;

/// The control groups of one server, where there are any. Whatever it starts is in them from its birth.
#[derive(Default)]
pub(super) struct Groups {
    memory: Option<Memory>,
    pids: Option<Pids>,
}

struct Memory {
    path: PathBuf,
    version: u8,
    held: File,
    events: Arc<File>,
    set: Option<u64>,
}

struct Pids {
    path: PathBuf,
    events: Arc<File>,
    set: Option<u32>,
}

impl Groups {
    /// Opens the groups that a launcher made.
    pub(super) fn open(groups: &launcher::Groups) -> io::Result<Self> {
        let memory = groups.memory.as_ref().map(|group| {
            let events = if group.version == 2 { "memory.events" } else { "memory.oom_control" };
            Ok::<_, io::Error>(Memory {
                version: group.version,
                held: File::open(group.path.join("memory.stat"))?,
                events: Arc::new(File::open(group.path.join(events))?),
                path: group.path.clone(),
                set: None,
            })
        });
        let pids = groups.pids.as_ref().map(|group| {
            let events = Arc::new(File::open(group.path.join("pids.events"))?);
            Ok::<_, io::Error>(Pids { path: group.path.clone(), events, set: None })
        });
        Ok(Self { memory: memory.transpose()?, pids: pids.transpose()? })
    }

    /// Bounds the next execution: `limits`, the size of its private directory, and what the server itself holds, by itself
    /// and in `servers` processes. The evidence tells afterwards whether a limit was met.
    pub(super) fn bound(&mut self, limits: &Limits, directory_bytes: u64, servers: u32) -> io::Result<Evidence> {
        let mut counters = Vec::new();
        if let Some(memory) = &mut self.memory {
            memory.bound(limits.memory_bytes.saturating_add(directory_bytes))?;
            let message = "memory limit exceeded: its control group ended a process";
            counters.push(Counter::new(&memory.events, "oom_kill", Halt::new(Verdict::Memory, message))?);
        }
        if let Some(pids) = &mut self.pids {
            let most = limits.processes.saturating_add(servers);
            if pids.set != Some(most) {
                fs::write(pids.path.join("pids.max"), most.to_string())?;
                pids.set = Some(most);
            }
            let message = "process limit exceeded: its control group refused a process";
            counters.push(Counter::new(&pids.events, "max", Halt::new(Verdict::ProcessLimit, message))?);
        }
        Ok(Evidence { counters, counts_memory: self.memory.is_some() })
    }
}

impl Memory {
    fn bound(&mut self, most: u64) -> io::Result<()> {
        // Not what may be dropped at any time: a limit must not depend on what was read before.
        let stat = read(&self.held)?;
        let keys = if self.version == 2 { ["anon", "shmem", "kernel"] } else { ["rss", "shmem", "swap"] };
        let held: u64 = keys.iter().filter_map(|key| value(&stat, key)).sum();
        let limit = held.saturating_add(most).div_ceil(GRAIN).saturating_mul(GRAIN).saturating_add(GRAIN);
        if self.set == Some(limit) {
            return Ok(());
        }
        let set = |file: &str, text: &str| fs::write(self.path.join(file), text);
        let optional = |file: &str, text: &str| match set(file, text) {
            // A kernel that does not count swap.
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied) => Ok(()),
            other => other,
        };
        let text = limit.to_string();
        if self.version == 2 {
            set("memory.max", &text)?;
            optional("memory.swap.max", "0")?;
        } else {
            // Memory and swap together may never be below memory alone.
            optional("memory.memsw.limit_in_bytes", "-1")?;
            set("memory.limit_in_bytes", &text)?;
            optional("memory.memsw.limit_in_bytes", &text)?;
        }
        self.set = Some(limit);
        Ok(())
    }
}

/// What the groups counted when an execution began.
#[derive(Default)]
pub(super) struct Evidence {
    counters: Vec<Counter>,
    /// Whether the kernel counts memory, so that nobody else needs to.
    pub(super) counts_memory: bool,
}

struct Counter {
    file: Arc<File>,
    key: &'static str,
    before: u64,
    halt: Halt,
}

impl Counter {
    fn new(file: &Arc<File>, key: &'static str, halt: Halt) -> io::Result<Self> {
        let before = value(&read(file)?, key).unwrap_or(0);
        Ok(Self { file: file.clone(), key, before, halt })
    }
}

impl Evidence {
    /// The limit that was met since, if one was.
    pub(super) fn met(&self) -> Option<Halt> {
        let risen = |counter: &&Counter| {
            // A group that is gone has ended everything in it already.
            read(&counter.file).is_ok_and(|text| value(&text, counter.key).is_some_and(|now| now > counter.before))
        };
        self.counters.iter().find(risen).map(|counter| counter.halt.clone())
    }
}

fn read(file: &File) -> io::Result<String> {
    let mut bytes = [0; FILE_BYTES];
    let mut count = 0;
    loop {
        match file.read_at(&mut bytes[count..], count as u64)? {
            0 => break,
            more => count += more,
        }
    }
    Ok(String::from_utf8_lossy(&bytes[..count]).into_owned())
}

/// The number behind a name in a file of lines `name number`.
fn value(text: &str, key: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' ')?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Version 2 as its files look; there is no machine with it to try.
    #[test]
    fn a_group_of_version_2_is_bounded_and_watched_by_its_files() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write("memory.stat", "anon 1000\nfile 900000000\nkernel 10\nshmem 0\n");
        write("memory.events", "low 0\noom 0\noom_kill 3\noom_group_kill 0\n");
        write("pids.events", "max 0\n");
        let group = launcher::Group { version: 2, path: folder.path().to_path_buf() };
        let groups = launcher::Groups { memory: Some(group.clone()), pids: Some(group) };
        let mut groups = Groups::open(&groups).unwrap();
        let limits = Limits { memory_bytes: 64 << 20, processes: 10, ..Limits::default() };
        let evidence = groups.bound(&limits, 0, 1).unwrap();
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!(read("memory.max"), ((64u64 + 16 + 16) << 20).to_string());
        assert_eq!((read("memory.swap.max"), read("pids.max")), ("0".to_owned(), "11".to_owned()));
        assert_eq!(evidence.met(), None);
        write("pids.events", "max 2\n");
        assert_eq!(evidence.met().unwrap().verdict, Verdict::ProcessLimit);
        write("memory.events", "low 0\noom 1\noom_kill 4\n");
        assert_eq!(evidence.met().unwrap().verdict, Verdict::Memory);
    }
}
