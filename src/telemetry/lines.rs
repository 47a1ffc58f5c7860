//! One line for each kind of span: who, what about, what came of it, how long.

use serde_json::Value;

use super::{attributes as name, execution::RUN_TESTS, reading::ReadSpan};

/// How many candidates a line names.
const NAMES_SHOWN: usize = 8;

/// How a line is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// As it is.
    Plain,
    /// Structure: rounds.
    Strong,
    /// What holds the rest together: handoffs, times.
    Faint,
    /// All tests passed.
    Good,
    /// Something of ours failed.
    Bad,
}

/// The parts of a line, each with its tone.
pub type Line = Vec<(Tone, String)>;

/// The line of a span.
pub fn line(span: &ReadSpan) -> Line {
    let operation = span.text(name::OPERATION).unwrap_or_default();
    let mut parts = match operation {
        "chat" => chat(span),
        "execute_tool" if span.text(name::TOOL) == Some(RUN_TESTS) => execution(span),
        "execute_tool" if span.text(name::PEER_SERVICE).is_some() => post(span),
        "execute_tool" => vec![(Tone::Plain, span.text(name::TOOL).unwrap_or(&span.name).to_owned())],
        "invoke_agent" => agent(span),
        _ if span.name == "handoff" => handoff(span),
        _ if span.name == "round" => round(span),
        _ => vec![(Tone::Plain, span.name.clone())],
    };
    if span.count(name::ATTEMPT).is_some_and(|attempt| attempt > 0) && operation != "chat" {
        parts.push((Tone::Faint, "second attempt".to_owned()));
    }
    if let Some(word) = span.text(name::ENDED_BY).or_else(|| span.text(name::REFUSED)) {
        parts.push((Tone::Faint, format!("ended by {word}")));
    }
    if let Some(message) = &span.error {
        let kind = span.text(name::ERROR_TYPE).unwrap_or("error");
        let words = if message.is_empty() { String::new() } else { format!(": {message}") };
        parts.push((Tone::Bad, format!("failed, {kind}{words}")));
    }
    if span.name != "handoff" {
        parts.push((Tone::Faint, duration(span.end.saturating_sub(span.start))));
    }
    parts
}

fn chat(span: &ReadSpan) -> Line {
    let model = span.text(name::REQUEST_MODEL).unwrap_or("a model");
    let purpose = span.text(name::PURPOSE).unwrap_or("answer");
    let mut parts = vec![(Tone::Plain, format!("asks {model} to {purpose}"))];
    match (span.count(name::USAGE_INPUT), span.count(name::USAGE_OUTPUT)) {
        (None, None) => {}
        (input, output) => {
            let word = |tokens: Option<u64>| tokens.map_or("?".to_owned(), |tokens| tokens.to_string());
            parts.push((Tone::Plain, format!("{} + {} tokens", word(input), word(output))));
        }
    }
    parts.extend(span.text(name::FINISH).map(|finish| (Tone::Faint, finish.to_owned())));
    let requests = span.count(name::ATTEMPTS).filter(|requests| *requests > 1);
    parts.extend(requests.map(|requests| (Tone::Faint, format!("{requests} requests"))));
    parts
}

fn post(span: &ReadSpan) -> Line {
    let (server, what) = (span.text(name::PEER_SERVICE).unwrap_or_default(), span.text(name::TOOL).unwrap_or_default());
    let mut parts = vec![(Tone::Plain, format!("asks {server} for {what}"))];
    parts.extend(span.count(name::HTTP_STATUS).map(|status| (Tone::Faint, format!("status {status}"))));
    let requests = span.count(name::ATTEMPTS).filter(|requests| *requests > 1);
    parts.extend(requests.map(|requests| (Tone::Faint, format!("{requests} requests"))));
    parts
}

fn execution(span: &ReadSpan) -> Line {
    let mut parts = vec![(Tone::Plain, format!("{} runs {}", span.service, candidate(span)))];
    if let Some(verdict) = span.text(name::VERDICT) {
        let tone = if verdict == "passed" { Tone::Good } else { Tone::Plain };
        parts.push((tone, result(span, verdict)));
    }
    parts.extend(span.count(name::CPU_MS).map(|cpu| (Tone::Faint, format!("{cpu} ms CPU"))));
    parts
}

/// The verdict with the counts of tests.
pub fn result(span: &ReadSpan, verdict: &str) -> String {
    let passed = span.count(&format!("{}passed", name::TESTS_PREFIX));
    let tests = passed.zip(span.count(name::TESTS)).map(|(passed, all)| format!(" {passed}/{all}")).unwrap_or_default();
    let score = span.number(name::SCORE).map(|score| format!(" (score {score:.2})")).unwrap_or_default();
    format!("{verdict}{tests}{score}")
}

