use serde::{Deserialize, Serialize};

use super::capture::Capture;
use crate::domain::Verdict;

/// Why a candidate's process answers no more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Halt {
    /// The verdict of the test that it was answering.
    pub(super) verdict: Verdict,
    /// The reason in words.
    pub(super) message: String,
}

impl Halt {
    pub(super) fn new(verdict: Verdict, message: impl Into<String>) -> Self {
        Self { verdict, message: message.into() }
    }

    /// A crash whose first or last words on stderr are those of a runtime that found no memory is called so. They come from the
    /// program, but speak against it only.
    pub(super) fn in_the_light_of(self, stderr: &Capture) -> Self {
        if self.verdict == Verdict::Crashed {
            let bytes = stderr.bytes();
            // Most runtimes say why at the end, Go before the traces of all its threads.
            let head = &bytes[..bytes.len().min(LAST_WORDS)];
            let tail = &bytes[bytes.len().saturating_sub(LAST_WORDS)..];
            let text = [head, tail].map(String::from_utf8_lossy).join("\n");
            return Self { verdict: of_words(&text), ..self };
        }
        self
    }

    /// Bytes on the answer channel that nobody asked for.
    pub(super) fn forged(what: &str) -> Self {
        Self::new(Verdict::Forbidden, format!("protocol: {what}"))
    }
}

/// How much of either end of stderr tells why a runtime gave up, in bytes.
const LAST_WORDS: usize = 8 << 10;

/// How runtimes say that there is no memory.
const NO_MEMORY: [&str; 9] = [
    "std::bad_alloc",
    "OutOfMemoryError",
    "error='Not enough space'",
    "heap out of memory",
    "fatal error: out of memory",
    "fatal error: runtime: out of memory",
    "runtime: cannot allocate memory",
    "Array buffer allocation failed",
    "memory allocation of ",
];

/// How runtimes say that there may be no more processes and threads. Java calls that a lack of memory.
const NO_PROCESS: [&str; 4] = [
    "failed to create new OS thread",
    "unable to create native thread",
    "failed to spawn thread",
    "Resource temporarily unavailable",
];

/// The verdict of a crash that was described in words.
pub(super) fn of_words(text: &str) -> Verdict {
    let says = |all: &[&str]| all.iter().any(|words| text.contains(words));
    match () {
        () if says(&NO_PROCESS) => Verdict::ProcessLimit,
        () if says(&NO_MEMORY) || faulted_in_go_collector(text) => Verdict::Memory,
        () => Verdict::Crashed,
    }
}

/// Go's garbage collector is ended by a fault of its own where the memory for its queues was refused: no program's line is on
/// the stack that faulted.
fn faulted_in_go_collector(text: &str) -> bool {
    let stack =
        text.split_once("SIGSEGV: segmentation violation\nPC=").and_then(|(_, rest)| rest.split_once("\ngoroutine 0 "));
    // The rest of that line, the function, its place.
    stack.and_then(|(_, stack)| stack.lines().nth(2)).is_some_and(|place| place.contains("/runtime/mgc"))
}

/// An exception that the candidate's process reports: evidence against the candidate only.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct Raised {
    /// Name of its class.
    pub(super) name: String,
    /// The nearest built-in exception class.
    pub(super) base: String,
    /// Its message.
    pub(super) text: String,
    /// The line of the program where it passed last.
    pub(super) line: Option<u32>,
    /// The system's error number.
    pub(super) errno: Option<i32>,
}

impl Raised {
    /// The verdict that this exception means.
    pub(super) fn verdict(&self) -> Verdict {
        match self.errno {
            Some(libc::EAGAIN) => Verdict::ProcessLimit,
            Some(libc::EFBIG | libc::ENOSPC) => Verdict::FileLimit,
            Some(libc::ENOMEM) => Verdict::Memory,
            _ if self.base == "MemoryError" => Verdict::Memory,
            _ if self.base == "RuntimeError" && self.text == "can't start new thread" => Verdict::ProcessLimit,
            _ => Verdict::Crashed,
        }
    }

    /// The exception in one line, as a prompt may show it.
    pub(super) fn message(&self) -> String {
        let colon = if self.text.is_empty() { "" } else { ": " };
        let place = self.line.map(|line| format!(" (line {line} of the program)")).unwrap_or_default();
        format!("{}{colon}{}{place}", self.name, self.text)
    }
}

/// Why a process that should have answered has ended, from the status that `wait` gave.
pub(super) fn of_status(status: i32, cpu_ms: u64, cpu_limit_ms: u64) -> Halt {
    if !libc::WIFSIGNALED(status) {
        let code = libc::WEXITSTATUS(status);
        return Halt::new(Verdict::Crashed, format!("the process exited with code {code} before its answer"));
    }
    match libc::WTERMSIG(status) {
        libc::SIGXCPU => Halt::new(Verdict::TimeoutCpu, "CPU time limit exceeded"),
        libc::SIGKILL if cpu_ms >= cpu_limit_ms => Halt::new(Verdict::TimeoutCpu, "CPU time limit exceeded"),
        libc::SIGXFSZ => Halt::new(Verdict::FileLimit, "file size limit exceeded"),
        libc::SIGSYS => Halt::new(Verdict::Forbidden, "syscall: a system call that is not allowed"),
        signal => Halt::new(Verdict::Crashed, format!("the process was ended by signal {}", signal_name(signal))),
    }
}

fn signal_name(signal: i32) -> String {
    match signal {
        libc::SIGSEGV => "SIGSEGV (invalid memory access or stack overflow)".to_owned(),
        libc::SIGABRT => "SIGABRT".to_owned(),
        libc::SIGKILL => "SIGKILL".to_owned(),
        libc::SIGTERM => "SIGTERM".to_owned(),
        libc::SIGINT => "SIGINT".to_owned(),
        libc::SIGBUS => "SIGBUS".to_owned(),
        libc::SIGFPE => "SIGFPE".to_owned(),
        libc::SIGILL => "SIGILL".to_owned(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::of_words;
    use crate::domain::Verdict;

    #[test]
    fn a_fault_of_gos_collector_is_a_lack_of_memory_and_one_of_the_program_is_not() {
        let fault = |place: &str| {
            format!(
                "SIGSEGV: segmentation violation\nPC=0x42e59d m=3 sigcode=1 addr=0x0\n\ngoroutine 0 gp=0x1 m=3 mp=0x2 [idle]:\n\
                 runtime.(*spanQueue).tryDrain(0x0)\n\t{place}:520 +0x5d\n\ngoroutine 1 gp=0x3 m=nil [runnable]:\n"
            )
        };
        assert_eq!(of_words(&fault("/usr/lib/go/src/runtime/mgcmark_greenteagc.go")), Verdict::Memory);
        assert_eq!(of_words(&fault("/box/program.go")), Verdict::Crashed);
        assert_eq!(
            of_words("panic: runtime error: invalid memory address\n[signal SIGSEGV: segmentation violation]"),
            Verdict::Crashed
        );
    }
}
