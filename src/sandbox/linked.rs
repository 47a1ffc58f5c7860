use std::collections::BTreeMap;
use std::path::PathBuf;

use tokio_util::sync::CancellationToken;

use super::boxes::Launch;
use super::build::{Building, Built, How, build};
use super::lines::{Lines, Received};
use super::outcome::Outcome;
use super::process::{Bounds, Outputs, Process, Step};
use super::slot::{Slot, failed, nothing};
use super::tally::Tally;
use super::verdicts::{Halt, of_status, of_words};
use super::{Job, SandboxError};
use crate::domain::{Assertion, Verdict};
use crate::languages::{Linked, LinkedHarness, LinkedRequest, LinkedSaid, Seal, Toolchain, Tools};

/// One execution of a program that is linked with its tests.
///
/// The program runs in a box until it ends or a limit ends it; what it has not decided then is decided in a new one, where
/// what is decided already is skipped. A program that passes everything is run once more with one assertion turned into its
/// opposite, which must fail: an object that equals everything, a patched comparison and an early end are found out so.
pub(super) struct LinkedRun<'a> {
    pub(super) slot: &'a mut Slot,
    pub(super) job: &'a Job,
    pub(super) tools: &'a Tools,
    pub(super) toolchain: &'a dyn Toolchain,
    pub(super) cancel: &'a CancellationToken,
    /// Paths of this machine that outputs may name.
    pub(super) hidden: &'a [PathBuf],
}

/// What one process of the program did.
struct Passage {
    /// Assertions that it decided.
    decided: BTreeMap<usize, LinkedSaid>,
    /// The one that it was at when it ended early, if it was at one, and why it ended.
    broken: Option<(Option<usize>, Halt)>,
    /// What ended a test function outside of any assertion.
    outside: Option<Halt>,
    cpu_ms: u64,
}

impl LinkedRun<'_> {
    /// Builds the program and runs its tests.
    pub(super) async fn run(
        mut self,
        harness: &dyn LinkedHarness,
        code: &str,
        assertions: &[Assertion],
    ) -> Result<Outcome, SandboxError> {
        let mut outcome = Outcome::new(&self.job.limits);
        let mut tally = Tally::new(assertions);
        let linked = Linked {
            program: &self.job.program.text,
            preamble: self.job.preamble.as_deref(),
            support: self.job.support.as_deref(),
            tests: code,
            assertions,
            entry_point: self.job.entry_point.as_deref(),
        };
        let unit = harness.unit(&linked).map_err(|error| SandboxError::Harness(error.to_string()))?;
        let how = How { toolchain: self.toolchain, tools: self.tools, limits: &self.job.limits, hidden: self.hidden };
        match build(self.slot, &unit, &how, self.cancel).await? {
            Building::Refused(halt, said) => {
                tally.fail_all(&halt);
                outcome.compile_output = Some(said);
            }
            Building::Built(built) => {
                outcome.compile_output.clone_from(&built.output);
                self.judge(&built, &mut outcome, &mut tally).await?;
            }
        }
        outcome.results = tally.into_results();
        Ok(outcome)
    }

    async fn judge(&mut self, built: &Built, outcome: &mut Outcome, tally: &mut Tally) -> Result<(), SandboxError> {
        let mut decided = vec![false; tally.len()];
        let (mut timeouts, mut confirmed) = (0, false);
        while decided.iter().any(|decided| !decided) {
            let room = !confirmed && decided.iter().any(|decided| *decided);
            let passage = self.passage(built, &decided, None, room, (&mut *outcome, &mut *tally)).await?;
            confirmed |= passage.cpu_ms > self.job.limits.test_cpu_ms;
            let before = decided.iter().filter(|decided| **decided).count();
            for (index, said) in passage.decided {
                if let Some(place) = decided.get_mut(index) {
                    *place = true;
                    tally.take_linked(said)?;
                }
            }
            let Some((at, halt)) = passage.broken else {
                if let Some(halt) = passage.outside {
                    tally.fail_unreached(&halt);
                }
                break;
            };
            let at = at.or_else(|| decided.iter().position(|decided| !decided));
            if let Some(at) = at {
                tally.fail_at(at, &halt);
                decided[at] = true;
            }
            timeouts += u32::from(halt.verdict.is_timeout());
            let stop = self.job.limits.timeouts.is_met(timeouts);
            let stuck = decided.iter().filter(|decided| **decided).count() == before;
            if stop || stuck || halt.verdict == Verdict::Forbidden {
                break;
            }
        }
        if tally.all_passed() {
            self.canary(built, outcome, tally).await?;
        }
        Ok(())
    }

    /// One assertion turned into its opposite must fail, and fail alone.
    async fn canary(&mut self, built: &Built, outcome: &mut Outcome, tally: &mut Tally) -> Result<(), SandboxError> {
        // The same for the same program, another for another.
        let digest = blake3::hash(self.job.program.text.as_bytes());
        let chosen = usize::from(digest.as_bytes()[0]) % tally.len().max(1);
        // None is skipped: some can be reached through others only.
        let decided = vec![false; tally.len()];
        let passage = self.passage(built, &decided, Some(chosen), true, (&mut *outcome, &mut *tally)).await?;
        if matches!(passage.decided.get(&chosen), Some(LinkedSaid::Failed { .. })) && passage.broken.is_none() {
            return Ok(());
        }
        // A program near its limit may not reach the canary in time: that is slow, and proves no forging.
        if let Some((_, halt)) = passage.broken.filter(|(_, halt)| halt.verdict.is_timeout()) {
            tally.fail_at(chosen, &halt);
            return Ok(());
        }
        let reason = "canary: a test that cannot hold was not found to fail";
        tally.fail_at(chosen, &Halt::new(Verdict::Forbidden, reason));
        Ok(())
    }

    /// Runs the program once.
    async fn passage(
        &mut self,
        built: &Built,
        decided: &[bool],
        canary: Option<usize>,
        may_confirm: bool,
        (outcome, tally): (&mut Outcome, &mut Tally),
    ) -> Result<Passage, SandboxError> {
        let limits = &self.job.limits;
        let open = decided.iter().filter(|decided| !**decided).count();
        let cpu_ms = limits.whole_cpu_ms(open.max(1));
        let launch =
            Launch { command: &built.run, attempt: None, files: &built.files, keep: None, talks: true, limits, cpu_ms };
        let stdin = nothing()?;
        let captures = [&outcome.streams.stdout, &outcome.streams.stderr];
        let mut process =
            Process::spawn(&mut self.slot.candidates, &launch, stdin, Outputs::Captured(captures)).await?;
        let nonce = uuid::Uuid::new_v4().simple().to_string();
        let mut listener = Listener::new(Seal::of(&nonce), decided);
        let request = LinkedRequest { nonce, decided: decided.to_vec(), canary };
        process.channel.send(request.line().as_bytes()).await.map_err(failed("asking a program"))?;
        let flood = outcome.streams.flood.clone();
        let mut longest = 0;
        let mut broken = None;
        loop {
            let room = if may_confirm { 2 * limits.test_cpu_ms } else { limits.test_cpu_ms };
            let bounds = Bounds { cpu_ms: room, limits, flood: &flood, cancel: self.cancel };
            let step = process.step(&bounds, async |channel: &mut Lines| channel.receive().await).await?;
            match step {
                Step::Halted(halt) => {
                    longest = limits.test_cpu_ms;
                    broken = Some((listener.at(), halt));
                    break;
                }
                Step::Done(received, cpu_ms) => {
                    longest = longest.max(cpu_ms);
                    tally.spend(listener.at(), cpu_ms);
                    match received.map_err(failed("reading from a program"))? {
                        Received::End => break,
                        Received::TooLong => {
                            broken = Some((listener.at(), Halt::forged("an oversized message")));
                            break;
                        }
                        Received::Line(line) => {
                            if let Err(halt) = listener.hear(&line) {
                                broken = Some((listener.at(), halt));
                                break;
                            }
                        }
                    }
                }
            }
        }
        let ended = match broken {
            None => process.bury(&mut self.slot.candidates, limits).await?,
            Some(_) => process.retire(&mut self.slot.candidates).await?,
        };
        outcome.account(&ended);
        outcome.near_limit |= broken.is_none() && longest > limits.test_cpu_ms / 2;
        let broken = broken.or_else(|| {
            if flood.has_risen() {
                return Some((listener.at(), Halt::new(Verdict::OutputLimit, "output limit exceeded")));
            }
            let halt = || of_status(ended.status, ended.cpu_ms, cpu_ms).in_the_light_of(&outcome.streams.stderr);
            (ended.status != 0 || !listener.is_complete()).then(|| (listener.at(), halt()))
        });
        Ok(Passage { decided: listener.decided, broken, outside: listener.outside, cpu_ms: longest })
    }
}

