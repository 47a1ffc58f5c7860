use std::{fmt, path::Path, sync::Arc};

/// A place in a file: what every message about a file begins with.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The file as it was named.
    pub path: Arc<Path>,
    /// 1-based line; files of one line a record (JSON Lines) count records that way too.
    pub line: u32,
    /// 1-based column in characters, where it is known.
    pub column: Option<u32>,
}

impl Place {
    /// A place whose column is not known.
    pub fn line(path: &Arc<Path>, line: u32) -> Self {
        Self { path: path.clone(), line, column: None }
    }

    /// Line and column of byte `offset` of `text`.
    pub fn of_offset(path: &Arc<Path>, text: &str, offset: usize) -> Self {
        let (line, column) = line_and_column(text.as_bytes(), offset);
        Self { path: path.clone(), line, column: Some(column) }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.path.display(), self.line)?;
        self.column.map_or(Ok(()), |column| write!(f, ":{column}"))
    }
}

/// 1-based line and column (in characters; stray bytes count as one each) of byte `offset` of `text`.
pub(super) fn line_and_column(text: &[u8], offset: usize) -> (u32, u32) {
    let before = &text[..offset.min(text.len())];
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
    let column = String::from_utf8_lossy(&before[start..]).chars().count() + 1;
    (to_u32(line), to_u32(column))
}

/// `number`, or the largest `u32` where it does not fit: a line number beyond that is of no use to anybody.
pub(super) fn to_u32(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// One thing that is wrong in a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mistake {
    /// Where.
    pub place: Place,
    /// What is wrong, in words.
    pub message: String,
    /// What would be right, where that can be said.
    pub hint: Option<String>,
}

impl Mistake {
    /// A mistake without a hint.
    pub fn new(place: Place, message: impl Into<String>) -> Self {
        Self { place, message: message.into(), hint: None }
    }

    /// The same with words on what would be right.
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)?;
        self.hint.as_ref().map_or(Ok(()), |hint| write!(f, "\n  hint: {hint}"))
    }
}

/// Every mistake of one file, in the order of the file; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistakes(Vec<Mistake>);

impl Mistakes {
    /// How many a message lists; a binary file would fill the screen.
    const SHOWN: usize = 20;

    /// Sorted; `None` where there is none.
    pub fn of(mut mistakes: Vec<Mistake>) -> Option<Self> {
        mistakes.sort();
        mistakes.dedup();
        (!mistakes.is_empty()).then_some(Self(mistakes))
    }

    /// All of them.
    pub fn all(&self) -> &[Mistake] {
        &self.0
    }
}

impl From<Mistake> for Mistakes {
    fn from(mistake: Mistake) -> Self {
        Self(vec![mistake])
    }
}

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, mistake) in self.0.iter().take(Self::SHOWN).enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            mistake.fmt(f)?;
        }
        match self.0.len().saturating_sub(Self::SHOWN) {
            0 => Ok(()),
            more => write!(f, "\n… and at least {more} more"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::line_and_column;

    #[test]
    fn lines_and_columns_count_from_one_and_columns_count_characters() {
        assert_eq!(line_and_column(b"", 0), (1, 1));
        assert_eq!(line_and_column("é = 1\nab".as_bytes(), "é ".len()), (1, 3));
        assert_eq!(line_and_column(b"a\nbc", 3), (2, 2));
        assert_eq!(line_and_column(b"a\n", 99), (2, 1));
    }
}
