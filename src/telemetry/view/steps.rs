//! A conversation as its steps: what each turn was about, asked, wrote and found out, without times and ids that differ
//! from run to run.

use std::{
    collections::BTreeMap,
    io::{self, BufRead},
};

use serde_json::{Map, Value};

use super::{
    span::ReadSpan,
    stream::{BadLine, SpanLines},
    wording,
};
use crate::telemetry::attributes as name;

/// What is known of a thing, in words: names and values in a fixed order.
pub type Facts = Vec<(&'static str, String)>;

/// One model call of a step.
#[derive(Clone, Debug, Default)]
struct Call {
    purpose: String,
    finish: String,
    prompt_hash: Option<String>,
}

/// One turn, by its last attempt.
#[derive(Clone, Debug, Default)]
pub struct Step {
    attempt: u64,
    calls: BTreeMap<u64, Call>,
    tools: BTreeMap<String, u64>,
    of_turn: Facts,
    /// The actor.
    pub actor: String,
    /// The round.
    pub generation: u64,
    /// The step as a line of words.
    pub words: String,
}

impl Step {
    /// All that is compared, in the order in which it comes about.
    pub fn facts(&self) -> Facts {
        let calls = |of: fn(&Call) -> &str| self.calls.values().map(of).collect::<Vec<_>>().join(", ");
        let tools = self.tools.iter().map(|(tool, uses)| format!("{uses} {tool}"));
        let mut facts: Facts = vec![("actor", self.actor.clone()), ("round", self.generation.to_string())];
        facts.push(("asked to", calls(|call| &call.purpose)));
        facts.push(("replies ended by", calls(|call| &call.finish)));
        facts.push(("tools", tools.collect::<Vec<_>>().join(", ")));
        facts.extend(self.of_turn.iter().cloned());
        facts.retain(|(_, value)| !value.is_empty());
        facts
    }

    /// Hashes of the files that its prompts were made from, where the trace has them.
    pub fn prompts(&self) -> Option<Vec<&str>> {
        let hashes: Option<Vec<&str>> = self.calls.values().map(|call| call.prompt_hash.as_deref()).collect();
        hashes.filter(|hashes| !hashes.is_empty())
    }
}

/// The steps of a conversation by their number in the logical order, and what its root says.
#[derive(Clone, Debug, Default)]
pub struct Steps {
    /// The steps.
    pub steps: BTreeMap<u64, Step>,
    /// Which conversation it is.
    pub head: Facts,
    /// How it ended; empty while it has not.
    pub end: Facts,
    /// How many spans there are, also those of no step.
    pub spans: usize,
    /// Whether the last line was cut off.
    pub cut: bool,
    /// What could not be read.
    pub damage: Vec<BadLine>,
}

impl Steps {
    /// Reads a trace file, one line at a time.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn read(reader: impl BufRead) -> io::Result<Self> {
        let mut steps = Self::default();
        SpanLines::new(reader).all(|portion| {
            steps.cut |= portion.cut;
            steps.damage.extend(portion.damage);
            steps.spans += portion.spans.len();
            portion.spans.iter().for_each(|span| steps.add(span));
        })?;
        Ok(steps)
    }

    fn add(&mut self, span: &ReadSpan) {
        if span.is_root() {
            self.end = end(span);
        }
        if span.is_root() || span.is_start() && self.head.is_empty() {
            self.head = head(span);
        }
        let Some(seq) = span.count(name::SEQ) else { return };
        let attempt = span.count(name::ATTEMPT).unwrap_or(0);
        let step = self.steps.entry(seq).or_default();
        if attempt < step.attempt {
            return;
        }
        if attempt > step.attempt {
            *step = Step { attempt, ..Step::default() };
        }
        step.actor.clone_from(&span.service);
        step.generation = span.count(name::GENERATION).unwrap_or(0);
        if span.is_chat() {
            let word = |key| span.text(key).unwrap_or_default().to_owned();
            let ended = [name::FINISH, name::ENDED_BY, name::ERROR_TYPE].map(word);
            let call = Call {
                purpose: word(name::PURPOSE),
                finish: ended.into_iter().filter(|one| !one.is_empty()).collect::<Vec<_>>().join(" "),
                prompt_hash: span.text(name::PROMPT_HASH).map(str::to_owned),
            };
            step.calls.insert(span.count(name::ORDINAL).unwrap_or(0), call);
        } else if span.is_turn() {
            step.of_turn = of_turn(span);
            let parts = wording::timeless(span);
            step.words = parts.into_iter().map(|(_, part)| part).collect::<Vec<_>>().join("  ");
        } else if let Some(tool) = span.text(name::TOOL) {
            *step.tools.entry(tool.to_owned()).or_default() += 1;
        }
    }
}

