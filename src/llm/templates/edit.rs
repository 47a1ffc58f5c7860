//! One change of a program text, and the collector that operators hand their changes to.

use std::collections::BTreeSet;

use super::{
    expression::{Expr, needed},
    kind::Kind,
    scene::Scene,
    syntax::{NodeId, Syntax},
};

/// Most edits of one program.
const MAX_EDITS: usize = 20_000;
/// Most bytes of replacement texts of one program, together.
const MAX_REPLACEMENT_BYTES: usize = 8 << 20;
/// Most edits that one operator may propose at one node.
const MAX_EDITS_AT_NODE: u32 = 60;
/// Most edits that are looked at for it, those that are known already included.
const MAX_TRIES_AT_NODE: u32 = 300;

/// Replaces `start..end` of a program text by `text`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Splice {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) text: String,
}

impl Splice {
    /// The program text after the change.
    pub(super) fn apply(&self, source: &str) -> String {
        let mut result = String::with_capacity(source.len() + self.text.len());
        result.push_str(&source[..self.start]);
        result.push_str(&self.text);
        result.push_str(&source[self.end..]);
        result
    }

    /// Both changes as one; `other` must lie behind.
    pub(super) fn and(&self, other: &Self, source: &str) -> Self {
        let text = format!("{}{}{}", self.text, &source[self.end..other.start], other.text);
        Self { start: self.start, end: other.end, text }
    }

    /// The same change written in the one shortest way: what old and new text have in common at the beginning, then
    /// at the end, is left out. Two changes give the same program exactly when these are equal.
    fn shortest(&self, source: &str) -> Self {
        let mut start = self.start;
        let mut text = self.text.as_str();
        while let (Some(old), Some(new)) = (source[start..self.end].chars().next(), text.chars().next()) {
            if old != new {
                break;
            }
            start += old.len_utf8();
            text = &text[new.len_utf8()..];
        }
        let mut end = self.end;
        while let (Some(old), Some(new)) = (source[start..end].chars().next_back(), text.chars().next_back()) {
            if old != new {
                break;
            }
            end -= old.len_utf8();
            text = &text[..text.len() - new.len_utf8()];
        }
        if start == end && text.is_empty() {
            return Self { start: 0, end: 0, text: String::new() };
        }
        // A pure insertion or deletion can be written at several places: take the last one.
        if start == end && !text.is_empty() {
            let chars: Vec<char> = text.chars().collect();
            let mut turns = 0;
            while source[end..].starts_with(chars[turns % chars.len()]) {
                end += chars[turns % chars.len()].len_utf8();
                turns += 1;
            }
            let text = chars.iter().cycle().skip(turns % chars.len()).take(chars.len()).collect();
            return Self { start: end, end, text };
        }
        while text.is_empty() && start < end {
            match (source[start..].chars().next(), source[end..].chars().next()) {
                (Some(first), Some(next)) if first == next => {
                    start += first.len_utf8();
                    end += next.len_utf8();
                }
                _ => break,
            }
        }
        Self { start, end, text: text.to_owned() }
    }
}

/// A change that an operator proposes.
#[derive(Clone, Debug)]
pub(super) struct Edit {
    pub(super) splice: Splice,
    /// Index in [`super::operators::all`].
    pub(super) operator: u16,
    /// 1-based line that the change is credited to.
    pub(super) line: u32,
    /// First line of the statement that it belongs to, for where `line` itself is never recorded as executed.
    pub(super) statement_line: u32,
    /// The node that it was proposed for.
    pub(super) node: NodeId,
    /// How many edits the operator proposed before it at the same node.
    pub(super) rank: u32,
}

/// Collects what the operators propose.
pub(super) struct Proposals<'a> {
    scene: &'a Scene,
    operator: u16,
    rank: u32,
    tries: u32,
    edits: Vec<Edit>,
    known: BTreeSet<Splice>,
    bytes: usize,
}

impl<'a> Proposals<'a> {
    pub(super) fn new(scene: &'a Scene) -> Self {
        Self { scene, operator: 0, rank: 0, tries: 0, edits: Vec::new(), known: BTreeSet::new(), bytes: 0 }
    }

    /// From now on, proposals are those of this operator at the next node.
    pub(super) fn begin(&mut self, operator: u16) {
        self.operator = operator;
        self.rank = 0;
        self.tries = 0;
    }

    /// Whether no more are taken.
    pub(super) fn is_full(&self) -> bool {
        self.edits.len() >= MAX_EDITS || self.bytes >= MAX_REPLACEMENT_BYTES
    }

    /// All that was proposed so far, in order.
    pub(super) fn edits(&self) -> &[Edit] {
        &self.edits
    }

    /// All that was proposed, in order.
    pub(super) fn into_edits(self) -> Vec<Edit> {
        self.edits
    }

