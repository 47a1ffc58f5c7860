use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::lines::{Lines, Received};
use super::outcome::Outcome;
use super::probe::Probe;
use super::process::{Bounds, Process, Step, process_limits};
use super::slot::{Ended, Slot, failed, nothing};
use super::split::{Boxed, Tests};
use super::tally::{Report, Tally};
use super::verdicts::{Halt, Raised, of_status};
use super::{Job, SandboxError};
use crate::domain::{Assertion, Verdict};
use crate::languages::toolchain;

/// Longest line that the tests' process may write, in bytes: it repeats what candidates answered.
const TESTS_LINE_BYTES: usize = 16 << 20;

/// CPU time that the tests' own code may take beside its candidate, in s.
const TESTS_CPU_SECS: u64 = 5;

/// What a candidate's process says once it has loaded its program.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Loaded {
    Ready(#[expect(dead_code, reason = "the word alone counts")] bool),
    Compile(String),
    Raised(Raised),
}

/// A line of the tests' process.
#[derive(Deserialize)]
#[serde(untagged)]
enum Said {
    Call {
        call: u64,
        at: Vec<usize>,
        passed: u32,
        failed: u32,
    },
    Report(Report),
    Invalid {
        invalid: String,
    },
    End {
        #[expect(dead_code, reason = "the word alone counts")]
        end: bool,
    },
}

/// The part of an answer that the judge reads; the value itself goes to the tests as it came.
#[derive(Deserialize)]
struct Answer {
    id: u64,
    raised: Option<Raised>,
    unsupported: Option<String>,
    back: Option<u64>,
}

/// One execution of a program against test code: relays between the candidate's process and the tests'.
pub(super) struct Relay<'a> {
    slot: &'a mut Slot,
    /// Where both sides are commands in boxes.
    boxed: Option<Boxed<'a>>,
    job: &'a Job,
    cancel: &'a CancellationToken,
    outcome: Outcome,
    candidate: Option<Process>,
    tally: Tally,
    /// CPU time spent for each assertion so far, and for what runs outside of any.
    spent: BTreeMap<Option<usize>, u64>,
    /// Whether the one confirmation at twice the limit has been used.
    confirmed: bool,
    timeouts: u32,
    probe: Option<Probe>,
}

impl<'a> Relay<'a> {
    /// Prepares an execution in `slot`.
    pub(super) fn new(
        slot: &'a mut Slot,
        job: &'a Job,
        assertions: &[Assertion],
        cancel: &'a CancellationToken,
    ) -> Self {
        Self {
            slot,
            boxed: None,
            job,
            cancel,
            outcome: Outcome::new(&job.limits),
            candidate: None,
            tally: Tally::new(assertions),
            spent: BTreeMap::new(),
            confirmed: false,
            timeouts: 0,
            probe: None,
        }
    }

    /// Has both sides run as commands in boxes.
    pub(super) fn in_boxes(mut self, boxed: Boxed<'a>) -> Self {
        self.boxed = Some(boxed);
        self
    }

    /// Has the candidate traced.
    pub(super) fn with_probe(mut self, probe: Probe) -> Self {
        self.probe = Some(probe);
        self
    }

    /// Runs the tests.
    pub(super) async fn run(
        mut self,
        code: &str,
        assertions: &[Assertion],
    ) -> Result<(Outcome, Option<Probe>), SandboxError> {
        let mut tests = self.start_tests(code, assertions).await?;
        match self.load().await? {
            Ok(()) => self.converse(&mut tests).await?,
            Err(halt) => self.tally.fail_all(&halt),
        }
        self.retire().await?;
        tests.end(&mut self.slot.tests).await?;
        self.outcome.results = self.tally.into_results();
        Ok((self.outcome, self.probe))
    }

    /// Forks the run of the tests. It starts at once: its first call waits for the candidate.
    async fn start_tests(&mut self, code: &str, assertions: &[Assertion]) -> Result<Tests, SandboxError> {
        let lines = assertions.iter().map(|assertion| assertion.line).collect::<Vec<_>>();
        let language = self.job.program.language;
        let suite = toolchain(language).map_or_else(|| Ok(Value::from(code)), |toolchain| toolchain.suite(code));
        let suite =
            suite.map_err(|error| SandboxError::Harness(format!("line {} of the tests: {error}", error.line)))?;
        let mut request = json!({
            "code": suite,
            "lines": lines,
            "entry": self.job.entry_point,
            "support": self.job.support,
            "preamble": self.job.preamble,
            "cpu_secs": self.process_cpu_ms().div_ceil(1_000) + TESTS_CPU_SECS,
        });
        request["key"] = Value::from(blake3::hash(request.to_string().as_bytes()).to_hex().as_str());
        let request = format!("{request}\n");
        Tests::start(&mut self.slot.tests, self.boxed.as_ref(), request.as_bytes(), TESTS_LINE_BYTES).await
    }

    fn process_cpu_ms(&self) -> u64 {
        self.job.limits.whole_cpu_ms(self.tally.len())
    }

