use std::{cmp::Reverse, ops::Range};

use super::Linked;

/// Replacements in a text that leave every other line where it was.
pub(super) struct Edits<'a> {
    text: &'a str,
    replacements: Vec<(Range<usize>, String)>,
}

impl<'a> Edits<'a> {
    /// No replacement yet.
    pub(super) fn of(text: &'a str) -> Self {
        Self { text, replacements: Vec::new() }
    }

    /// Puts `replacement` in place of a range of bytes; ranges do not overlap. Line ends that it lacks are added at its
    /// end.
    pub(super) fn replace(&mut self, range: Range<usize>, mut replacement: String) {
        let lines = |text: &str| text.bytes().filter(|byte| *byte == b'\n').count();
        let missing = lines(&self.text[range.clone()]).saturating_sub(lines(&replacement));
        replacement.push_str(&"\n".repeat(missing));
        self.replacements.push((range, replacement));
    }

    /// Puts `text` at a place.
    pub(super) fn insert(&mut self, at: usize, text: String) {
        self.replacements.push((at..at, text));
    }

    /// Puts blanks in place of a range, but for its line ends.
    pub(super) fn blank(&mut self, range: Range<usize>) {
        self.replace(range, " ".to_owned());
    }

    /// The text with everything replaced. Where a replacement lies inside of another, the outer one holds.
    pub(super) fn apply(mut self) -> String {
        // What is put in at a place stands before what replaces something from there on.
        self.replacements.sort_by_key(|(range, _)| (range.start, !range.is_empty(), Reverse(range.end)));
        let (mut result, mut from) = (String::with_capacity(self.text.len() * 2), 0);
        for (range, replacement) in self.replacements {
            if range.start < from {
                continue;
            }
            result.push_str(&self.text[from..range.start]);
            result.push_str(&replacement);
            from = range.end;
        }
        result.push_str(&self.text[from..]);
        result
    }
}

/// Letters for names in a harness that neither program nor tests can contain.
pub(super) fn suffix(linked: &Linked<'_>) -> String {
    let mut hasher = blake3::Hasher::new();
    for text in [linked.program, linked.tests, linked.preamble.unwrap_or(""), linked.support.unwrap_or("")] {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    }
    hasher.finalize().to_hex()[..16].to_owned()
}

#[cfg(test)]
mod tests {
    use super::Edits;

    #[test]
    fn lines_outside_of_replacements_stay_where_they_were() {
        let text = "a(1,\n  2);\nb();\nc();\n";
        let mut edits = Edits::of(text);
        edits.replace(11..14, "longer()".to_owned());
        edits.replace(0..9, "x".to_owned());
        edits.replace(2..3, "inside".to_owned());
        edits.insert(16, "+".to_owned());
        edits.blank(16..19);
        let edited = edits.apply();
        assert_eq!(edited, "x\n;\nlonger();\n+ ;\n");
        assert_eq!(edited.lines().count(), text.lines().count());
    }
}
