//! One line for each kind of span: who, what about, what came of it.

use serde_json::{Map, Value};

use super::{
    page::{Line, Tone},
    span::{ReadSpan, SpanKey},
};
use crate::{domain::Money, telemetry::attributes as name};

/// How many candidates a line names.
const NAMES_SHOWN: usize = 8;

/// Names the span that a link leads to; `None` where it is not in the file.
pub type Naming<'a> = &'a dyn Fn(&SpanKey) -> Option<String>;

/// What a link to this span calls it: the number of its turn, else its name.
pub fn link_name(span: &ReadSpan) -> String {
    span.count(name::SEQ).map_or_else(|| span.name.clone(), |seq| format!("#{seq}"))
}

/// The line of a span, without its offset and length.
pub fn line(span: &ReadSpan, naming: Naming<'_>) -> Line {
    let mut parts = said_and_done(span);
    parts.extend(span.count(name::CPU_MS).map(|cpu| (Tone::Faint, format!("{cpu} ms CPU"))));
    parts.extend(links(span, naming).map(|words| (Tone::Faint, words)));
    parts.extend(ending(span));
    parts
}

/// What is the same whenever the same is done: no times, no links.
pub fn timeless(span: &ReadSpan) -> Line {
    let mut parts = said_and_done(span);
    parts.extend(ending(span));
    parts
}

fn said_and_done(span: &ReadSpan) -> Line {
    let operation = span.text(name::OPERATION).unwrap_or_default();
    let mut parts = Vec::new();
    if span.is_turn() {
        parts.extend(span.count(name::SEQ).map(|seq| (Tone::Faint, format!("#{seq}"))));
    }
    parts.extend(match operation {
        "chat" => chat(span),
        "execute_tool" if span.is_execution() => execution(span),
        "execute_tool" if span.text(name::PEER_SERVICE).is_some() => post(span),
        "execute_tool" => vec![(Tone::Plain, span.text(name::TOOL).unwrap_or(&span.name).to_owned())],
        "invoke_agent" => agent(span),
        _ if span.name == name::HANDOFF_SPAN => handoff(span),
        _ if span.is_round() => round(span),
        _ => vec![(Tone::Plain, span.name.clone())],
    });
    parts
}

/// What was unusual about how it went.
fn ending(span: &ReadSpan) -> Line {
    let mut parts = Vec::new();
    if let Some(attempt) = span.count(name::ATTEMPT).filter(|attempt| *attempt > 0 && span.is_turn()) {
        parts.push((Tone::Faint, format!("attempt {}", attempt + 1)));
    }
    if let Some(word) = span.text(name::ENDED_BY).or_else(|| span.text(name::REFUSED)) {
        parts.push((Tone::Faint, format!("ended by {word}")));
    }
    if let Some(message) = &span.error {
        let kind = span.text(name::ERROR_TYPE).unwrap_or("error");
        let words = if message.is_empty() { String::new() } else { format!(": {message}") };
        parts.push((Tone::Bad, format!("failed, {kind}{words}")));
    }
    parts
}

/// Where the links of a span lead.
fn links(span: &ReadSpan, naming: Naming<'_>) -> Option<String> {
    // A handoff's own link says once more what its line says.
    let links = || span.links.iter().filter(|_| span.name != name::HANDOFF_SPAN);
    let target = |to: &SpanKey| naming(to).unwrap_or_else(|| format!("{} (not here)", to.span_hex()));
    let gathered: Vec<String> = links().filter(|link| link.why == "fan_in").map(|link| target(&link.to)).collect();
    let others = links().filter(|link| link.why != "fan_in");
    let others: Vec<String> = others.map(|link| format!("{} {}", link.why, target(&link.to))).collect();
    let gathered = (!gathered.is_empty()).then(|| format!("also from {}", few(&gathered)));
    let others = (!others.is_empty()).then(|| format!("linked: {}", few(&others)));
    let words: Vec<String> = gathered.into_iter().chain(others).collect();
    (!words.is_empty()).then(|| words.join("; "))
}