/// The values of one key in the events of one name, in their order.
fn of_events(span: &ReadSpan, event: &str, key: &str, keep: impl Fn(&Map<String, Value>) -> bool) -> String {
    let values = span.events_named(event).filter(|of| keep(of));
    values.filter_map(|of| of.get(key)?.as_str()).collect::<Vec<_>>().join(", ")
}

fn rewards(span: &ReadSpan) -> String {
    let words = |(candidate, reward): (&str, Option<f64>)| match reward {
        Some(reward) => format!("{candidate} {reward}"),
        None => format!("{candidate} unscored"),
    };
    span.rewards().into_iter().map(words).collect::<Vec<_>>().join(", ")
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        Value::Array(values) => values.iter().map(shown).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

fn attribute(span: &ReadSpan, key: &str) -> String {
    span.attributes.get(key).map(shown).unwrap_or_default()
}

fn of_turn(span: &ReadSpan) -> Facts {
    let ranked = |word: &str| {
        of_events(span, name::RANKED_EVENT, name::CANDIDATE, |of| of.get(name::RANKING).is_some_and(|one| one == word))
    };
    let tests = span.attributes.iter().filter_map(|(key, count)| {
        let verdict = key.strip_prefix(name::TESTS_PREFIX)?;
        Some(format!("{count} {verdict}"))
    });
    let mut tests: Vec<String> = tests.collect();
    tests.sort();
    vec![
        ("role", attribute(span, name::ROLE)),
        ("received", attribute(span, name::RECEIVED)),
        ("intervention", attribute(span, name::INTERVENTION)),
        ("without", attribute(span, name::MISSING)),
        ("about", attribute(span, name::CANDIDATE)),
        ("program", if span.is_execution() { attribute(span, name::PROGRAM_HASH) } else { String::new() }),
        ("same program as", attribute(span, name::DUPLICATE_OF)),
        ("verdict", attribute(span, name::VERDICT)),
        ("tests", tests.join(", ")),
        ("score", attribute(span, name::SCORE)),
        ("rewards", rewards(span)),
        ("wrote", of_events(span, name::WRITTEN_EVENT, name::CANDIDATE, |_| true)),
        ("programs", of_events(span, name::WRITTEN_EVENT, name::PROGRAM_HASH, |_| true)),
        ("kept", ranked("kept")),
        ("dropped", ranked("dropped")),
        ("messages", attribute(span, name::SAID)),
        ("refused", attribute(span, name::REFUSED)),
        ("ended by", attribute(span, name::ENDED_BY)),
        ("error", attribute(span, name::ERROR_TYPE)),
    ]
}

fn head(span: &ReadSpan) -> Facts {
    let topology = span.text(name::WORKFLOW).or_else(|| span.text(name::ARM)).unwrap_or_default();
    vec![
        ("task", attribute(span, name::TASK)),
        ("dataset", attribute(span, name::DATASET)),
        ("sample", attribute(span, name::SAMPLE)),
        ("arrangement", topology.to_owned()),
        ("arrangement's hash", attribute(span, name::TOPOLOGY_HASH)),
        ("seed", attribute(span, name::SEED)),
        ("interventions", attribute(span, name::INTERVENTIONS)),
    ]
}

fn end(span: &ReadSpan) -> Facts {
    vec![
        ("outcome", attribute(span, name::OUTCOME)),
        ("solved", attribute(span, name::SOLVED)),
        ("best", attribute(span, name::BEST)),
        ("best score", attribute(span, name::SCORE)),
        ("hidden tests", attribute(span, name::HIDDEN_VERDICT)),
        ("programs", attribute(span, name::PROGRAMS)),
        ("model calls", attribute(span, name::MODEL_CALLS)),
    ]
}
