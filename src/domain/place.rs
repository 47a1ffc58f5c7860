use std::fmt;

/// A place in a text file; lines and columns (in characters) count from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file as the user names it, or the name of an embedded one.
    pub file: String,
    /// Line.
    pub line: usize,
    /// Column.
    pub column: usize,
    /// Bytes before it.
    pub offset: usize,
}

impl Place {
    /// The place of byte `offset` of `text`, the whole file's text; its end where `offset` lies behind it.
    pub fn of(file: &str, text: &str, offset: usize) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = before.matches('\n').count() + 1;
        Self { file: file.to_owned(), line, column: before[line_start..].chars().count() + 1, offset: before.len() }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

#[cfg(test)]
mod tests {
    use super::Place;

    #[test]
    fn a38_lines_and_columns_count_characters_from_one() {
        let text = "ab\n数é\n";
        let place = |offset| Place::of("f", text, offset).to_string();
        assert_eq!(
            [place(0), place(1), place(3), place(6), place(8), place(9), place(99)],
            ["f:1:1", "f:1:2", "f:2:1", "f:2:2", "f:2:3", "f:3:1", "f:3:1"]
        );
    }
}
