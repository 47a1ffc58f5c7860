use std::os::fd::OwnedFd;

use serde::Deserialize;
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::unix::pipe::Sender;
use tokio_util::sync::CancellationToken;

use super::boxes::Launch;
use super::build::Built;
use super::capture::Capture;
use super::checking::{Desk, ask};
use super::lines::{Lines, Received};
use super::outcome::Outcome;
use super::output::{Compared, Comparison, compare};
use super::probe::Probe;
use super::process::{Bounds, Outputs, Process, Step, Streams, process_limits};
use super::slot::{Ended, Slot, failed};
use super::text::plain;
use super::verdicts::{Halt, Raised, of_status};
use super::{Job, SandboxError};
use crate::domain::{IoCase, OutputRule, TestResult, Verdict};

/// Longest input that a result repeats, in characters.
const SHOWN_INPUT: usize = 500;

/// What a program's process may say about itself: evidence against it only.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Said {
    Compile(String),
    Raised(Raised),
}

/// One execution of a program against stdin/stdout cases: a process for each case.
pub(super) struct Programs<'a> {
    pub(super) slot: &'a mut Slot,
    /// What runs in a box for each case; absent where a warm interpreter runs the program's text.
    pub(super) built: Option<&'a Built>,
    /// Where a checker runs that the slot's own interpreters cannot.
    pub(super) aside: Option<Desk<'a>>,
    pub(super) job: &'a Job,
    pub(super) cancel: &'a CancellationToken,
    /// Where the program is traced, if it is.
    pub(super) probe: Option<&'a mut Probe>,
}

/// How one case ended.
struct Ending {
    halt: Option<Halt>,
    compile_output: Option<String>,
    ended: Ended,
    cpu_ms: u64,
}

impl Programs<'_> {
    /// Runs the cases in order. The streams are those of the first case that failed, or of the last one.
    pub(super) async fn run(mut self, cases: &[IoCase], rule: &OutputRule) -> Result<Outcome, SandboxError> {
        let limits = &self.job.limits;
        let mut outcome = Outcome::new(limits);
        let (mut timeouts, mut passed, mut confirmed) = (0, 0, false);
        let mut failure_shown = false;
        for (index, case) in cases.iter().enumerate() {
            if limits.timeouts.is_met(timeouts) {
                outcome.results.push(result_of(case, Verdict::NotRun));
                continue;
            }
            let streams = Streams::new(limits);
            let may_confirm = passed > 0 && passed == index && !confirmed;
            let room = if may_confirm { 2 * limits.test_cpu_ms } else { limits.test_cpu_ms };
            let ending = self.case(case, &streams, room).await?;
            if let Some(probe) = &mut self.probe {
                probe.called(&[index]).and_then(|()| probe.noted()).map_err(failed("reading a trace"))?;
            }
            outcome.account(&ending.ended);
            outcome.near_limit |= ending.halt.is_none() && ending.cpu_ms > limits.test_cpu_ms / 2;
            confirmed |= ending.cpu_ms > limits.test_cpu_ms;
            let comparison = self.compare(case, rule, &streams, &ending).await?;
            let result = judge(case, rule, comparison, &streams, &ending);
            passed += usize::from(result.verdict == Verdict::Passed);
            timeouts += u32::from(result.verdict.is_timeout());
            if !failure_shown {
                failure_shown = result.verdict != Verdict::Passed;
                outcome.streams = streams;
            }
            outcome.results.push(result);
            if let Some(text) = ending.compile_output {
                outcome.compile_output = Some(text.clone());
                let halt = Halt::new(Verdict::CompileError, text);
                outcome.results.extend(cases[index + 1..].iter().map(|case| refused(case, &halt)));
                break;
            }
        }
        Ok(outcome)
    }

    async fn case(&mut self, case: &IoCase, streams: &Streams, cpu_ms: u64) -> Result<Ending, SandboxError> {
        let limits = &self.job.limits;
        let (theirs, ours) = std::io::pipe().map_err(failed("opening a pipe"))?;
        let feeder = feed(OwnedFd::from(ours), case.stdin.clone())?;
        let captures = [&streams.stdout, &streams.stderr];
        let mut process = self.start(OwnedFd::from(theirs), captures, cpu_ms).await?;
        let bounds = Bounds { cpu_ms, limits, flood: &streams.flood, cancel: self.cancel };
        let step = process.step(&bounds, listen).await;
        feeder.abort();
        let (mut said, spent) = match step? {
            Step::Halted(halt) => (vec![Err(halt)], None),
            Step::Done(said, cpu_ms) => (said.map_err(failed("reading from a candidate"))?, Some(cpu_ms)),
        };
        let ended = process.retire(&mut self.slot.candidates).await?;
        // A process says at its end what it used: one that is gone already cannot be asked, and one that was stopped has
        // not said.
        let cpu_ms = ended.cpu_ms.max(spent.unwrap_or(0));
        let mut compile_output = None;
        let mut halt = None;
        match said.pop() {
            None if streams.flood.has_risen() => halt = Some(Halt::new(Verdict::OutputLimit, "output limit exceeded")),
            None if ended.status == 0 => {}
            None => halt = Some(exit(&ended, bounds.cpu_ms).in_the_light_of(&streams.stderr)),
            Some(Err(reason)) => halt = Some(reason),
            Some(Ok(_)) if !said.is_empty() => halt = Some(Halt::forged("more than one message")),
            Some(Ok(Said::Raised(raised))) => halt = Some(Halt::new(raised.verdict(), raised.message())),
            Some(Ok(Said::Compile(text))) => {
                halt = Some(Halt::new(Verdict::CompileError, text.clone()));
                compile_output = Some(text);
            }
        }
        Ok(Ending { halt, compile_output, ended, cpu_ms })
    }

    /// What the output of a case is worth, however the program ended.
    async fn compare(
        &mut self,
        case: &IoCase,
        rule: &OutputRule,
        streams: &Streams,
        ending: &Ending,
    ) -> Result<Comparison, SandboxError> {
        let bytes = streams.stdout.bytes();
        let text = String::from_utf8_lossy(&bytes);
        // Bytes that are no text equal nothing.
        let is_text = text.as_bytes() == bytes.as_slice();
        match compare(&text, &case.stdout, rule) {
            Compared::Here(comparison) => Ok(Comparison { right: comparison.right && is_text, ..comparison }),
            Compared::By(_) if ending.halt.is_some() || !is_text => Ok(Comparison::whole(false, None)),
            Compared::By(checker) => {
                let mut desk = match &mut self.aside {
                    Some(desk) => Desk { server: &mut *desk.server, boxed: desk.boxed },
                    None => Desk { server: &mut self.slot.tests, boxed: None },
                };
                ask(&mut desk, checker, (&case.stdin, &text), self.cancel).await
            }
        }
    }

    async fn start(&mut self, stdin: OwnedFd, streams: [&Capture; 2], cpu_ms: u64) -> Result<Process, SandboxError> {
        let limits = &self.job.limits;
        let server = &mut self.slot.candidates;
        if let Some(Built { files, run, .. }) = self.built {
            let launch = Launch { command: run, attempt: None, files, keep: None, talks: false, limits, cpu_ms };
            return Process::spawn(server, &launch, stdin, Outputs::Captured(streams)).await;
        }
        let job = json!({
            "mode": "program",
            "module": "__main__",
            "source": self.job.program.text,
            "limits": process_limits(limits, cpu_ms),
        });
        Process::start(server, (&job, limits), stdin, streams, self.probe.as_deref()).await
    }
}

