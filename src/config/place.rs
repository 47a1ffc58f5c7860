use std::{ops::Range, sync::Arc};

use super::ConfigPath;

/// What a text is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Medium {
    /// A file, of the user's or embedded.
    File(ConfigPath),
    /// The value of an option of the command line.
    Flag,
    /// The value of an environment variable.
    Environment,
}

/// A text that settings come from, with what is needed to name places in it.
#[derive(Debug)]
pub struct TextSource {
    name: String,
    text: String,
    medium: Medium,
    order: usize,
    line_starts: Vec<usize>,
    marks: Vec<Mark>,
}

/// How many characters stand before a byte: one every [`MARK_BYTES`], so that a place in a very long line is found
/// without counting from its beginning.
#[derive(Clone, Copy, Debug)]
struct Mark {
    byte: usize,
    chars: usize,
}

const MARK_BYTES: usize = 1 << 10;

fn marks(text: &str) -> Vec<Mark> {
    let mut marks = Vec::new();
    let mut next = 0;
    for (chars, (byte, _)) in text.char_indices().enumerate() {
        if byte >= next {
            marks.push(Mark { byte, chars });
            next = byte + MARK_BYTES;
        }
    }
    marks
}

impl TextSource {
    /// A text called `name`. Mistakes of sources with a lower `order` are listed first.
    pub fn new(name: impl Into<String>, text: impl Into<String>, medium: Medium, order: usize) -> Self {
        let text = text.into();
        let line_starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let marks = marks(&text);
        Self { name: name.into(), text, medium, order, line_starts, marks }
    }

    /// Path of the file as the user may open it, or the option or variable (`--budget`).
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What it is.
    pub fn medium(&self) -> &Medium {
        &self.medium
    }

    /// The file that relative paths in this text are relative to; `None` means the current folder.
    pub fn path(&self) -> Option<&ConfigPath> {
        match &self.medium {
            Medium::File(path) => Some(path),
            Medium::Flag | Medium::Environment => None,
        }
    }

    /// Its place among the sources of one arrangement.
    pub fn order(&self) -> usize {
        self.order
    }

    /// 1-based line and column of a byte offset; columns count characters. Offsets behind the end mean the end.
    pub fn line_column(&self, offset: usize) -> (u32, u32) {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.line_starts.partition_point(|&start| start <= offset);
        let start = self.line_starts.get(line.saturating_sub(1)).copied().unwrap_or(0);
        let marked = usize::from(start == 0 && offset > 0 && self.text.starts_with(BYTE_ORDER_MARK));
        let column = self.chars_before(offset) - self.chars_before(start) - marked;
        (u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(column + 1).unwrap_or(u32::MAX))
    }

    /// Characters before a byte offset that is between two characters.
    fn chars_before(&self, offset: usize) -> usize {
        let after = self.marks.partition_point(|mark| mark.byte <= offset);
        let mark = after.checked_sub(1).and_then(|index| self.marks.get(index)).copied();
        let Mark { byte, chars } = mark.unwrap_or(Mark { byte: 0, chars: 0 });
        chars + self.text.get(byte..offset).map_or(0, |rest| rest.chars().count())
    }
}

/// Editors that write it show no column for it.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// A stretch of a text.
#[derive(Clone, Debug)]
pub struct Place {
    source: Arc<TextSource>,
    span: Range<usize>,
}

impl Place {
    /// The bytes `span` of `source`.
    pub fn new(source: &Arc<TextSource>, span: Range<usize>) -> Self {
        Self { source: source.clone(), span }
    }

    /// The beginning of `source`: for what is missing in it.
    pub fn start_of(source: &Arc<TextSource>) -> Self {
        Self::new(source, 0..0)
    }

    /// The text that it is in.
    pub fn source(&self) -> &Arc<TextSource> {
        &self.source
    }

    /// The bytes of the text.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// 1-based line and column of its first character.
    pub fn line_column(&self) -> (u32, u32) {
        self.source.line_column(self.span.start)
    }
}

/// A value and where it was written.
#[derive(Clone, Debug)]
pub struct Located<T> {
    /// The value.
    pub value: T,
    /// Where it was written.
    pub place: Place,
}

impl<T> Located<T> {
    /// `value`, written at `place`.
    pub fn new(value: T, place: Place) -> Self {
        Self { value, place }
    }
}

#[cfg(test)]
mod tests {
    use super::{Medium, TextSource};

    #[test]
    fn columns_count_characters_and_lines_end_at_newlines() {
        let source = TextSource::new("x", "aé=1\r\nb\n", Medium::Flag, 0);
        assert_eq!(source.line_column(0), (1, 1));
        assert_eq!(source.line_column(3), (1, 3));
        assert_eq!(source.line_column(2), (1, 2), "inside a character means its beginning");
        assert_eq!(source.line_column(7), (2, 1));
        assert_eq!(source.line_column(99), (3, 1));
    }

    #[test]
    fn marks_count_as_one_would_by_hand() {
        let text = format!("\u{feff}{}\n{}", "aé€".repeat(900), "ü".repeat(3000));
        let source = TextSource::new("x", text.clone(), Medium::Flag, 0);
        for (chars, (byte, _)) in text.char_indices().enumerate().skip(1) {
            let (line, column) = source.line_column(byte);
            let expected = if chars <= 2701 { (1, chars) } else { (2, chars - 2701) };
            assert_eq!((line, column as usize), expected);
        }
    }
}
