//! The candidate tree drawn: as text, as a Mermaid flowchart, as a graph for Graphviz, as JSON.

use std::fmt::Write;

use serde_json::{Value, json};

use super::{
    candidates::{Candidate, Lineage, Row},
    page::{Line, Look, Page, Tone, clean},
};

/// How far the tree is indented at most.
const DEEPEST_COLUMN: usize = 30;

/// The tree as lines of text.
pub fn lineage_text(lineage: &Lineage, look: Look) -> String {
    let mut page = Page::new(look);
    write_text(lineage, &mut page);
    page.into_text()
}

/// The same on a page that has more.
pub fn write_text(lineage: &Lineage, page: &mut Page) {
    let best = match (lineage.best(), lineage.is_finished()) {
        (None, _) => "no best one yet",
        (Some(_), true) => "* leads to the best",
        (Some(_), false) => "* leads to the best so far",
    };
    page.line("", "", &[(Tone::Strong, "candidates".to_owned()), (Tone::Faint, best.to_owned())]);
    for row in lineage.rows() {
        let mark = if row.on_path { "* " } else { "  " };
        let before = format!("{mark}{}", "  ".repeat(row.column.min(DEEPEST_COLUMN)));
        let below = " ".repeat(before.len() + 6);
        page.line(&before, &below, &words(&row));
    }
}

fn words(row: &Row<'_>) -> Line {
    let one = row.candidate;
    let mut parts = vec![(if row.on_path { Tone::Strong } else { Tone::Plain }, one.id.clone())];
    parts.extend(one.number.map(|number| (Tone::Faint, format!("program {number}"))));
    parts.extend(one.generation.map(|generation| (Tone::Faint, format!("round {generation}"))));
    parts.extend(one.author.as_ref().map(|author| (Tone::Faint, author.clone())));
    parts.push((tone(one), outcome(one)));
    parts.extend(one.reward.map(|reward| (Tone::Plain, format!("reward {reward}"))));
    parts.extend(ranking(one).map(|words| (Tone::Faint, words)));
    parts.extend(one.edit.as_ref().map(|edit| (Tone::Faint, edit.clone())));
    if let (Some(parent), false) = (&one.parent, row.parent_is_here) {
        parts.push((Tone::Bad, format!("from {parent} (not here)")));
    }
    parts
}

fn tone(one: &Candidate) -> Tone {
    match one.verdict.as_deref() {
        Some("passed") => Tone::Good,
        None => Tone::Faint,
        Some(_) => Tone::Plain,
    }
}

fn outcome(one: &Candidate) -> String {
    let result = one.result.as_deref().unwrap_or("not run");
    match &one.duplicate_of {
        Some(twin) => format!("{result}, as {twin}: the same program"),
        None => result.to_owned(),
    }
}

fn ranking(one: &Candidate) -> Option<String> {
    let ranking = one.ranking.as_deref()?;
    Some(one.rank.map_or_else(|| ranking.to_owned(), |rank| format!("{ranking} as {rank}")))
}

/// The lines of a box.
fn label(one: &Candidate) -> Vec<String> {
    let author = one.author.as_ref().map(|author| format!(" · {author}")).unwrap_or_default();
    let number = one.number.map(|number| format!(" · program {number}")).unwrap_or_default();
    let round = one.generation.map(|generation| format!(" · round {generation}")).unwrap_or_default();
    vec![format!("{}{number}{round}{author}", one.id), outcome(one)]
}

