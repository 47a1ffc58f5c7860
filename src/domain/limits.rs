use serde::{Deserialize, Serialize};

/// How many timeouts a candidate may have before its other tests are `not_run`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeoutPolicy {
    /// Stop after this many (at least 1).
    After(u32),
    /// Run every test, whatever it costs.
    All,
}

/// Limits of one execution of one program against one suite. What an older record does not say is the default.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// CPU time of one test, in ms.
    pub test_cpu_ms: u64,
    /// CPU time of one process with all its tests, in ms, unless there are more tests than that.
    pub process_cpu_ms: u64,
    /// Memory of all processes of the candidate, in bytes.
    pub memory_bytes: u64,
    /// Processes and threads at once.
    pub processes: u32,
    /// Largest file, in bytes.
    pub file_bytes: u64,
    /// Output on each stream, in bytes, above which the program is killed.
    pub output_bytes: u64,
    /// What of each stream is kept, in bytes.
    pub output_kept_bytes: u64,
    /// When to stop after timeouts.
    pub timeouts: TimeoutPolicy,
    /// CPU time of the compiler, in ms.
    pub compile_cpu_ms: u64,
    /// Memory of all processes of the compiler, in bytes.
    pub compile_memory_bytes: u64,
    /// Whether `test_cpu_ms` was measured on this machine, by a program that passes.
    pub calibrated: bool,
}

impl Default for Limits {
    /// The fixed limits for Python.
    fn default() -> Self {
        Self {
            test_cpu_ms: 1_000,
            process_cpu_ms: 5_000,
            memory_bytes: 512 << 20,
            processes: 64,
            file_bytes: 16 << 20,
            output_bytes: 1 << 20,
            output_kept_bytes: 64 << 10,
            timeouts: TimeoutPolicy::After(1),
            compile_cpu_ms: 30_000,
            compile_memory_bytes: 2 << 30,
            calibrated: false,
        }
    }
}

impl TimeoutPolicy {
    /// Whether a candidate that has had so many timeouts is not run any further.
    pub fn is_met(self, timeouts: u32) -> bool {
        match self {
            Self::After(most) => timeouts >= most.max(1),
            Self::All => false,
        }
    }
}

impl Limits {
    /// CPU time that one process may use for so many tests, at twice the limit of each, in ms: a second line of defence.
    pub fn whole_cpu_ms(&self, tests: usize) -> u64 {
        2 * self.process_cpu_ms.max(self.test_cpu_ms * tests as u64)
    }

    /// The backstop by the clock on the wall: three times the CPU limit plus 5 s, since a loaded machine stretches the wall, not the CPU time.
    pub fn wall_ms(&self, cpu_ms: u64) -> u64 {
        cpu_ms * 3 + 5_000
    }
}
