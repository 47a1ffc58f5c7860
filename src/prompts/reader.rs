use super::python::read_module;
use crate::{
    domain::Language,
    languages::outline::{Outline, outline},
};

/// Longest text that is parsed at all, in bytes: no program of a role is longer.
pub const MAX_TEXT_BYTES: usize = 512 << 10;

/// Bytes that one reply may cost to parse, all attempts together. Bounds the time that a hostile reply can take.
const MAX_TOTAL_BYTES: usize = 2 << 20;

/// Reads texts of a language, within a bound of work.
pub struct Reader {
    language: Language,
    remaining_bytes: usize,
}

impl Reader {
    /// A reader with the whole bound before it.
    pub fn new(language: Language) -> Self {
        Self { language, remaining_bytes: MAX_TOTAL_BYTES }
    }

    /// Whether the bound is used up, so that nothing more is read.
    pub fn is_spent(&self) -> bool {
        self.remaining_bytes == 0
    }

    /// The outline of `text`; `None` where it is not of the language, has no statement, is too long, or the bound is used
    /// up.
    pub fn read(&mut self, text: &str) -> Option<Outline> {
        if text.len() > MAX_TEXT_BYTES || text.trim().is_empty() {
            return None;
        }
        if text.len() > self.remaining_bytes {
            self.remaining_bytes = 0;
            return None;
        }
        self.remaining_bytes -= text.len();
        match self.language {
            Language::Python => read_module(text),
            other => outline(other, text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Reader;
    use crate::domain::Language;

    #[test]
    fn work_is_bounded() {
        for language in Language::ALL {
            let mut reader = Reader::new(*language);
            assert!(reader.read(&"// x\n".repeat(200_000)).is_none(), "one text too long");
            let program = "# x\nx = 1\n";
            reader.remaining_bytes = program.len();
            reader.read(program);
            assert!(reader.is_spent());
            assert!(reader.read("x = 1\n").is_none() && reader.is_spent());
        }
    }
}
