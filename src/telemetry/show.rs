//! A trace file as a readable tree. Pure: the text of the file in, the text for the terminal (or JSON) out.

use std::collections::{BTreeMap, BTreeSet};

use owo_colors::{OwoColorize, Style};
use serde_json::{Map, Value, json};

use super::{
    attributes as name,
    lines::{self, Line, Tone, plural},
    reading::{BadLine, ReadSpan, ReadTrace, read},
};

/// The conversation of a trace file as lines of text: how it ended, its rounds, who said what to whom, and which candidate came
/// from which. Works on the file of a conversation that is not finished, too. `colour` adds terminal colours.
///
/// # Errors
/// Every line of the file that is damaged.
pub fn show(text: &str, colour: bool) -> Result<String, Vec<BadLine>> {
    let trace = read(text)?;
    let mut page = Page { colour, text: String::new() };
    heading(&trace, &mut page);
    for (generation, tops) in rounds(&trace) {
        page.text.push('\n');
        match tops.round {
            Some(round) => page.line("", lines::line(&trace.spans[round])),
            None => {
                page.line("", vec![(Tone::Strong, format!("round {generation}")), (Tone::Faint, "open".to_owned())])
            }
        }
        branches(&trace, &tops.spans, "", &mut page);
    }
    lineage(&trace, &mut page);
    Ok(page.text)
}

/// The same as one JSON document: what the root says, and the tree of spans.
///
/// # Errors
/// As [`show`].
pub fn show_json(text: &str) -> Result<Value, Vec<BadLine>> {
    let trace = read(text)?;
    let spans: Vec<Value> = trace.tops.iter().map(|&top| span_json(&trace, top)).collect();
    let finished = root(&trace).is_some();
    let conversation = head(&trace).and_then(|head| head.text(name::CONVERSATION));
    Ok(json!({"event": "trace", "conversation": conversation, "finished": finished, "cut": trace.cut, "spans": spans}))
}

fn span_json(trace: &ReadTrace, index: usize) -> Value {
    let span = &trace.spans[index];
    let event = |(name, attributes): &(String, Map<String, Value>)| json!({"name": name, "attributes": attributes});
    json!({
        "service": span.service,
        "name": span.name,
        "start_unix_ns": span.start,
        "duration_ns": span.end.saturating_sub(span.start),
        "error": span.error,
        "attributes": span.attributes,
        "events": span.events.iter().map(event).collect::<Vec<_>>(),
        "children": span.children.iter().map(|&child| span_json(trace, child)).collect::<Vec<_>>(),
    })
}

/// How far the tree of candidates is indented at most.
const DEEPEST_COLUMN: usize = 30;

struct Page {
    colour: bool,
    text: String,
}

impl Page {
    fn line(&mut self, indent: &str, parts: Line) {
        self.text.push_str(&self.paint(Tone::Faint, indent));
        for (index, (tone, part)) in parts.iter().enumerate() {
            if index > 0 {
                self.text.push_str("  ");
            }
            self.text.push_str(&self.paint(*tone, &clean(part)));
        }
        self.text.push('\n');
    }

    fn paint(&self, tone: Tone, text: &str) -> String {
        let style = match tone {
            Tone::Plain => Style::new(),
            Tone::Strong => Style::new().bold(),
            Tone::Faint => Style::new().dimmed(),
            Tone::Good => Style::new().green(),
            Tone::Bad => Style::new().red(),
        };
        if self.colour && !text.is_empty() { text.style(style).to_string() } else { text.to_owned() }
    }
}

/// Text of a file never moves the cursor or breaks the tree.
fn clean(text: &str) -> String {
    text.chars().map(|one| if one.is_control() { '\u{fffd}' } else { one }).collect()
}

fn root(trace: &ReadTrace) -> Option<&ReadSpan> {
    trace.spans.iter().find(|span| span.text(name::OUTCOME).is_some() && span.count(name::PART).is_none())
}

/// What says which conversation this is: its root, or what was written when it began.
fn head(trace: &ReadTrace) -> Option<&ReadSpan> {
    root(trace).or_else(|| trace.spans.iter().find(|span| span.name == "conversation_started"))
}

fn heading(trace: &ReadTrace, page: &mut Page) {
    let cut = if trace.cut { "; the last line of the file is cut off" } else { "" };
    match root(trace) {
        Some(root) => outcome(root, cut, page),
        None => page.line("", vec![(Tone::Bad, format!("not finished{cut}"))]),
    }
    let Some(head) = head(trace) else { return };
    let word = |key| head.text(key).unwrap_or("?").to_owned();
    let place =
        format!("{} of {}, sample {}", word(name::TASK), word(name::DATASET), head.count(name::SAMPLE).unwrap_or(0));
    let topology = head.text(name::WORKFLOW).unwrap_or(head.text(name::ARM).unwrap_or("?"));
    let conversation = format!("conversation {}, run {}", word(name::CONVERSATION), word(name::RUN));
    page.line("", vec![(Tone::Plain, format!("{place}, arrangement {topology}, seed {}", word(name::SEED)))]);
    page.line("", vec![(Tone::Faint, conversation)]);
}