/// What a call, or a conversation with all its calls, cost; `None` where nothing has a price.
pub fn cost(span: &ReadSpan) -> Option<String> {
    let bound = if span.count(name::CALLS_WITHOUT_COST).is_some() { "≥" } else { "" };
    let sure = span.number(name::COST).and_then(Money::nearest);
    let currency = span.text(name::CURRENCY)?;
    let doubt = span.number(name::COST_IN_DOUBT).and_then(Money::nearest);
    let doubt = doubt.map(|doubt| format!(", and possibly {doubt} more")).unwrap_or_default();
    Some(sure.map_or("?".to_owned(), |sure| format!("{bound}{sure} {currency}{doubt}")))
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
    parts.extend(cost(span).map(|words| (Tone::Plain, words)));
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
    parts.extend(span.text(name::DUPLICATE_OF).map(|twin| (Tone::Faint, format!("the same program as {twin}"))));
    parts.extend(span.flag(name::NEAR_LIMIT).filter(|near| *near).map(|_| (Tone::Faint, "near a limit".to_owned())));
    let suspicious = span.count(name::SUSPICIOUS_CALLS);
    parts.extend(suspicious.map(|calls| (Tone::Bad, plural(calls, "suspicious call"))));
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
    let named = |wanted, keep: &dyn Fn(&Map<String, Value>) -> bool| {
        let of = span.events_named(wanted).filter(|of| keep(of));
        few(&of.filter_map(|of| Some(of.get(name::CANDIDATE)?.as_str()?.to_owned())).collect::<Vec<String>>())
    };
    let ranked = |word: &str| named(name::RANKED_EVENT, &|of| of.get(name::RANKING).is_some_and(|said| said == word));
    let written = named(name::WRITTEN_EVENT, &|_| true);
    let parent = span.text(name::PARENT).map(|parent| format!(" from {parent}")).unwrap_or_default();
    let said = if !written.is_empty() {
        format!("{} writes {written}{parent}", span.service)
    } else if span.events_named(name::RANKED_EVENT).next().is_some() {
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
    parts.extend(span.text(name::INTERVENTION).map(|word| (Tone::Bad, format!("intervention: {word}"))));
    if let Some(missing) = span.attributes.get(name::MISSING).and_then(Value::as_array) {
        let missing: Vec<&str> = missing.iter().filter_map(Value::as_str).collect();
        parts.push((Tone::Bad, format!("without {}", missing.join(", "))));
    }
    parts
}

/// What a critic said of the programs that its turn is about.
fn rewards(span: &ReadSpan) -> Option<String> {
    let source = span.text(name::REWARD_SOURCE)?;
    let words = |reward: Option<f64>| reward.map_or_else(|| "unscored".to_owned(), |reward| format!("reward {reward}"));
    let all = span.rewards();
    if let [(_, reward)] = all[..] {
        return Some(format!("{} ({source})", words(reward)));
    }
    let each: Vec<String> = all.iter().map(|(candidate, reward)| format!("{candidate} {}", words(*reward))).collect();
    Some(format!("{} ({source})", few(&each)))
}

fn handoff(span: &ReadSpan) -> Line {
    let from = if span.text(name::ROLE).is_some() { &span.service } else { "the task" };
    let kind = span.text(name::RECEIVED).unwrap_or("message");
    vec![(Tone::Faint, format!("{from} hands on: {kind}"))]
}

/// What a round was.
fn round(span: &ReadSpan) -> Line {
    let generation = span.count(name::GENERATION).map_or_else(|| "?".to_owned(), |number| number.to_string());
    let mut parts = vec![(Tone::Strong, format!("round {generation}"))];
    parts.extend(span.count(name::PROGRAMS).map(|programs| (Tone::Plain, plural(programs, "program"))));
    parts.extend(span.number(name::SCORE).map(|score| (Tone::Plain, format!("best score {score:.2}"))));
    parts
}

/// The first names of a list, and how many more there are.
pub fn few(names: &[String]) -> String {
    let more = names.len().saturating_sub(NAMES_SHOWN);
    let shown = names[..names.len() - more].join(", ");
    if more == 0 { shown } else { format!("{shown} and {more} more") }
}

/// `1 program`, `2 programs`.
pub fn plural(count: u64, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}
