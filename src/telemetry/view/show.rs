//! A trace file as a readable tree: how the conversation ended, its rounds, who said what to whom and when, and which
//! candidate came from which.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{
    candidates::Lineage,
    drawings,
    page::{Line, Look, Page, Tone},
    said::said,
    span::ReadSpan,
    times::duration,
    tree::ReadTrace,
    wording::{self, plural},
};
use crate::telemetry::attributes as name;

/// What stands before a line that has no times.
pub const NO_TIMES: &str = "                   ";

/// The conversation of a trace file as lines of text, each with its offset from the begin of the conversation and how
/// long it took. Works on the file of a conversation that is not finished, too. With `content`, prompts, programs and
/// replies stand below the spans that have them.
pub fn show(trace: &ReadTrace, content: bool, look: Look) -> String {
    let mut page = Page::new(look);
    heading(trace, &mut page);
    let (rounds, others) = rounds(trace);
    for (generation, round) in rounds {
        page.gap();
        match round.span.map(|index| &trace.spans[index]) {
            Some(span) => {
                page.line(&times(span, trace.began), NO_TIMES, &wording::line(span, &|key| trace.name_of(key)))
            }
            None => {
                let words = [(Tone::Strong, format!("round {generation}")), (Tone::Faint, "open".to_owned())];
                page.line(NO_TIMES, NO_TIMES, &words);
            }
        }
        Branches { trace, content, page: &mut page }.draw(&round.below, "");
    }
    if !others.is_empty() {
        page.gap();
        page.line(NO_TIMES, NO_TIMES, &[(Tone::Strong, "elsewhere".to_owned())]);
        Branches { trace, content, page: &mut page }.draw(&others, "");
    }
    let lineage = Lineage::of(trace.spans.iter());
    if !lineage.is_empty() {
        page.gap();
        drawings::write_text(&lineage, &mut page);
    }
    page.into_text()
}

/// Offset and length of a span, in the columns before the tree.
pub fn times(span: &ReadSpan, began: u64) -> String {
    let offset = format!("+{}", duration(span.start.saturating_sub(began)));
    let length = if span.name == name::HANDOFF_SPAN { String::new() } else { duration(span.duration()) };
    format!("{offset:>9}{length:>8}  ")
}

/// How the conversation ended, which one it is, and what it hangs together with.
fn heading(trace: &ReadTrace, page: &mut Page) {
    let cut = if trace.cut { "; the last line of the file is cut off" } else { "" };
    match trace.root() {
        Some(root) => outcome(root, cut, page),
        None => page.line("", "  ", &[(Tone::Bad, format!("not finished{cut}"))]),
    }
    if let Some(head) = trace.head() {
        identity(head, page);
        for link in &head.links {
            let words = match link.why.as_str() {
                "context" => format!("started by span {} of trace {}", link.to.span_hex(), link.to.trace_hex()),
                "continued_by" => format!("continued in trace {}", link.to.trace_hex()),
                why => format!("{why}: trace {}, span {}", link.to.trace_hex(), link.to.span_hex()),
            };
            page.line("", "  ", &[(Tone::Faint, words)]);
        }
    }
}

/// Which conversation it is.
pub fn identity(head: &ReadSpan, page: &mut Page) {
    let word = |key| head.text(key).unwrap_or("?").to_owned();
    let place =
        format!("{} of {}, sample {}", word(name::TASK), word(name::DATASET), head.count(name::SAMPLE).unwrap_or(0));
    let topology = head.text(name::WORKFLOW).unwrap_or(head.text(name::ARM).unwrap_or("?"));
    page.line("", "  ", &[(Tone::Plain, format!("{place}, arrangement {topology}, seed {}", word(name::SEED)))]);
    if let Some(interventions) = head.attributes.get(name::INTERVENTIONS).and_then(Value::as_array) {
        let words: Vec<&str> = interventions.iter().filter_map(Value::as_str).collect();
        page.line("", "  ", &[(Tone::Bad, format!("interventions: {}", words.join(", ")))]);
    }
    let conversation = format!("conversation {}, run {}", word(name::CONVERSATION), word(name::RUN));
    page.line("", "  ", &[(Tone::Faint, conversation)]);
}

/// How it ended and what it cost.
pub fn outcome(root: &ReadSpan, note: &str, page: &mut Page) {
    page.line("", "  ", &ending(root, note));
    if let Some(detail) = root.text(name::OUTCOME_DETAIL) {
        page.line("  ", "  ", &[(Tone::Plain, detail.to_owned())]);
    }
    let of = |word: &str| root.count(&format!("{}{word}", name::PATCHES_PREFIX)).map(|count| format!("{count} {word}"));
    let patches: Vec<String> = ["plausible", "wrong", "timeout", "uncompilable"].into_iter().filter_map(of).collect();
    if !patches.is_empty() {
        page.line("", "  ", &[(Tone::Faint, format!("patches: {}", patches.join(", ")))]);
    }
}