fn outcome(root: &ReadSpan, cut: &str, page: &mut Page) {
    let solved = root.attributes.get(name::SOLVED) == Some(&Value::Bool(true));
    let (tone, word) = if solved { (Tone::Good, "solved") } else { (Tone::Plain, "not solved") };
    let tone = if root.error.is_some() { Tone::Bad } else { tone };
    let mut parts = vec![(tone, format!("{}, {word}{cut}", root.text(name::OUTCOME).unwrap_or_default()))];
    parts.extend(root.number(name::SCORE).map(|score| (Tone::Plain, format!("best score {score:.2}"))));
    let count = |key, word| root.count(key).map(|count| (Tone::Plain, plural(count, word)));
    parts.extend(count(name::PROGRAMS, "program"));
    parts.extend(count(name::MODEL_CALLS, "model call"));
    if let Some((input, output)) = root.count(name::INPUT_TOKENS).zip(root.count(name::OUTPUT_TOKENS)) {
        let unknown = root.count(name::CALLS_WITHOUT_USAGE).map(|calls| format!(" and {calls} calls of unknown size"));
        parts.push((Tone::Plain, format!("{input} + {output} tokens{}", unknown.unwrap_or_default())));
    }
    parts.push((Tone::Faint, lines::duration(root.end.saturating_sub(root.start))));
    page.line("", parts);
    if let Some(detail) = root.text(name::OUTCOME_DETAIL) {
        page.line("  ", vec![(Tone::Plain, detail.to_owned())]);
    }
}

/// A round: its own span, where it is over, and what stands directly below.
#[derive(Default)]
struct Round {
    round: Option<usize>,
    spans: Vec<usize>,
}

/// The rounds by generation. Where a conversation is not finished, its round spans are missing: their children are found by
/// the generation that each span carries.
fn rounds(trace: &ReadTrace) -> BTreeMap<u64, Round> {
    let mut rounds: BTreeMap<u64, Round> = BTreeMap::new();
    let roots = trace.tops.iter().flat_map(|&top| trace.spans[top].children.iter().copied());
    for index in trace.tops.iter().copied().chain(roots) {
        let span = &trace.spans[index];
        let Some(generation) = span.count(name::GENERATION) else { continue };
        let round = rounds.entry(generation).or_default();
        if span.name == "round" {
            round.round = Some(index);
            round.spans.extend(&span.children);
        } else if trace.tops.contains(&index) {
            round.spans.push(index);
        }
    }
    rounds
}

fn branches(trace: &ReadTrace, spans: &[usize], indent: &str, page: &mut Page) {
    for (place, &index) in spans.iter().enumerate() {
        let last = place + 1 == spans.len();
        let (branch, below) = if last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        page.line(&format!("{indent}{branch}"), lines::line(&trace.spans[index]));
        branches(trace, &trace.spans[index].children, &format!("{indent}{below}"), page);
    }
}

/// Which candidate came from which, with its result; the way to the best one is marked.
fn lineage(trace: &ReadTrace, page: &mut Page) {
    let executed =
        trace.spans.iter().filter(|span| span.text(name::VERDICT).is_some() && span.name.contains("run_tests"));
    let known: BTreeMap<&str, &ReadSpan> =
        executed.filter_map(|span| Some((span.text(name::CANDIDATE)?, span))).collect();
    if known.is_empty() {
        return;
    }
    let parent_of = |id: &str| known.get(id).and_then(|span| span.text(name::PARENT));
    let best = root(trace).and_then(|root| root.text(name::BEST));
    let mut marked = BTreeSet::new();
    let mut at = best;
    while let Some(id) = at.filter(|id| marked.insert(*id)) {
        at = parent_of(id);
    }
    let mut children: BTreeMap<Option<&str>, Vec<&str>> = BTreeMap::new();
    for id in known.keys() {
        children.entry(parent_of(id).filter(|parent| known.contains_key(parent))).or_default().push(id);
    }
    for ids in children.values_mut() {
        ids.sort_by_key(|id| known.get(id).map(|span| span.start));
    }
    page.text.push('\n');
    page.line("", vec![(Tone::Strong, "candidates".to_owned()), (Tone::Faint, "* leads to the best".to_owned())]);
    let mut open: Vec<(&str, usize)> = children.get(&None).into_iter().flatten().rev().map(|id| (*id, 0)).collect();
    while let Some((id, depth)) = open.pop() {
        let Some(span) = known.get(id) else { continue };
        let verdict = span.text(name::VERDICT).unwrap_or_default();
        let tone = if verdict == "passed" { Tone::Good } else { Tone::Plain };
        let mark = if marked.contains(id) { "* " } else { "  " };
        let mut parts =
            vec![(Tone::Plain, format!("{mark}{}{id}", "  ".repeat(depth))), (tone, lines::result(span, verdict))];
        parts.extend(span.text(name::EDIT).map(|edit| (Tone::Faint, edit.to_owned())));
        page.line("", parts);
        // A chain of only children stays in one column: a long conversation is mostly that.
        let below = children.get(&Some(id)).map_or(&[][..], Vec::as_slice);
        let deeper = (depth + usize::from(below.len() > 1)).min(DEEPEST_COLUMN);
        open.extend(below.iter().rev().map(|child| (*child, deeper)));
    }
}
