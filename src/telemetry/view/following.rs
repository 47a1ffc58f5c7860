//! A conversation that is still going on, line by line as its file grows.
//!
//! Turns are written when they take effect, so lines come in the logical order of turns, each set in below its sender;
//! the rounds and the outcome come at the end.

use std::{
    cmp::Reverse,
    collections::BTreeMap,
    io::{self, BufRead},
};

use super::{
    page::{Look, Page, Tone},
    show::{self, NO_TIMES},
    span::{ReadSpan, SpanKey},
    stream::{BadLine, SpanLines},
    wording,
};
use crate::telemetry::attributes as name;

/// The deepest that a line is set in.
const DEEPEST: usize = 20;

/// What is kept of a span that was told.
struct Known {
    depth: usize,
    name: String,
}

/// Follows one file.
pub struct Follower<R> {
    lines: SpanLines<R>,
    content: bool,
    look: Look,
    known: BTreeMap<SpanKey, Known>,
    generation: Option<u64>,
    began: Option<u64>,
    finished: bool,
    damage: Vec<BadLine>,
}

impl<R: BufRead> Follower<R> {
    /// Follows what `reader` reads, from its beginning; at its end it is read again later.
    pub fn new(reader: R, content: bool, look: Look) -> Self {
        Self {
            lines: SpanLines::new(reader),
            content,
            look,
            known: BTreeMap::new(),
            generation: None,
            began: None,
            finished: false,
            damage: Vec::new(),
        }
    }

    /// Whether the root was there: nothing more comes.
    pub fn is_finished(&self) -> bool {
        self.finished
    }

    /// What could not be read since the last time that this was asked.
    pub fn take_damage(&mut self) -> Vec<BadLine> {
        std::mem::take(&mut self.damage)
    }

    /// How many bytes of the file have been read to the end of a line.
    pub fn read_bytes(&self) -> u64 {
        self.lines.whole_bytes()
    }

    /// What the next line of the file says, as text; `None` where there is none yet.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn next_text(&mut self) -> io::Result<Option<String>> {
        let Some(spans) = self.next_spans()? else { return Ok(None) };
        let mut page = Page::new(self.look);
        for span in &spans {
            self.write(span, &mut page);
        }
        Ok(Some(page.into_text()))
    }

    /// The spans on the next line of the file; `None` where there is none yet.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn next_spans(&mut self) -> io::Result<Option<Vec<ReadSpan>>> {
        let Some(portion) = self.lines.next_whole()? else { return Ok(None) };
        self.damage.extend(portion.damage);
        let mut spans = portion.spans;
        // One line is grouped by service: what stands above comes first, and the root last.
        spans.sort_by_key(|span| {
            let turn = (span.count(name::SEQ), span.count(name::ATTEMPT));
            (span.is_root(), turn, span.start, Reverse(span.end))
        });
        self.finished |= spans.iter().any(ReadSpan::is_root);
        Ok(Some(spans))
    }

    fn write(&mut self, span: &ReadSpan, page: &mut Page) {
        let began = *self.began.get_or_insert(span.start);
        if span.is_start() {
            if !span.attributes.contains_key(name::PART) {
                show::identity(span, page);
            }
            return;
        }
        if span.is_root() {
            page.gap();
            show::outcome(span, "", page);
            return;
        }
        // Rounds have been told by their turns, and continuations of the trace by their rounds.
        if span.is_round() || span.attributes.contains_key(name::OUTCOME) {
            return;
        }
        let depth = span.parent.and_then(|parent| self.known.get(&parent)).map_or(0, |above| above.depth + 1);
        self.known.insert(span.key, Known { depth, name: wording::link_name(span) });
        let generation = span.count(name::GENERATION);
        if generation.is_some() && generation != self.generation {
            self.generation = generation;
            page.gap();
            let round = format!("round {}", generation.unwrap_or_default());
            page.line(NO_TIMES, NO_TIMES, &[(Tone::Strong, round)]);
        }
        let indent = "  ".repeat(depth.min(DEEPEST));
        let before = format!("{}{indent}", show::times(span, began));
        let below = format!("{NO_TIMES}{indent}    ");
        page.line(&before, &below, &wording::line(span, &|key| self.known.get(key).map(|one| one.name.clone())));
        if self.content {
            show::content(span, &below, page);
        }
    }
}
