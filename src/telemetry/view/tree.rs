//! A trace file as a forest: whatever of the conversation is there, each span below its parent.

use std::{
    collections::{BTreeMap, BTreeSet, btree_map::Entry},
    io::{self, BufRead},
};

use super::{
    said::has_content,
    span::{ReadSpan, SpanKey},
    stream::{BadLine, Portion, SpanLines},
    wording::link_name,
};
use crate::telemetry::attributes as name;

/// The deepest tree that is shown. A trace of ours is as deep as its arrangement has roles, and three more.
const DEEPEST: usize = 200;

/// A trace file as it was read.
#[derive(Debug, Default)]
pub struct ReadTrace {
    /// All spans that can stand in a tree, in the order of the file.
    pub spans: Vec<ReadSpan>,
    /// Where the children of each are: by the logical order of turns, then by start.
    pub children: Vec<Vec<usize>>,
    /// The spans without a parent in the file, in the same order.
    pub tops: Vec<usize>,
    /// Whether the last line was cut off, as by a kill.
    pub cut: bool,
    /// What could not be read.
    pub damage: Vec<BadLine>,
    /// When the conversation began, in ns of Unix time.
    pub began: u64,
    known: BTreeMap<SpanKey, usize>,
    root: Option<usize>,
    head: Option<usize>,
}

impl ReadTrace {
    /// Reads a trace file. Damaged lines are left out and named in `damage`; the rest of the file counts.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn read(reader: impl BufRead) -> io::Result<Self> {
        let mut trace = Self::default();
        SpanLines::new(reader).all(|portion| trace.add(portion))?;
        if trace.spans.is_empty() && trace.damage.is_empty() {
            trace.damage.push(BadLine { line: 1, reason: "the file holds no span".to_owned() });
        }
        trace.find_head();
        trace.link();
        Ok(trace)
    }

    fn add(&mut self, portion: Portion) {
        self.cut |= portion.cut;
        self.damage.extend(portion.damage);
        for span in portion.spans {
            match self.known.entry(span.key) {
                Entry::Occupied(_) => {
                    let reason = "a span whose id stands earlier already".to_owned();
                    self.damage.push(BadLine { line: span.line, reason });
                }
                Entry::Vacant(free) => {
                    free.insert(self.spans.len());
                    self.spans.push(span);
                }
            }
        }
    }

    /// Hangs each span below its parent; finds those whose parent is not there.
    fn link(&mut self) {
        let turns = self.turns();
        let mut by_place: Vec<usize> = (0..self.spans.len()).collect();
        by_place.sort_by_key(|&index| (turns[index], self.spans[index].start, index));
        self.children = vec![Vec::new(); self.spans.len()];
        for index in by_place {
            match self.parent(index) {
                Some(parent) => self.children[parent].push(index),
                None => self.tops.push(index),
            }
        }
        self.cut_what_is_no_tree();
    }

    /// The turn that each span is of; what is of none, a handoff or a round, goes with the first turn directly below
    /// it.
    fn turns(&self) -> Vec<Option<u64>> {
        let own: Vec<Option<u64>> = self.spans.iter().map(|span| span.count(name::SEQ)).collect();
        let mut turns = own.clone();
        for (index, seq) in own.iter().enumerate() {
            if let (Some(above), Some(seq)) = (self.parent(index).filter(|above| own[*above].is_none()), seq) {
                turns[above] = Some(turns[above].map_or(*seq, |first| first.min(*seq)));
            }
        }
        turns
    }

    /// Spans too deep to be shown, and those that are their own ancestors, are in no tree: they are named.
    fn cut_what_is_no_tree(&mut self) {
        let mut reached = BTreeSet::new();
        let mut too_deep = false;
        let mut open: Vec<(usize, usize)> = self.tops.iter().map(|&top| (top, 1)).collect();
        while let Some((index, depth)) = open.pop() {
            reached.insert(index);
            if depth < DEEPEST {
                open.extend(self.children[index].iter().map(|&child| (child, depth + 1)));
            } else if let Some(&first) = self.children[index].first() {
                too_deep = true;
                let reason = format!("a span more than {DEEPEST} levels deep");
                self.damage.push(BadLine { line: self.spans[first].line, reason });
                self.children[index].clear();
            }
        }
        if !too_deep && let Some(lost) = (0..self.spans.len()).find(|index| !reached.contains(index)) {
            let reason = "a span that is its own ancestor".to_owned();
            self.damage.push(BadLine { line: self.spans[lost].line, reason });
        }
    }

    /// Where the parent of a span is.
    pub fn parent(&self, index: usize) -> Option<usize> {
        self.known.get(&self.spans[index].parent?).copied()
    }

    /// What a link to the span with these ids calls it, where it is in the file.
    pub fn name_of(&self, key: &SpanKey) -> Option<String> {
        self.known.get(key).map(|&index| link_name(&self.spans[index]))
    }

    /// The root of the conversation: there when it is over.
    pub fn root(&self) -> Option<&ReadSpan> {
        self.root.map(|root| &self.spans[root])
    }

    /// What says which conversation this is: its root, or what was written when it began.
    pub fn head(&self) -> Option<&ReadSpan> {
        self.head.map(|head| &self.spans[head])
    }

    /// Whether any span has prompts, replies or programs.
    pub fn has_content(&self) -> bool {
        self.spans.iter().any(has_content)
    }

    fn find_head(&mut self) {
        self.root = self.spans.iter().position(ReadSpan::is_root);
        self.head = self.root.or_else(|| self.spans.iter().position(ReadSpan::is_start));
        let earliest = self.spans.iter().map(|span| span.start).min().unwrap_or(0);
        self.began = self.head().map_or(earliest, |head| head.start);
    }
}