    /// Starts a candidate process and loads the program.
    async fn load(&mut self) -> Result<Result<(), Halt>, SandboxError> {
        let job = json!({
            "mode": "calls",
            "module": "program",
            "source": self.job.program.text,
            "support": self.job.support,
            "limits": process_limits(&self.job.limits, self.process_cpu_ms()),
        });
        let streams = [&self.outcome.streams.stdout, &self.outcome.streams.stderr];
        let stdin = nothing()?;
        let server = &mut self.slot.candidates;
        let candidate = match &self.boxed {
            Some(boxed) => boxed.start_candidate(server, self.job, &job, stdin, streams).await?,
            None => Process::start(server, (&job, &self.job.limits), stdin, streams, self.probe.as_ref()).await?,
        };
        let bounds = Bounds {
            cpu_ms: self.job.limits.test_cpu_ms,
            limits: &self.job.limits,
            flood: &self.outcome.streams.flood,
            cancel: self.cancel,
        };
        let step = self.candidate.insert(candidate).step(&bounds, |channel| channel.receive()).await?;
        if let Some(probe) = &mut self.probe {
            probe.loaded().map_err(failed("reading a trace"))?;
        }
        let line = match step {
            Step::Halted(halt) => return Ok(Err(halt)),
            Step::Done(received, _) => match received.map_err(failed("reading from a candidate"))? {
                Received::Line(line) => line,
                Received::TooLong => return Ok(Err(Halt::forged("an oversized answer"))),
                Received::End => return Ok(Err(self.bury().await?)),
            },
        };
        Ok(match serde_json::from_slice(&line) {
            Ok(Loaded::Ready(_)) => Ok(()),
            Ok(Loaded::Compile(text)) => {
                self.outcome.compile_output = Some(text.clone());
                Err(Halt::new(Verdict::CompileError, text))
            }
            Ok(Loaded::Raised(raised)) => Err(Halt::new(raised.verdict(), raised.message())),
            Err(_) => Err(Halt::forged("a malformed answer")),
        })
    }

    /// Relays until the tests end or the rest is not to be run.
    async fn converse(&mut self, side: &mut Tests) -> Result<(), SandboxError> {
        let patience = Duration::from_millis(self.job.limits.wall_ms(2 * self.job.limits.test_cpu_ms));
        loop {
            let Some(tests) = side.channel() else { return Ok(()) };
            let received = tokio::select! {
                () = self.cancel.cancelled() => return Err(SandboxError::Cancelled),
                received = tokio::time::timeout(patience, tests.receive()) => received,
            };
            let line = match received {
                Ok(received) => match received.map_err(failed("reading from the tests"))? {
                    Received::Line(line) => line,
                    Received::TooLong => {
                        return Err(SandboxError::Harness("the tests' process said too much".to_owned()));
                    }
                    Received::End => return self.tests_died(side).await,
                },
                Err(_) => {
                    // What came from the candidate keeps the tests busy without end.
                    self.outcome.spoiled = true;
                    self.tally.fail_next(&Halt::new(Verdict::TimeoutWall, "wall time limit exceeded while comparing"));
                    return Ok(());
                }
            };
            let said = serde_json::from_slice::<Said>(&line)
                .map_err(|error| SandboxError::Harness(format!("the tests' process said nonsense: {error}")))?;
            match said {
                Said::Report(report) => self.tally.take(report)?,
                Said::Invalid { invalid } => return Err(SandboxError::Harness(invalid)),
                Said::End { .. } => return self.check_silence(),
                Said::Call { call, at, passed, failed: missed } => {
                    let Received::Line(request) = tests.receive().await.map_err(failed("reading from the tests"))?
                    else {
                        return Err(SandboxError::Harness("the tests' process broke off".to_owned()));
                    };
                    let first = at.first().copied();
                    self.tally.now_at(first);
                    let may_confirm = passed > 0 && missed == 0;
                    let reply = self.answer(call, first, may_confirm, request).await?;
                    if let Some(probe) = &mut self.probe {
                        probe.called(&at).map_err(failed("reading a trace"))?;
                    }
                    tests.send(&reply).await.map_err(failed("answering the tests"))?;
                }
            }
        }
    }

    /// The tests' process ended without saying so: a limit of its own, which only a value of the candidate can reach.
    async fn tests_died(&mut self, side: &mut Tests) -> Result<(), SandboxError> {
        let side = std::mem::replace(side, Tests::Gone);
        let ended = side.bury(&mut self.slot.tests, &self.job.limits).await?;
        let halt = of_status(ended.status, ended.cpu_ms, u64::MAX);
        match halt.verdict {
            Verdict::TimeoutCpu => {
                self.tally.fail_next(&Halt::new(halt.verdict, "CPU time limit exceeded while comparing"))
            }
            _ => {
                let message = format!("the value could not be compared: in the tests' process, {}", halt.message);
                self.tally.fail_next(&Halt::new(Verdict::UnsupportedReturn, message));
            }
        }
        Ok(())
    }

    /// Nobody asks any more: whatever the candidate still says was not asked for.
    fn check_silence(&mut self) -> Result<(), SandboxError> {
        if self.candidate.as_mut().is_some_and(|candidate| candidate.channel.has_unread()) {
            self.tally.fail_last(&Halt::forged("an answer that nobody asked for"));
        }
        Ok(())
    }

