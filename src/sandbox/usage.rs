use std::fs;
use std::time::Duration;

use rustix::process::Pid;

use super::sys;

/// What a process and all its descendants use at one moment.
#[derive(Clone, Debug, Default)]
pub(super) struct Usage {
    /// CPU time of the descendants, in ms, those that were waited for included.
    pub(super) others_cpu_ms: u64,
    /// Resident memory of all, in bytes. What several share is counted several times.
    pub(super) resident_bytes: u64,
    /// Processes and threads.
    pub(super) tasks: u32,
    /// The processes with their resident memory in bytes.
    processes: Vec<(i32, u64)>,
}

impl Usage {
    /// Looks at a process tree. A process that ends meanwhile counts as nothing.
    pub(super) fn of(root: Pid) -> Self {
        let tick_ms = 1_000 / rustix::param::clock_ticks_per_second().max(1);
        let page = rustix::param::page_size() as u64;
        let mut usage = Self::default();
        let root = root.as_raw_nonzero().get();
        let mut waiting = vec![root];
        while let Some(pid) = waiting.pop() {
            let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { continue };
            // The name is in brackets and may hold anything; the fields after it are numbers. The first here is field 3.
            let Some((_, rest)) = stat.rsplit_once(')') else { continue };
            let fields = rest.split_ascii_whitespace().collect::<Vec<_>>();
            let field = |number: usize| fields.get(number - 3).and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
            usage.others_cpu_ms += tick_ms * (field(16) + field(17));
            if pid != root {
                usage.others_cpu_ms += tick_ms * (field(14) + field(15));
            }
            usage.resident_bytes += field(24) * page;
            usage.tasks += u32::try_from(field(20)).unwrap_or(u32::MAX);
            usage.processes.push((pid, field(24) * page));
            waiting.extend(children(pid));
        }
        usage
    }

    /// Whether more than `limit` bytes are used, with what is shared counted once. Cheap while the plain sum is below.
    pub(super) fn exceeds(&self, limit: u64) -> bool {
        self.resident_bytes > limit && self.processes.iter().map(|process| proportional(*process)).sum::<u64>() > limit
    }
}

/// The children of a process, by whichever of its threads; none once it is gone.
pub(super) fn children(pid: i32) -> Vec<i32> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let texts = threads.map(|thread| fs::read_to_string(thread.path().join("children")).unwrap_or_default());
    texts
        .flat_map(|text| text.split_ascii_whitespace().filter_map(|child| child.parse().ok()).collect::<Vec<_>>())
        .collect()
}

/// A process' own memory and its part of what it shares, in bytes; all that is resident where the kernel does not say.
fn proportional((pid, resident): (i32, u64)) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
    let kib =
        text.lines().find_map(|line| line.strip_prefix("Pss:")?.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    kib.map_or(resident, |kib| kib << 10)
}

/// CPU time of one process in ms, exact; 0 once it is gone.
pub(super) fn own_cpu_ms(pid: Pid) -> u64 {
    sys::cpu_time(pid).map_or(0, |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}
