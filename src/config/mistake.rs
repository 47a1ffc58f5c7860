use std::{fmt, ops::Range, sync::Arc};

use super::{Place, TextSource};

/// One mistake of a configuration, with its place. Shown as `FILE:LINE:COLUMN: message`, and a line with the hint.
#[derive(Clone, Debug)]
pub struct Mistake {
    /// Path of the file, or the option or environment variable.
    pub file: String,
    /// 1-based line.
    pub line: u32,
    /// 1-based column, counted in characters.
    pub column: u32,
    /// What is wrong, in one line.
    pub message: String,
    /// What would be right.
    pub hint: Option<String>,
    /// The bytes of `source` that are wrong.
    pub span: Range<usize>,
    /// The text that it is in.
    pub source: Arc<TextSource>,
}

impl Mistake {
    /// A mistake at `place`.
    pub fn at(place: &Place, message: impl Into<String>) -> Self {
        let (line, column) = place.line_column();
        let source = place.source().clone();
        let file = source.name().to_owned();
        Self { file, line, column, message: message.into(), hint: None, span: place.span(), source }
    }

    /// The same with a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "\n  hint: {hint}"),
            None => Ok(()),
        }
    }
}

/// Every mistake of a configuration, sorted by file and place. Never empty.
#[derive(Clone, Debug)]
pub struct Mistakes(Vec<Mistake>);

impl Mistakes {
    /// All of `mistakes`, sorted; `None` where there are none.
    pub fn collect(mut mistakes: Vec<Mistake>) -> Option<Self> {
        mistakes.sort_by(|a, b| {
            let key = |mistake: &Mistake| (mistake.source.order(), mistake.line, mistake.column);
            key(a).cmp(&key(b)).then_with(|| a.message.cmp(&b.message))
        });
        mistakes.dedup_by(|a, b| (a.line, a.column, &a.file, &a.message) == (b.line, b.column, &b.file, &b.message));
        (!mistakes.is_empty()).then_some(Self(mistakes))
    }

    /// In the order of their places.
    pub fn iter(&self) -> std::slice::Iter<'_, Mistake> {
        self.0.iter()
    }

    /// How many; at least 1.
    pub fn count(&self) -> usize {
        self.0.len()
    }
}

impl From<Mistake> for Mistakes {
    fn from(mistake: Mistake) -> Self {
        Self(vec![mistake])
    }
}

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, mistake) in self.0.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            mistake.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for Mistakes {}
