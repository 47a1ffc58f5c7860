//! Which candidate came from which, as a trace file tells it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::{span::ReadSpan, wording::result};
use crate::telemetry::attributes as name;

/// Place in the logical order: the starter, then by turn and place in it; what is not named that way comes last.
type Key = (Option<(u64, u64)>, String);

fn key(id: &str) -> Key {
    let place = || {
        let (seq, index) = id.split_once('.')?;
        Some((seq.parse().ok()?, index.parse().ok()?))
    };
    let starter = id == crate::ids::MessageId::STARTER.to_string();
    (if starter { None } else { Some(place().unwrap_or((u64::MAX, u64::MAX))) }, id.to_owned())
}

/// One program of a conversation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Candidate {
    /// Its name: turn and place in it, or `starter`.
    pub id: String,
    /// The candidate that it was made from.
    pub parent: Option<String>,
    /// Its number among the programs of the conversation.
    pub number: Option<u64>,
    /// The actor that wrote it.
    pub author: Option<String>,
    /// `starter`, `draft` or `repair`.
    pub origin: Option<String>,
    /// The round in which it was written.
    pub generation: Option<u64>,
    /// BLAKE3 of its text.
    pub program_hash: Option<String>,
    /// What the model says of the edit.
    pub edit: Option<String>,
    /// What the tests that feed back said; `None` where it was not run.
    pub verdict: Option<String>,
    /// The verdict with the counts of tests.
    pub result: Option<String>,
    /// Its score.
    pub score: Option<f64>,
    /// What a critic thought of it.
    pub reward: Option<f64>,
    /// The candidate with the same text, which was run in its place.
    pub duplicate_of: Option<String>,
    /// `kept` or `dropped` by the last filter that looked at it.
    pub ranking: Option<String>,
    /// Its place among the kept, from 1.
    pub rank: Option<u64>,
}

impl Candidate {
    fn learn(&mut self, of: &Map<String, Value>) {
        let text = |key| of.get(key).and_then(Value::as_str).map(str::to_owned);
        let fill = |place: &mut Option<String>, key| {
            if place.is_none() {
                *place = text(key);
            }
        };
        fill(&mut self.parent, name::PARENT);
        fill(&mut self.author, name::AUTHOR);
        fill(&mut self.origin, name::ORIGIN);
        fill(&mut self.program_hash, name::PROGRAM_HASH);
        fill(&mut self.edit, name::EDIT);
        self.number = self.number.or_else(|| of.get(name::PROGRAM)?.as_u64());
    }
}

/// A candidate in its place in the tree.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// The candidate.
    pub candidate: &'a Candidate,
    /// How far it is indented: a chain of only children stays in one column.
    pub column: usize,
    /// Whether it is on the way to the best.
    pub on_path: bool,
    /// Whether its parent is in the file.
    pub parent_is_here: bool,
}

/// The candidates of a conversation.
#[derive(Clone, Debug, Default)]
pub struct Lineage {
    candidates: BTreeMap<Key, Candidate>,
    best_of_root: Option<String>,
    finished: bool,
    solved: Option<bool>,
}