fn candidate(span: &ReadSpan) -> String {
    let own = span.text(name::CANDIDATE).unwrap_or("candidates");
    let number = span.count(name::PROGRAM).map(|number| format!(" (program {number})")).unwrap_or_default();
    let parent = span.text(name::PARENT).map(|parent| format!(" from {parent}")).unwrap_or_default();
    let edit = span.text(name::EDIT).map(|edit| format!(", {edit}")).unwrap_or_default();
    format!("{own}{number}{parent}{edit}")
}

fn agent(span: &ReadSpan) -> Line {
    let events = |wanted: &'static str| span.events.iter().filter(move |(event, _)| event == wanted);
    let word = |key: &'static str| move |of: &serde_json::Map<String, Value>| Some(of.get(key)?.as_str()?.to_owned());
    let named = |wanted, keep: &dyn Fn(&serde_json::Map<String, Value>) -> bool| {
        let of = events(wanted).map(|(_, of)| of).filter(|of| keep(of)).filter_map(word(name::CANDIDATE));
        few(&of.collect::<Vec<String>>())
    };
    let ranked = |ranking: &'static str| {
        named(name::RANKED_EVENT, &move |of| word(name::RANKING)(of).is_some_and(|word| word == ranking))
    };
    let written = named(name::WRITTEN_EVENT, &|_| true);
    let parent = span.text(name::PARENT).map(|parent| format!(" from {parent}")).unwrap_or_default();
    let said = if !written.is_empty() {
        format!("{} writes {written}{parent}", span.service)
    } else if events(name::RANKED_EVENT).next().is_some() {
        let (kept, dropped) = (ranked("kept"), ranked("dropped"));
        let dropped = if dropped.is_empty() { String::new() } else { format!(", drops {dropped}") };
        format!("{} keeps {kept}{dropped}", span.service)
    } else if let Some(candidate) = span.text(name::CANDIDATE) {
        format!("{} on {candidate}", span.service)
    } else {
        span.service.clone()
    };
    let mut parts = vec![(Tone::Plain, said)];
    parts.extend(rewards(span).map(|rewards| (Tone::Plain, rewards)));
    if let Some(missing) = span.attributes.get(name::MISSING).and_then(Value::as_array) {
        let missing: Vec<&str> = missing.iter().filter_map(Value::as_str).collect();
        parts.push((Tone::Bad, format!("without {}", missing.join(", "))));
    }
    parts
}

/// What a critic said of the programs that its turn is about.
fn rewards(span: &ReadSpan) -> Option<String> {
    let source = span.text(name::REWARD_SOURCE)?;
    let evaluations: Vec<_> = span.events.iter().filter(|(event, _)| event == name::EVALUATION).collect();
    let reward = |of: &serde_json::Map<String, Value>| {
        let reward = of.get(name::EVALUATION_SCORE).and_then(Value::as_f64);
        reward.map_or_else(|| "unscored".to_owned(), |reward| format!("reward {reward}"))
    };
    if let [(_, of)] = evaluations[..] {
        return Some(format!("{} ({source})", reward(of)));
    }
    let candidate =
        |of: &serde_json::Map<String, Value>| of.get(name::CANDIDATE).and_then(Value::as_str).map(str::to_owned);
    let each = evaluations.iter().filter_map(|(_, of)| Some(format!("{} {}", candidate(of)?, reward(of))));
    Some(format!("{} ({source})", few(&each.collect::<Vec<String>>())))
}

fn handoff(span: &ReadSpan) -> Line {
    let from = if span.text(name::ROLE).is_some() { &span.service } else { "the task" };
    let kind = span.text(name::RECEIVED).unwrap_or("message");
    vec![(Tone::Faint, format!("{from} hands on: {kind}"))]
}

fn round(span: &ReadSpan) -> Line {
    let generation = span.count(name::GENERATION).map_or_else(|| "?".to_owned(), |number| number.to_string());
    let mut parts = vec![(Tone::Strong, format!("round {generation}"))];
    parts.extend(span.count(name::PROGRAMS).map(|programs| (Tone::Plain, plural(programs, "program"))));
    parts.extend(span.number(name::SCORE).map(|score| (Tone::Plain, format!("best score {score:.2}"))));
    parts
}

/// The first names of a list, and how many more there are.
fn few(names: &[String]) -> String {
    let more = names.len().saturating_sub(NAMES_SHOWN);
    let shown = names[..names.len() - more].join(", ");
    if more == 0 { shown } else { format!("{shown} and {more} more") }
}

/// `1 program`, `2 programs`.
pub fn plural(count: u64, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}

/// A span of time as people read it.
pub fn duration(ns: u64) -> String {
    match ns {
        0..1_000_000 => format!("{} µs", ns / 1_000),
        1_000_000..1_000_000_000 => format!("{} ms", ns / 1_000_000),
        1_000_000_000..60_000_000_000 => format!("{:.1} s", ns as f64 / 1e9),
        _ => format!("{} min {} s", ns / 60_000_000_000, ns / 1_000_000_000 % 60),
    }
}