/// Collects what the process says until it ends; stops at the second message.
async fn listen(channel: &mut Lines) -> std::io::Result<Vec<Result<Said, Halt>>> {
    let mut said = Vec::new();
    while said.len() < 2 {
        match channel.receive().await? {
            Received::End => break,
            Received::TooLong => said.push(Err(Halt::forged("an oversized message"))),
            Received::Line(line) => {
                said.push(serde_json::from_slice(&line).map_err(|_| Halt::forged("a malformed message")));
            }
        }
    }
    Ok(said)
}

/// Writes the input in a task of its own. A program that does not read it all is no error.
fn feed(pipe: OwnedFd, input: String) -> Result<tokio::task::JoinHandle<()>, SandboxError> {
    let mut pipe = Sender::from_owned_fd(pipe).map_err(failed("opening a pipe"))?;
    Ok(tokio::spawn(async move {
        // The reader may be gone: that is its right.
        let _ = pipe.write_all(input.as_bytes()).await;
    }))
}

fn exit(ended: &Ended, cpu_limit_ms: u64) -> Halt {
    if libc::WIFEXITED(ended.status) {
        return Halt::new(
            Verdict::Crashed,
            format!("the program exited with code {}", libc::WEXITSTATUS(ended.status)),
        );
    }
    of_status(ended.status, ended.cpu_ms, cpu_limit_ms)
}

fn result_of(case: &IoCase, verdict: Verdict) -> TestResult {
    let mut test = case.stdin.chars().take(SHOWN_INPUT).collect::<String>();
    if test.len() < case.stdin.len() {
        test.push_str("...");
    }
    TestResult { verdict, score: 0.0, test, expected: None, actual: None, message: None, cpu_ms: None }
}

/// The result of a case whose program could not be built.
pub(super) fn refused(case: &IoCase, halt: &Halt) -> TestResult {
    TestResult { message: Some(plain(&halt.message)), ..result_of(case, halt.verdict) }
}

fn judge(case: &IoCase, rule: &OutputRule, comparison: Comparison, streams: &Streams, ending: &Ending) -> TestResult {
    let (verdict, message) = match &ending.halt {
        Some(halt) => (halt.verdict, Some(plain(&halt.message))),
        None if comparison.right => (Verdict::Passed, None),
        None => (Verdict::Wrong, comparison.message.as_deref().map(plain)),
    };
    let cut = matches!(verdict, Verdict::OutputLimit | Verdict::TimeoutCpu | Verdict::TimeoutWall | Verdict::Memory);
    let score = match verdict {
        Verdict::Passed => 1.0,
        _ if cut => 0.0,
        _ => comparison.score,
    };
    let printed = if cut {
        plain(&streams.stdout.excerpt(true, &[]).text)
    } else {
        plain(&String::from_utf8_lossy(&streams.stdout.bytes()))
    };
    TestResult {
        score,
        // One right output of several would mislead.
        expected: (!matches!(rule, OutputRule::Checker(_))).then(|| plain(&case.stdout)),
        actual: Some(printed),
        message,
        cpu_ms: Some(ending.cpu_ms),
        ..result_of(case, verdict)
    }
}