impl Lineage {
    /// Of these spans, in any order.
    pub fn of<'a>(spans: impl IntoIterator<Item = &'a ReadSpan>) -> Self {
        let mut lineage = Self::default();
        spans.into_iter().for_each(|span| lineage.add(span));
        lineage
    }

    /// Learns what a span says of candidates.
    pub fn add(&mut self, span: &ReadSpan) {
        if span.is_root() {
            self.finished = true;
            self.best_of_root = span.text(name::BEST).map(str::to_owned);
            self.solved = span.flag(name::SOLVED);
        }
        for event in span.events_named(name::WRITTEN_EVENT) {
            if let Some(candidate) = self.named(event.get(name::CANDIDATE)) {
                candidate.learn(event);
                candidate.generation = candidate.generation.or_else(|| span.count(name::GENERATION));
            }
        }
        for event in span.events_named(name::RANKED_EVENT) {
            if let Some(candidate) = self.named(event.get(name::CANDIDATE)) {
                candidate.ranking = event.get(name::RANKING).and_then(Value::as_str).map(str::to_owned);
                candidate.rank = event.get(name::RANK).and_then(Value::as_u64);
            }
        }
        for (id, reward) in span.rewards() {
            self.entry(id).reward = reward;
        }
        if span.is_execution()
            && let Some(candidate) = self.named(span.attributes.get(name::CANDIDATE))
        {
            candidate.learn(&span.attributes);
            candidate.generation = candidate.generation.or_else(|| span.count(name::GENERATION));
            if let Some(verdict) = span.text(name::VERDICT) {
                candidate.verdict = Some(verdict.to_owned());
                candidate.result = Some(result(span, verdict));
                candidate.score = span.number(name::SCORE);
            }
            candidate.duplicate_of = span.text(name::DUPLICATE_OF).map(str::to_owned);
        }
    }

    fn named(&mut self, id: Option<&Value>) -> Option<&mut Candidate> {
        Some(self.entry(id?.as_str()?))
    }

    fn entry(&mut self, id: &str) -> &mut Candidate {
        let new = || Candidate { id: id.to_owned(), ..Candidate::default() };
        self.candidates.entry(key(id)).or_insert_with(new)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.candidates.is_empty()
    }

    /// Whether the conversation is over: then the best one is final.
    pub fn is_finished(&self) -> bool {
        self.finished
    }

    /// Whether the best one passes the tests that decide; `None` where nobody says.
    pub fn is_solved(&self) -> Option<bool> {
        self.solved
    }

    /// The best candidate: what the root says, else the best so far, of which the first.
    pub fn best(&self) -> Option<&Candidate> {
        if self.finished {
            return self.candidates.get(&key(self.best_of_root.as_deref()?));
        }
        let run = self.candidates.values().filter(|one| one.score.is_some());
        run.reduce(|best, one| if one.score > best.score { one } else { best })
    }

    fn parent(&self, of: &Candidate) -> Option<(Key, &Candidate)> {
        let key = key(of.parent.as_deref()?);
        self.candidates.get(&key).map(|parent| (key, parent))
    }

    /// From the draft or starter to the best. Ends where a file says that something is its own ancestor.
    pub fn path(&self) -> Vec<&Candidate> {
        let mut path = Vec::new();
        let mut seen = BTreeSet::new();
        let mut at = self.best();
        while let Some(one) = at.filter(|one| seen.insert(one.id.as_str())) {
            path.push(one);
            at = self.parent(one).map(|(_, parent)| parent);
        }
        path.reverse();
        path
    }

    /// All candidates, each below its parent.
    pub fn rows(&self) -> Vec<Row<'_>> {
        let path: BTreeSet<&str> = self.path().iter().map(|one| one.id.as_str()).collect();
        let mut children: BTreeMap<Key, Vec<&Candidate>> = BTreeMap::new();
        for one in self.candidates.values() {
            if let Some((parent, _)) = self.parent(one) {
                children.entry(parent).or_default().push(one);
            }
        }
        let mut rows = Vec::new();
        let mut reached = BTreeSet::new();
        // Those without a parent first; then what only a circle of parents holds.
        let tops = self.candidates.values().filter(|one| self.parent(one).is_none());
        for top in tops.chain(self.candidates.values()) {
            let mut open = vec![(top, 0)];
            while let Some((candidate, column)) = open.pop() {
                if !reached.insert(candidate.id.as_str()) {
                    continue;
                }
                let parent_is_here = self.parent(candidate).is_some();
                rows.push(Row { candidate, column, on_path: path.contains(candidate.id.as_str()), parent_is_here });
                let below = children.get(&key(&candidate.id)).map_or(&[][..], Vec::as_slice);
                let inner = column + usize::from(below.len() > 1);
                open.extend(below.iter().rev().map(|child| (*child, inner)));
            }
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::{Candidate, Lineage, key};

    fn lineage(pairs: &[(&str, Option<&str>, f64)]) -> Lineage {
        let mut lineage = Lineage::default();
        for (id, parent, score) in pairs {
            let candidate = Candidate {
                id: (*id).to_owned(),
                parent: parent.map(str::to_owned),
                score: Some(*score),
                ..Candidate::default()
            };
            lineage.candidates.insert(key(id), candidate);
        }
        lineage
    }

    fn ids(lineage: &Lineage) -> Vec<(usize, &str)> {
        lineage.rows().iter().map(|row| (row.column, row.candidate.id.as_str())).collect()
    }

    #[test]
    fn candidates_stand_below_their_parents_in_logical_order() {
        let lineage = lineage(&[
            ("10.0", Some("2.0"), 0.5),
            ("2.0", None, 0.5),
            ("9.0", Some("2.0"), 0.9),
            ("11.0", Some("9.0"), 0.9),
            ("starter", None, 0.0),
        ]);
        assert_eq!(ids(&lineage), [(0, "starter"), (0, "2.0"), (1, "9.0"), (1, "11.0"), (1, "10.0")]);
        let path: Vec<&str> = lineage.path().iter().map(|one| one.id.as_str()).collect();
        assert_eq!(path, ["2.0", "9.0"]);
    }

    #[test]
    fn a_circle_ends_and_a_parent_that_is_not_here_is_none() {
        let lineage = lineage(&[("1.0", Some("2.0"), 0.1), ("2.0", Some("1.0"), 0.2), ("3.0", Some("7.0"), 0.0)]);
        assert_eq!(ids(&lineage), [(0, "3.0"), (0, "1.0"), (0, "2.0")]);
        assert!(!lineage.rows()[0].parent_is_here);
        assert_eq!(lineage.path().len(), 2);
        assert!(Lineage::default().path().is_empty());
    }
}
