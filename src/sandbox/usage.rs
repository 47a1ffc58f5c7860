use std::fs;
use std::time::Duration;

use rustix::process::Pid;

use super::sys;

/// What a process and all its descendants use at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usage {
    /// CPU time of the descendants, in ms, those that were waited for included.
    pub(super) others_cpu_ms: u64,
    /// Resident memory of all, in bytes.
    pub(super) memory_bytes: u64,
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
            usage.memory_bytes += field(24) * page;
            let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { continue };
            for thread in threads.flatten() {
                let children = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
                waiting.extend(children.split_ascii_whitespace().filter_map(|child| child.parse::<i32>().ok()));
            }
        }
        usage
    }
}

/// CPU time of one process in ms, exact; 0 once it is gone.
pub(super) fn own_cpu_ms(pid: Pid) -> u64 {
    sys::cpu_time(pid).map_or(0, |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}
