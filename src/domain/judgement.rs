use serde::{Deserialize, Serialize};

use super::{Excerpt, Limits, Verdict};

/// How the candidate was kept from forging its verdicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// Candidate and tests in two processes; the candidate never sees an expected value.
    Split,
    /// Candidate and tests linked into one process.
    InProcess,
}

impl Protocol {
    /// The word used in files and records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Split => "split",
            Self::InProcess => "in_process",
        }
    }
}

/// How candidates were isolated; part of every record, since results of different levels are not compared silently.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Isolation {
    /// Which backend ran (`root_namespaces`, `user_namespaces`, …).
    pub backend: String,
    /// How memory was limited (`rlimit`, `cgroup_v1`, `cgroup_v2`).
    pub memory: String,
    /// How the number of processes was limited, in the same words; empty in records that do not say.
    #[serde(default)]
    pub pids: String,
    /// Whether the candidate had a network name space of its own.
    pub network: bool,
    /// Version of the kernel's Landlock interface that restricted it; 0 where the kernel has none.
    #[serde(default)]
    pub landlock_abi: i32,
}

/// What one test said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TestResult {
    /// The verdict of this test.
    pub verdict: Verdict,
    /// 1 for passed; for stdin/stdout tests the share of matching output lines; else 0.
    pub score: f64,
    /// The assertion, or the input of a stdin/stdout test (shortened), as a prompt may show it.
    pub test: String,
    /// The expected value or output, where the test compares one; normalised text.
    pub expected: Option<String>,
    /// The value or output that came; normalised text.
    pub actual: Option<String>,
    /// The exception or reason, where there is one (`TypeError: …`); normalised: no addresses, paths or durations.
    pub message: Option<String>,
    /// CPU time of this test in the candidate's process, where it was measured.
    pub cpu_ms: Option<u64>,
}

/// All that an execution of one program against one suite showed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// The program's word, from its tests' words.
    pub verdict: Verdict,
    /// One result per test of the suite, in its order.
    pub tests: Vec<TestResult>,
    /// Diagnostics of the compiler or parser, normalised.
    pub compile_output: Option<String>,
    /// What the program printed.
    pub stdout: Excerpt,
    /// What it printed to stderr.
    pub stderr: Excerpt,
    /// CPU time of the candidate's processes.
    pub cpu_ms: u64,
    /// Time by the clock on the wall.
    pub wall_ms: u64,
    /// Largest resident set seen, where known.
    pub peak_memory_bytes: Option<u64>,
    /// How forging was kept out.
    pub protocol: Protocol,
    /// The limits that held.
    pub limits: Limits,
    /// A limit was within a factor of 2 of deciding the verdict.
    pub near_limit: bool,
    /// Calls in a program linked with its tests that end, replace or start processes, each as `line 3: exit(0)`: whoever
    /// reads the verdict may want to look at them.
    #[serde(default)]
    pub suspicious: Vec<String>,
}

impl Judgement {
    /// Mean score of all tests, 0 where there are none: what ranking and `best` go by.
    pub fn score(&self) -> f64 {
        if self.tests.is_empty() {
            return 0.0;
        }
        self.tests.iter().map(|test| test.score).sum::<f64>() / self.tests.len() as f64
    }

    /// Whether every test passed (and there was one).
    pub fn passed(&self) -> bool {
        self.verdict == Verdict::Passed
    }

    /// How many tests passed.
    pub fn passed_tests(&self) -> usize {
        self.tests.iter().filter(|test| test.verdict == Verdict::Passed).count()
    }

    /// This and the judgement of the same program by more tests, as one: all tests, in this order.
    pub fn with(mut self, more: Self) -> Self {
        self.tests.extend(more.tests);
        self.verdict = Verdict::of_program(self.tests.iter().map(|test| test.verdict));
        self.compile_output = self.compile_output.or(more.compile_output);
        self.cpu_ms += more.cpu_ms;
        self.wall_ms += more.wall_ms;
        self.peak_memory_bytes = self.peak_memory_bytes.max(more.peak_memory_bytes);
        self.near_limit |= more.near_limit;
        self.suspicious.extend(more.suspicious);
        self
    }

    /// The judgement of a reply that held no program: every one of `tests` tests is `no_code`.
    pub fn no_code(tests: impl IntoIterator<Item = String>, limits: Limits) -> Self {
        let tests = tests
            .into_iter()
            .map(|test| TestResult {
                verdict: Verdict::NoCode,
                score: 0.0,
                test,
                expected: None,
                actual: None,
                message: None,
                cpu_ms: None,
            })
            .collect();
        Self {
            verdict: Verdict::NoCode,
            tests,
            compile_output: None,
            stdout: Excerpt::default(),
            stderr: Excerpt::default(),
            cpu_ms: 0,
            wall_ms: 0,
            peak_memory_bytes: None,
            protocol: Protocol::Split,
            limits,
            near_limit: false,
            suspicious: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Judgement, Limits};

    #[test]
    fn a_judgement_of_an_older_record_is_read_without_what_was_added_since() {
        let judgement = Judgement::no_code(["f(1)".to_owned()], Limits::default());
        let mut stored = serde_json::to_value(&judgement).unwrap();
        stored.as_object_mut().unwrap().remove("suspicious").unwrap();
        for limit in ["compile_cpu_ms", "compile_memory_bytes"] {
            stored["limits"].as_object_mut().unwrap().remove(limit).unwrap();
        }
        assert_eq!(serde_json::from_value::<Judgement>(stored).unwrap(), judgement);
    }
}