/// How it ended, in one line.
pub fn ending(root: &ReadSpan, note: &str) -> Line {
    let (tone, word) = match root.flag(name::SOLVED) {
        Some(true) => (Tone::Good, ", solved"),
        Some(false) => (Tone::Plain, ", not solved"),
        None => (Tone::Plain, ""),
    };
    let tone = if root.error.is_some() { Tone::Bad } else { tone };
    let mut parts = vec![(tone, format!("{}{word}{note}", root.text(name::OUTCOME).unwrap_or_default()))];
    parts.extend(root.number(name::SCORE).map(|score| (Tone::Plain, format!("best score {score:.2}"))));
    let count = |key, word| root.count(key).map(|count| (Tone::Plain, plural(count, word)));
    parts.extend(count(name::PROGRAMS, "program"));
    parts.extend(count(name::MODEL_CALLS, "model call"));
    if let Some((input, output)) = root.count(name::INPUT_TOKENS).zip(root.count(name::OUTPUT_TOKENS)) {
        let unknown = root.count(name::CALLS_WITHOUT_USAGE).map(|calls| format!(" and {calls} calls of unknown size"));
        parts.push((Tone::Plain, format!("{input} + {output} tokens{}", unknown.unwrap_or_default())));
    }
    parts.extend(wording::cost(root).map(|words| (Tone::Plain, words)));
    parts.push((Tone::Faint, duration(root.duration())));
    parts
}

/// A round: its own span, where it is over, and what stands directly below.
#[derive(Default)]
struct Round {
    span: Option<usize>,
    below: Vec<usize>,
}

/// The rounds by generation, and what is of none. Where a conversation is not finished, its round spans are missing:
/// their children are found by the generation that each span carries.
fn rounds(trace: &ReadTrace) -> (BTreeMap<u64, Round>, Vec<usize>) {
    let mut rounds: BTreeMap<u64, Round> = BTreeMap::new();
    let mut others = Vec::new();
    // The roots of a conversation and its continuations hold rounds; what stands below them is looked at in their
    // place.
    let roots: BTreeSet<usize> =
        trace.tops.iter().copied().filter(|&top| trace.spans[top].attributes.contains_key(name::OUTCOME)).collect();
    let below_roots = roots.iter().flat_map(|&root| trace.children[root].iter().copied());
    let tops = trace.tops.iter().copied().filter(|top| !roots.contains(top));
    for index in tops.chain(below_roots) {
        let span = &trace.spans[index];
        match span.count(name::GENERATION) {
            Some(generation) if span.is_round() => {
                let round = rounds.entry(generation).or_default();
                round.span = Some(index);
                round.below.extend(&trace.children[index]);
            }
            Some(generation) => rounds.entry(generation).or_default().below.push(index),
            None if span.is_start() => {}
            None => others.push(index),
        }
    }
    (rounds, others)
}

struct Branches<'a> {
    trace: &'a ReadTrace,
    content: bool,
    page: &'a mut Page,
}

impl Branches<'_> {
    /// Draws these spans and all below them. No deeper than a trace is read.
    fn draw(&mut self, spans: &[usize], indent: &str) {
        for (place, &index) in spans.iter().enumerate() {
            let (branch, below) = if place + 1 == spans.len() { ("└─ ", "   ") } else { ("├─ ", "│  ") };
            let span = &self.trace.spans[index];
            let inner = format!("{indent}{below}");
            let children = &self.trace.children[index];
            let bar = if children.is_empty() { "   " } else { "│  " };
            let before = format!("{}{indent}{branch}", times(span, self.trace.began));
            self.page.line(
                &before,
                &format!("{NO_TIMES}{inner}{bar}"),
                &wording::line(span, &|key| self.trace.name_of(key)),
            );
            if self.content {
                content(span, &format!("{NO_TIMES}{inner}{bar}"), self.page);
            }
            self.draw(children, &inner);
        }
    }
}

/// What was said in a span, below its line.
pub fn content(span: &ReadSpan, indent: &str, page: &mut Page) {
    for one in said(span) {
        page.line(indent, indent, &[(Tone::Strong, format!("{}:", one.label))]);
        let indent = format!("{indent}  ");
        for line in one.text.lines() {
            page.line(&indent, &indent, &[(Tone::Plain, line.replace('\t', "    "))]);
        }
    }
}
