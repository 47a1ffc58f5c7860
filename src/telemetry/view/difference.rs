//! Where two conversations part, and what each did from there.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{
    page::{Line, Look, Page, Tone},
    steps::{Facts, Step, Steps},
};

/// How many signs of a hash are shown.
const HASH_SHOWN: usize = 12;

/// Something that two conversations do not have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Differing {
    /// What.
    pub what: &'static str,
    /// In the first; empty where it has none.
    pub a: String,
    /// In the second.
    pub b: String,
}

/// The first step that is not the same in both.
#[derive(Clone, Debug)]
pub struct Parting {
    /// Its number in the logical order.
    pub seq: u64,
    /// What differs; empty where one of them has no such step.
    pub facts: Vec<Differing>,
    /// Whether the prompts of both were made from the same files, where the traces say so.
    pub same_prompt_files: Option<bool>,
}

/// Two conversations compared. Times, ids of spans and models are not looked at.
#[derive(Clone, Debug)]
pub struct Difference {
    /// What is different before the first step.
    pub head: Vec<Differing>,
    /// How many steps are the same, from the first on.
    pub same_steps: usize,
    /// Where they part; `None` where all steps are the same.
    pub parting: Option<Parting>,
    /// What is different at the end, where both have ended.
    pub end: Vec<Differing>,
}

impl Difference {
    /// Compares the steps in their logical order.
    pub fn of(a: &Steps, b: &Steps) -> Self {
        let numbers: BTreeSet<u64> = a.steps.keys().chain(b.steps.keys()).copied().collect();
        let mut same_steps = 0;
        let mut parting = None;
        for seq in numbers {
            let (of_a, of_b) = (a.steps.get(&seq), b.steps.get(&seq));
            let facts = match (of_a, of_b) {
                (Some(of_a), Some(of_b)) => differing(&of_a.facts(), &of_b.facts()),
                _ => Vec::new(),
            };
            if of_a.is_some() && of_b.is_some() && facts.is_empty() {
                same_steps += 1;
                continue;
            }
            let prompts = of_a.and_then(Step::prompts).zip(of_b.and_then(Step::prompts));
            parting = Some(Parting { seq, facts, same_prompt_files: prompts.map(|(of_a, of_b)| of_a == of_b) });
            break;
        }
        Self { head: differing(&a.head, &b.head), same_steps, parting, end: differing(&a.end, &b.end) }
    }

    /// Whether both took the same steps to the same end.
    pub fn is_same(&self) -> bool {
        self.parting.is_none() && self.end.is_empty()
    }
}

fn differing(a: &Facts, b: &Facts) -> Vec<Differing> {
    let of_b: BTreeMap<&str, &str> = b.iter().map(|(what, value)| (*what, value.as_str())).collect();
    let known: BTreeSet<&str> = a.iter().map(|(what, _)| *what).collect();
    let both = a.iter().map(|(what, value)| (*what, value.as_str(), of_b.get(what).copied().unwrap_or_default()));
    let only_b = b.iter().filter(|(what, _)| !known.contains(what)).map(|(what, value)| (*what, "", value.as_str()));
    let different = both.chain(only_b).filter(|(_, of_a, of_b)| of_a != of_b);
    different.map(|(what, a, b)| Differing { what, a: a.to_owned(), b: b.to_owned() }).collect()
}

/// The comparison as text: what is different, and at most `steps` steps of each from where they part.
pub fn difference(a: &Steps, b: &Steps, steps: usize, look: Look) -> String {
    let difference = Difference::of(a, b);
    let mut page = Page::new(look);
    for (side, conversation) in [("a", a), ("b", b)] {
        page.line("", "   ", &introduction(side, conversation));
    }
    if !difference.head.is_empty() {
        page.gap();
        page.line("", "", &[(Tone::Strong, "not the same from the beginning".to_owned())]);
        table(&difference.head, &mut page);
    }
    page.gap();
    let same = difference.same_steps;
    let words = match &difference.parting {
        None => format!("all {same} steps are the same"),
        Some(parting) => {
            let steps = if same == 1 { "1 step is".to_owned() } else { format!("{same} steps are") };
            let there = a.steps.get(&parting.seq).or(b.steps.get(&parting.seq));
            let whose = there.map(|step| format!(", {} in round {}", step.actor, step.generation));
            format!("{steps} the same; they part at #{}{}", parting.seq, whose.unwrap_or_default())
        }
    };
    page.line("", "", &[(Tone::Strong, words)]);
    if let Some(parting) = &difference.parting {
        parted(parting, [a, b], &mut page);
        for (side, conversation) in [("a", a), ("b", b)] {
            from_there(side, conversation, parting.seq, steps, &mut page);
        }
    }
    if !difference.end.is_empty() {
        page.gap();
        page.line("", "", &[(Tone::Strong, "not the same at the end".to_owned())]);
        table(&difference.end, &mut page);
    }
    page.into_text()
}