/// Where each row's parent stands among the rows.
fn parents(rows: &[Row<'_>]) -> Vec<Option<usize>> {
    let places: std::collections::BTreeMap<&str, usize> =
        rows.iter().enumerate().map(|(place, row)| (row.candidate.id.as_str(), place)).collect();
    rows.iter().map(|row| places.get(row.candidate.parent.as_deref()?).copied()).collect()
}

/// The tree as a Mermaid flowchart; the way to the best has thick lines.
pub fn lineage_mermaid(lineage: &Lineage) -> String {
    let mut out = "flowchart TD\n".to_owned();
    let rows = lineage.rows();
    for (place, row) in rows.iter().enumerate() {
        let lines: Vec<String> = label(row.candidate).iter().map(|line| for_mermaid(line)).collect();
        let passed = if row.candidate.verdict.as_deref() == Some("passed") { ":::passed" } else { "" };
        let path = if row.on_path && passed.is_empty() { ":::path" } else { passed };
        let _ = writeln!(out, "  c{place}[\"{}\"]{path}", lines.join("<br/>"));
    }
    for (place, (row, parent)) in rows.iter().zip(parents(&rows)).enumerate() {
        let Some(parent) = parent else { continue };
        let arrow = if row.on_path && rows[parent].on_path { "==>" } else { "-->" };
        let edit = row.candidate.edit.as_ref().map(|edit| format!("|\"{}\"|", for_mermaid(edit))).unwrap_or_default();
        let _ = writeln!(out, "  c{parent} {arrow}{edit} c{place}");
    }
    out.push_str("  classDef passed stroke:#1a7f37,stroke-width:3px\n  classDef path stroke-width:3px\n");
    out
}

/// A flowchart takes these signs for its own.
fn for_mermaid(text: &str) -> String {
    let signs = clean(text);
    let signs = signs.chars().map(|sign| match sign {
        '"' | '<' | '>' | '&' | '#' | '`' | '\\' => format!("#{};", u32::from(sign)),
        other => other.to_string(),
    });
    signs.collect()
}

/// The tree as a graph for Graphviz; the way to the best is bold.
pub fn lineage_dot(lineage: &Lineage) -> String {
    let mut out = "digraph candidates {\n  node [shape=box, fontname=\"sans-serif\"];\n".to_owned();
    let rows = lineage.rows();
    for (place, row) in rows.iter().enumerate() {
        let lines: Vec<String> = label(row.candidate).iter().map(|line| for_dot(line)).collect();
        let style = if row.on_path { ", style=bold, penwidth=3" } else { "" };
        let colour = if row.candidate.verdict.as_deref() == Some("passed") { ", color=\"#1a7f37\"" } else { "" };
        let _ = writeln!(out, "  c{place} [label=\"{}\"{style}{colour}];", lines.join("\\n"));
    }
    for (place, (row, parent)) in rows.iter().zip(parents(&rows)).enumerate() {
        let Some(parent) = parent else { continue };
        let style = if row.on_path && rows[parent].on_path { "penwidth=3, " } else { "" };
        let edit = row.candidate.edit.as_deref().map(for_dot).unwrap_or_default();
        let _ = writeln!(out, "  c{parent} -> c{place} [{style}label=\"{edit}\"];");
    }
    out.push_str("}\n");
    out
}

fn for_dot(text: &str) -> String {
    clean(text).replace('\\', "\\\\").replace('"', "\\\"")
}

/// The tree as one JSON document: the candidates in the order of the tree, and the ids of the way to the best.
pub fn lineage_json(lineage: &Lineage) -> Value {
    let candidate = |row: &Row<'_>| {
        let one = row.candidate;
        json!({
            "candidate": one.id,
            "parent": one.parent,
            "parent_is_here": row.parent_is_here,
            "program": one.number,
            "generation": one.generation,
            "author": one.author,
            "origin": one.origin,
            "program_hash": one.program_hash,
            "verdict": one.verdict,
            "score": one.score,
            "reward": one.reward,
            "duplicate_of": one.duplicate_of,
            "ranking": one.ranking,
            "rank": one.rank,
            "edit": one.edit,
            "on_path": row.on_path,
        })
    };
    json!({
        "event": "lineage",
        "finished": lineage.is_finished(),
        "solved": lineage.is_solved(),
        "best": lineage.best().map(|best| &best.id),
        "path": lineage.path().iter().map(|one| &one.id).collect::<Vec<_>>(),
        "candidates": lineage.rows().iter().map(candidate).collect::<Vec<_>>(),
    })
}
