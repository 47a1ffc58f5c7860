//! One conversation in one row, from its file: of a conversation that is not over, what there is so far.

use std::{
    collections::BTreeSet,
    fs::File,
    io::{self, BufReader},
    path::Path,
};

use serde_json::{Value, json};

use super::{
    finding::{Hand, hand},
    span::ReadSpan,
    stream::{BadLine, SpanLines},
};
use crate::{domain::Money, telemetry::attributes as name};

/// How far a conversation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Its root is there.
    Finished,
    /// It has no root, and somebody writes the file.
    Running,
    /// It has no root, and nobody on this machine writes the file; or it was closed so afterwards.
    Interrupted,
    /// It has no root, and the file system does not say whether somebody writes.
    Open,
}

impl State {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Running => "running",
            Self::Interrupted => "interrupted",
            Self::Open => "open",
        }
    }
}

/// What a file says of its conversation.
#[derive(Clone, Debug, Default)]
pub struct Listed {
    /// The trace id.
    pub conversation: Option<String>,
    /// The run.
    pub run: Option<String>,
    /// The task.
    pub task: Option<String>,
    /// Its data set.
    pub dataset: Option<String>,
    /// The sample.
    pub sample: Option<u64>,
    /// The arrangement.
    pub arrangement: Option<String>,
    /// Why it ended; `None` while it has not.
    pub outcome: Option<String>,
    /// Whether the best program passes the tests that decide.
    pub solved: Option<bool>,
    /// Programs so far.
    pub programs: u64,
    /// Model calls so far.
    pub model_calls: u64,
    /// Known tokens so far.
    pub input_tokens: u64,
    /// Known tokens so far.
    pub output_tokens: u64,
    /// Calls of unknown size so far.
    pub calls_without_usage: u64,
    /// Known cost so far, in units of the currency; `None` while no call's is known.
    pub cost: Option<f64>,
    /// The currency.
    pub currency: Option<String>,
    /// Calls of unknown cost so far.
    pub calls_without_cost: u64,
    /// Its begin, in ns of Unix time.
    pub start: u64,
    /// From its begin to the last that was written, in ns.
    pub duration: u64,
    /// Spans in the file.
    pub spans: u64,
    /// Whether the last line was cut off.
    pub cut: bool,
    /// What could not be read.
    pub damage: Vec<BadLine>,
    /// How far it is.
    pub state: Option<State>,
    end: u64,
    seen: BTreeSet<u64>,
}

/// Reads a file, one line at a time.
///
/// # Errors
/// Where it cannot be read. What stands in it is never an error.
pub fn list(file: &Path) -> io::Result<Listed> {
    let mut listed = Listed { start: u64::MAX, ..Listed::default() };
    // Asked before the file is read: one that is finished in between is not taken for interrupted.
    let hand = hand(file);
    SpanLines::new(BufReader::new(File::open(file)?)).all(|portion| {
        listed.cut |= portion.cut;
        listed.damage.extend(portion.damage);
        portion.spans.iter().for_each(|span| listed.add(span));
    })?;
    listed.close(hand);
    Ok(listed)
}

impl Listed {
    /// Learns what a span says.
    pub fn add(&mut self, span: &ReadSpan) {
        self.spans += 1;
        self.start = self.start.min(span.start);
        self.end = self.end.max(span.end);
        if self.outcome.is_none() {
            self.add_so_far(span);
        }
        if span.is_root() || (span.is_start() && self.conversation.is_none()) {
            let text = |key| span.text(key).map(str::to_owned);
            self.conversation = text(name::CONVERSATION);
            self.run = text(name::RUN);
            self.task = text(name::TASK);
            self.dataset = text(name::DATASET);
            self.sample = span.count(name::SAMPLE);
            self.arrangement = text(name::WORKFLOW).or_else(|| text(name::ARM));
        }
        if span.is_root() {
            self.outcome = span.text(name::OUTCOME).map(str::to_owned);
            self.solved = span.flag(name::SOLVED);
            let count = |key| span.count(key).unwrap_or(0);
            self.programs = count(name::PROGRAMS);
            self.model_calls = count(name::MODEL_CALLS);
            self.input_tokens = count(name::INPUT_TOKENS);
            self.output_tokens = count(name::OUTPUT_TOKENS);
            self.calls_without_usage = count(name::CALLS_WITHOUT_USAGE);
            self.calls_without_cost = count(name::CALLS_WITHOUT_COST);
            self.cost = span.number(name::COST);
            self.currency = span.text(name::CURRENCY).map(str::to_owned);
        }
    }

    /// Counts what the root will say at the end.
    fn add_so_far(&mut self, span: &ReadSpan) {
        if let Some(program) = span.count(name::PROGRAM).filter(|_| span.is_execution())
            && self.seen.insert(program)
        {
            self.programs += 1;
        }
        if span.is_chat() {
            self.model_calls += 1;
            let tokens = (span.count(name::USAGE_INPUT), span.count(name::USAGE_OUTPUT));
            self.input_tokens += tokens.0.unwrap_or(0);
            self.output_tokens += tokens.1.unwrap_or(0);
            self.calls_without_usage += u64::from(tokens == (None, None));
            let cost = span.number(name::COST);
            self.calls_without_cost += u64::from(cost.is_none());
            self.cost = self.cost.into_iter().chain(cost).reduce(|sum, cost| sum + cost);
            self.currency = self.currency.take().or_else(|| span.text(name::CURRENCY).map(str::to_owned));
        }
    }

    fn close(&mut self, hand: io::Result<Hand>) {
        if self.spans == 0 {
            self.start = 0;
        }
        self.duration = self.end.saturating_sub(self.start);
        self.state = Some(match (self.outcome.as_deref(), hand) {
            (Some(name::INTERRUPTED), _) => State::Interrupted,
            (Some(_), _) => State::Finished,
            (None, Ok(Hand::Held)) => State::Running,
            (None, Ok(Hand::Free)) => State::Interrupted,
            (None, Err(_)) => State::Open,
        });
    }

    /// The word for how far it is.
    pub fn state_name(&self) -> &'static str {
        self.state.unwrap_or(State::Open).name()
    }

    /// What it cost, for people; empty where nothing has a price.
    pub fn cost_words(&self) -> String {
        let bound = if self.calls_without_cost > 0 { "≥" } else { "" };
        match (self.cost.and_then(Money::nearest), &self.currency) {
            (Some(cost), Some(currency)) => format!("{bound}{cost} {currency}"),
            _ => String::new(),
        }
    }

    /// For programs.
    pub fn to_json(&self, file: &Path) -> Value {
        json!({
            "event": "listed",
            "file": file.to_string_lossy(),
            "conversation": self.conversation,
            "run": self.run,
            "task": self.task,
            "dataset": self.dataset,
            "sample": self.sample,
            "arrangement": self.arrangement,
            "state": self.state_name(),
            "outcome": self.outcome,
            "solved": self.solved,
            "programs": self.programs,
            "model_calls": self.model_calls,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "calls_without_usage": self.calls_without_usage,
            "cost": self.cost,
            "currency": self.currency,
            "calls_without_cost": self.calls_without_cost,
            "start_unix_ns": self.start,
            "duration_ns": self.duration,
            "spans": self.spans,
            "cut": self.cut,
            "damage": self.damage,
        })
    }
}