    /// Passes one call on, within the limits of the assertion that makes it, and writes the reply for the tests.
    async fn answer(
        &mut self,
        call: u64,
        at: Option<usize>,
        may_confirm: bool,
        request: Vec<u8>,
    ) -> Result<Vec<u8>, SandboxError> {
        if self.candidate.is_none()
            && let Err(halt) = self.load().await?
        {
            return self.gone(halt).await;
        }
        let Some(candidate) = self.candidate.as_mut() else {
            return Err(SandboxError::Harness("no candidate to ask".to_owned()));
        };
        if candidate.channel.has_unread() {
            return self.gone(Halt::forged("an answer that nobody asked for")).await;
        }
        let limit = self.job.limits.test_cpu_ms;
        let used = self.spent.get(&at).copied().unwrap_or(0);
        // A timeout is confirmed at twice the limit by going on, not by starting anew.
        let room = if may_confirm && !self.confirmed { 2 * limit } else { limit };
        let bounds = Bounds {
            cpu_ms: room.saturating_sub(used).max(1),
            limits: &self.job.limits,
            flood: &self.outcome.streams.flood,
            cancel: self.cancel,
        };
        let step = candidate
            .step(&bounds, async |channel: &mut Lines| {
                let mut request = request;
                request.push(b'\n');
                channel.send(&request).await?;
                channel.receive().await
            })
            .await?;
        let line = match step {
            Step::Halted(halt) => return self.gone(halt).await,
            Step::Done(received, cpu_ms) => {
                let spent = self.spent.entry(at).or_default();
                *spent += cpu_ms;
                self.outcome.near_limit |= *spent > limit / 2;
                self.confirmed |= *spent > limit;
                self.tally.spend(at, cpu_ms);
                received.map_err(failed("reading from a candidate"))?
            }
        };
        let line = match line {
            Received::Line(line) => line,
            Received::TooLong => return self.gone(Halt::forged("an oversized answer")).await,
            Received::End => {
                let halt = self.bury().await?;
                return self.gone(halt).await;
            }
        };
        match serde_json::from_slice::<Answer>(&line) {
            Ok(answer) if answer.id != call => self.gone(Halt::forged("an answer to another question")).await,
            Ok(Answer { raised: Some(raised), .. }) => {
                let mut value =
                    serde_json::to_value(&raised).map_err(|error| SandboxError::Harness(error.to_string()))?;
                value["verdict"] = Value::from(raised.verdict().name());
                Ok(format!("{}\n", json!({ "reply": "raised", "raised": value })).into_bytes())
            }
            Ok(Answer { unsupported: Some(message), .. }) => {
                Ok(format!("{}\n", json!({ "reply": "unsupported", "message": message })).into_bytes())
            }
            Ok(Answer { back: Some(_), .. }) => Ok([b"{\"reply\":\"back\"}\n", line.as_slice(), b"\n"].concat()),
            Ok(_) => Ok([b"{\"reply\":\"value\"}\n", line.as_slice(), b"\n"].concat()),
            Err(_) => self.gone(Halt::forged("a malformed answer")).await,
        }
    }

    /// Ends the candidate's process and tells the tests why, and whether to go on.
    async fn gone(&mut self, halt: Halt) -> Result<Vec<u8>, SandboxError> {
        self.retire().await?;
        let stop = match halt.verdict {
            Verdict::TimeoutCpu | Verdict::TimeoutWall => {
                self.timeouts += 1;
                self.job.limits.timeouts.is_met(self.timeouts)
            }
            Verdict::Forbidden | Verdict::OutputLimit | Verdict::CompileError => true,
            _ => false,
        };
        let reply = json!({ "reply": "gone", "verdict": halt.verdict.name(), "message": halt.message, "stop": stop });
        Ok(format!("{reply}\n").into_bytes())
    }

    /// The candidate's process ended by itself: says why.
    async fn bury(&mut self) -> Result<Halt, SandboxError> {
        let Some(candidate) = self.candidate.take() else {
            return Err(SandboxError::Harness("no candidate to bury".to_owned()));
        };
        let ended = candidate.bury(&mut self.slot.candidates, &self.job.limits).await?;
        self.account(&ended)?;
        if self.outcome.streams.flood.has_risen() {
            return Ok(Halt::new(Verdict::OutputLimit, "output limit exceeded"));
        }
        let halt = of_status(ended.status, ended.cpu_ms, self.process_cpu_ms());
        Ok(halt.in_the_light_of(&self.outcome.streams.stderr))
    }

    fn account(&mut self, ended: &Ended) -> Result<(), SandboxError> {
        if let Some(probe) = &mut self.probe {
            probe.noted().map_err(failed("reading a trace"))?;
        }
        self.outcome.account(ended);
        Ok(())
    }

    async fn retire(&mut self) -> Result<(), SandboxError> {
        if let Some(candidate) = self.candidate.take() {
            let ended = candidate.retire(&mut self.slot.candidates).await?;
            self.account(&ended)?;
        }
        Ok(())
    }
}