fn introduction(side: &str, of: &Steps) -> Line {
    let fact = |facts: &Facts, wanted: &str| {
        facts.iter().find(|(what, value)| *what == wanted && !value.is_empty()).map(|(_, value)| value.clone())
    };
    let of_head = |wanted| fact(&of.head, wanted).unwrap_or_else(|| "?".to_owned());
    let (task, sample) = (of_head("task"), of_head("sample"));
    let mut parts = vec![
        (Tone::Strong, side.to_owned()),
        (
            Tone::Plain,
            format!("{task}, sample {sample}, arrangement {}, seed {}", of_head("arrangement"), of_head("seed")),
        ),
        (Tone::Plain, format!("{} steps", of.steps.len())),
    ];
    let tone = if fact(&of.end, "solved").as_deref() == Some("true") { Tone::Good } else { Tone::Plain };
    parts.push(match fact(&of.end, "outcome") {
        Some(outcome) => (tone, outcome),
        None => (Tone::Bad, "not finished".to_owned()),
    });
    parts
}

fn parted(parting: &Parting, sides: [&Steps; 2], page: &mut Page) {
    for (side, conversation) in ["a", "b"].into_iter().zip(sides) {
        if !conversation.steps.contains_key(&parting.seq) {
            let why = if conversation.end.is_empty() { "it is not finished" } else { "it had ended" };
            page.line("  ", "    ", &[(Tone::Plain, format!("{side} has no such step: {why}"))]);
        }
    }
    table(&parting.facts, page);
    if let Some(same) = parting.same_prompt_files {
        let words =
            if same { "both asked with the same prompt files" } else { "they asked with different prompt files" };
        page.line("  ", "  ", &[(Tone::Faint, words.to_owned())]);
    }
}

fn table(rows: &[Differing], page: &mut Page) {
    let width = rows.iter().map(|row| row.what.chars().count()).max().unwrap_or(0);
    for row in rows {
        for (side, value) in [("a", &row.a), ("b", &row.b)] {
            let what = if side == "a" { row.what } else { "" };
            let before = format!("  {what:width$}  ");
            let value = if value.is_empty() { "nothing".to_owned() } else { shortened(value) };
            let below = " ".repeat(width + 7);
            page.line(&before, &below, &[(Tone::Strong, side.to_owned()), (Tone::Plain, value)]);
        }
    }
}

/// Hashes are known by their first signs.
fn shortened(value: &str) -> String {
    let is_hash = |word: &str| word.len() == 64 && word.bytes().all(|sign| sign.is_ascii_hexdigit());
    let short = |word: &str| if is_hash(word) { word[..HASH_SHOWN].to_owned() } else { word.to_owned() };
    value.split(", ").map(short).collect::<Vec<_>>().join(", ")
}

fn from_there(side: &str, of: &Steps, seq: u64, most: usize, page: &mut Page) {
    let count = of.steps.range(seq..).count();
    if count == 0 {
        return;
    }
    page.gap();
    page.line("", "", &[(Tone::Strong, format!("{side} from #{seq} on"))]);
    let mut round = None;
    for step in of.steps.range(seq..).map(|(_, step)| step).take(most) {
        if round != Some(step.generation) {
            round = Some(step.generation);
            page.line("  ", "  ", &[(Tone::Faint, format!("round {}", step.generation))]);
        }
        let words = if step.words.is_empty() { step.actor.clone() } else { step.words.clone() };
        page.line("    ", "        ", &words.split("  ").map(|part| (Tone::Plain, part.to_owned())).collect::<Line>());
    }
    if count > most {
        page.line("    ", "    ", &[(Tone::Faint, format!("and {} more steps", count - most))]);
    }
}

/// The comparison as one JSON document.
pub fn difference_json(a: &Steps, b: &Steps, steps: usize) -> Value {
    let difference = Difference::of(a, b);
    let rows = |rows: &[Differing]| -> Value {
        rows.iter().map(|row| json!({"what": row.what, "a": row.a, "b": row.b})).collect()
    };
    let from_there = |of: &Steps, seq: u64| -> Value {
        let step = |(seq, step): (&u64, &Step)| {
            let facts: serde_json::Map<String, Value> =
                step.facts().into_iter().map(|(what, value)| (what.to_owned(), value.into())).collect();
            json!({"seq": seq, "facts": facts})
        };
        of.steps.range(seq..).take(steps).map(step).collect()
    };
    let parting = difference.parting.as_ref().map(|parting| {
        json!({
            "seq": parting.seq,
            "facts": rows(&parting.facts),
            "same_prompt_files": parting.same_prompt_files,
            "a": from_there(a, parting.seq),
            "b": from_there(b, parting.seq),
        })
    });
    json!({
        "same": difference.is_same(),
        "same_steps": difference.same_steps,
        "head": rows(&difference.head),
        "parting": parting,
        "end": rows(&difference.end),
        "steps": {"a": a.steps.len(), "b": b.steps.len()},
        "finished": {"a": !a.end.is_empty(), "b": !b.end.is_empty()},
    })
}