/// Reads what one process says, and stops at the first thing that it may not say.
struct Listener<'a> {
    seal: Seal,
    /// Lines heard so far.
    lines: u64,
    /// Assertions at work, the innermost last: the values of one may be computed by a function that asserts.
    at: Vec<usize>,
    decided: BTreeMap<usize, LinkedSaid>,
    skipped: &'a [bool],
    reports: usize,
    done: Option<usize>,
    outside: Option<Halt>,
}

impl<'a> Listener<'a> {
    fn new(seal: Seal, skipped: &'a [bool]) -> Self {
        Self {
            seal,
            lines: 0,
            at: Vec::new(),
            decided: BTreeMap::new(),
            skipped,
            reports: 0,
            done: None,
            outside: None,
        }
    }

    fn at(&self) -> Option<usize> {
        self.at.last().copied()
    }

    /// Whether the program has said that it came to its end, with as many reports as it made.
    fn is_complete(&self) -> bool {
        self.at.is_empty() && self.done == Some(self.reports)
    }

    fn hear(&mut self, line: &[u8]) -> Result<(), Halt> {
        let said = LinkedSaid::read(line, &self.seal, self.lines);
        let said = said.ok_or_else(|| Halt::forged("a malformed message"))?;
        self.lines += 1;
        if self.done.is_some() {
            return Err(Halt::forged("a message after the last"));
        }
        match said {
            LinkedSaid::Begin(index) => {
                let known = self.skipped.get(index).is_some_and(|skipped| !skipped);
                if !known {
                    return Err(Halt::forged("a test out of order"));
                }
                self.at.push(index);
            }
            LinkedSaid::Done(count) => self.done = Some(count),
            // Those that it keeps from running are not reported.
            LinkedSaid::Raised { index: None, text } => {
                self.at.clear();
                self.outside = Some(Halt::new(of_words(&text), text));
            }
            LinkedSaid::Passed(index)
            | LinkedSaid::Failed { index, .. }
            | LinkedSaid::Unsupported { index, .. }
            | LinkedSaid::Raised { index: Some(index), .. } => {
                if self.at.pop() != Some(index) {
                    return Err(Halt::forged("an answer to another question"));
                }
                self.reports += 1;
                // An assertion in a loop is one test: the first of its verdicts that is not passed counts.
                let held = self.decided.get(&index).is_none_or(|before| matches!(before, LinkedSaid::Passed(_)));
                if held {
                    self.decided.insert(index, said);
                }
            }
        }
        Ok(())
    }
}