    fn syntax(&self) -> &'a Syntax {
        &self.scene.syntax
    }

    /// Replaces a span of the program, credited to the line of `at`.
    pub(super) fn splice(&mut self, at: NodeId, start: usize, end: usize, text: impl Into<String>) {
        self.tries += 1;
        if self.rank >= MAX_EDITS_AT_NODE || self.tries > MAX_TRIES_AT_NODE || self.is_full() {
            return;
        }
        let syntax = self.syntax();
        let text = text.into();
        if syntax.in_string(at) && text.contains(['"', '\'', '\\', '\n']) {
            return;
        }
        let splice = Splice { start, end, text }.shortest(syntax.source());
        if (splice.start == splice.end && splice.text.is_empty()) || !self.known.insert(splice.clone()) {
            return;
        }
        self.bytes += splice.text.len();
        let statement_line = syntax.statement(at).map_or_else(|| syntax.line(at), |id| syntax.line(id));
        let edit =
            Edit { splice, operator: self.operator, line: syntax.line(at), statement_line, node: at, rank: self.rank };
        self.rank += 1;
        self.edits.push(edit);
    }

    /// Replaces a node by a text as it is.
    pub(super) fn replace(&mut self, id: NodeId, text: impl Into<String>) {
        let (start, end) = (self.syntax().start(id), self.syntax().end(id));
        self.splice(id, start, end, text);
    }

    /// Replaces an expression by another, in parentheses where its place asks for them.
    pub(super) fn put(&mut self, id: NodeId, expr: &Expr) {
        let syntax = self.syntax();
        let generator_arguments = syntax.kind(id) == Kind::Generator && syntax.parent_kind(id) == Kind::Call;
        if generator_arguments {
            self.replace(id, format!("({})", expr.text));
        } else {
            self.replace(id, expr.at_least(needed(syntax, id)));
        }
    }

    /// Puts two texts in place of two nodes that do not overlap.
    pub(super) fn replace_two(&mut self, first: (NodeId, &str), second: (NodeId, &str)) {
        self.replace_all(&[(first.0, first.1.to_owned()), (second.0, second.1.to_owned())]);
    }

    /// Puts texts in place of nodes that do not overlap, all at once, credited to the first in source order.
    pub(super) fn replace_all(&mut self, parts: &[(NodeId, String)]) {
        let syntax = self.syntax();
        let mut parts: Vec<_> = parts.iter().collect();
        parts.sort_by_key(|(id, _)| syntax.start(*id));
        let (Some((first, _)), Some((last, _))) = (parts.first(), parts.last()) else { return };
        let (start, end) = (syntax.start(*first), syntax.end(*last));
        let mut text = String::new();
        let mut at = start;
        for (id, part) in &parts {
            if syntax.start(*id) < at {
                return;
            }
            text.push_str(&syntax.source()[at..syntax.start(*id)]);
            text.push_str(part);
            at = syntax.end(*id);
        }
        self.splice(*first, start, end, text);
    }

    /// Puts a statement of one line before `statement`, in the same block.
    pub(super) fn insert_before(&mut self, statement: NodeId, line: &str) {
        let Some(lines) = self.scene.lines(statement) else { return };
        let text = format!("{}{line}{}", self.scene.indent(statement), self.scene.newline);
        self.splice(statement, lines.start, lines.start, text);
    }

    /// Puts a statement of one line after `statement`, in the same block.
    pub(super) fn insert_after(&mut self, statement: NodeId, line: &str) {
        let Some(lines) = self.scene.lines(statement) else { return };
        let (indent, newline) = (self.scene.indent(statement), &self.scene.newline);
        let ends_open = !self.syntax().source()[..lines.end].ends_with('\n');
        let text = if ends_open { format!("{newline}{indent}{line}") } else { format!("{indent}{line}{newline}") };
        self.splice(statement, lines.end, lines.end, text);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Splice;

    fn splice(start: usize, end: usize, text: &str) -> Splice {
        Splice { start, end, text: text.to_owned() }
    }

    #[test]
    fn equal_programs_have_equal_shortest_splices() {
        let source = "aaab";
        assert_eq!(splice(0, 0, "a").shortest(source), splice(2, 2, "a").shortest(source));
        assert_eq!(splice(0, 1, "").shortest(source), splice(2, 3, "").shortest(source));
        assert_eq!(splice(1, 3, "ac").shortest(source), splice(2, 3, "c"));
    }

    proptest! {
        #[test]
        fn shortest_says_the_same_and_is_the_only_way_to_say_it(
            source in "[ab\u{e9}]{0,8}", a in 0_usize..9, b in 0_usize..9, c in 0_usize..9, d in 0_usize..9,
            left in "[ab\u{e9}]{0,4}", right in "[ab\u{e9}]{0,4}",
        ) {
            let edges: Vec<usize> =
                source.char_indices().map(|(at, _)| at).chain([source.len()]).collect();
            let at = |x: usize| edges[x % edges.len()];
            let one = splice(at(a).min(at(b)), at(a).max(at(b)), &left);
            let two = splice(at(c).min(at(d)), at(c).max(at(d)), &right);
            prop_assert_eq!(one.shortest(&source).apply(&source), one.apply(&source));
            prop_assert_eq!(
                one.apply(&source) == two.apply(&source),
                one.shortest(&source) == two.shortest(&source)
            );
        }
    }
}
