use super::{Seal, Unit, syntax::TestTextError};
use crate::domain::Assertion;

/// The descriptor on which a linked program and the judge talk.
pub const LINKED_CHANNEL: u32 = 3;

/// How test code is judged in a language.
#[derive(Clone, Copy)]
pub enum Testing<'a> {
    /// Candidate and tests in two forked Python interpreters.
    Forked,
    /// Candidate and tests in two processes that run these texts, which speak the lines of `assertions.rs` on descriptor
    /// [`LINKED_CHANNEL`].
    Split {
        /// The candidate's server.
        candidate: &'a str,
        /// The tests' server.
        tests: &'a str,
    },
    /// Candidate, tests and harness linked into one process.
    Linked(&'a dyn LinkedHarness),
}

/// What becomes one program.
#[derive(Clone, Copy, Debug)]
pub struct Linked<'a> {
    /// The candidate's whole text.
    pub program: &'a str,
    /// Code of the task's prompt that the tests may use (imports, helper functions).
    pub preamble: Option<&'a str>,
    /// Support code that candidate and tests both see.
    pub support: Option<&'a str>,
    /// The test text.
    pub tests: &'a str,
    /// Its assertions, as [`super::Toolchain::assertions`] lists them.
    pub assertions: &'a [Assertion],
    /// The function under test.
    pub entry_point: Option<&'a str>,
}

/// Makes one program of candidate, tests and harness.
///
/// Every assertion of the test text is replaced by a call of the harness with its index. The program reads one
/// [`LinkedRequest`] from descriptor [`LINKED_CHANNEL`] before anything of the candidate runs as far as the language
/// allows, closes off what it can of the channel, runs the test text, and writes [`LinkedSaid`] lines.
pub trait LinkedHarness: Sync {
    /// The unit.
    ///
    /// # Errors
    /// A test text that cannot be rewritten, at the place that is in the way.
    fn unit(&self, linked: &Linked<'_>) -> Result<Unit, TestTextError>;
}

/// The one line that a linked program reads: `NONCE MASK CANARY`, each without blanks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkedRequest {
    /// 32 hexadecimal digits, new for every process: the key of the digest with which every line of the program begins.
    pub nonce: String,
    /// For each assertion whether it is decided already and must be skipped: neither its values are computed nor is it
    /// reported; statements around it run as they stand.
    pub decided: Vec<bool>,
    /// An assertion that is to be made false: compared with another expected value of the same type where it compares
    /// (so that an object that equals everything is found out), else negated. It must then be reported as failed.
    pub canary: Option<usize>,
}

impl LinkedRequest {
    /// The line, with its end. A mask of no assertion is `-`, and so is no canary.
    pub fn line(&self) -> String {
        let mask: String = self.decided.iter().map(|decided| if *decided { '1' } else { '0' }).collect();
        let mask = if mask.is_empty() { "-".to_owned() } else { mask };
        let canary = self.canary.map_or_else(|| "-".to_owned(), |index| index.to_string());
        format!("{} {mask} {canary}\n", self.nonce)
    }
}

/// What a linked program says, a line each: `DIGEST WORD [FIELD…]`, fields apart by one blank; texts are hexadecimal UTF-8
/// of at most 2,000 bytes, `-` where there is none. The nonce itself is never said, and each digest, which [`Seal`] makes,
/// is of one line at one place: who reads the lines cannot write others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkedSaid {
    /// `begin INDEX`: the assertion's values are about to be computed.
    Begin(usize),
    /// `passed INDEX`.
    Passed(usize),
    /// `failed INDEX EXPECTED ACTUAL`: it does not hold; values as the language prints them.
    Failed {
        /// Which assertion.
        index: usize,
        /// The expected value, where it compares one.
        expected: Option<String>,
        /// The value that came.
        actual: Option<String>,
    },
    /// `raised INDEX TEXT`: computing its values ended in an exception or panic that the harness could catch; `-` for the
    /// index: outside of any assertion, so those of the same function that are still to come cannot be reached.
    Raised {
        /// Which assertion.
        index: Option<usize>,
        /// The exception and its message.
        text: String,
    },
    /// `unsupported INDEX TEXT`: a value whose type is the candidate's own, so that its comparison proves nothing.
    Unsupported {
        /// Which assertion.
        index: usize,
        /// The type.
        text: String,
    },
    /// `done COUNT`: the test text has run to its end; how many lines with a verdict of an assertion (`passed`, `failed`,
    /// `unsupported`, `raised INDEX`) were written. The last line.
    Done(usize),
}

impl LinkedSaid {
    /// Reads a line without its end, the first of which has number 0; `None` for anything that is not exactly that line of
    /// this process.
    pub fn read(line: &[u8], seal: &Seal, number: u64) -> Option<Self> {
        let (digest, words) = std::str::from_utf8(line).ok()?.split_once(' ')?;
        if digest != seal.digest(number, words) {
            return None;
        }
        let mut fields = words.split(' ');
        let word = fields.next()?;
        let mut index = || fields.next()?.parse::<usize>().ok();
        let said = match word {
            "begin" => Self::Begin(index()?),
            "passed" => Self::Passed(index()?),
            "done" => Self::Done(index()?),
            "failed" => {
                Self::Failed { index: index()?, expected: text(fields.next()?)?, actual: text(fields.next()?)? }
            }
            "unsupported" => Self::Unsupported { index: index()?, text: text(fields.next()?)?.unwrap_or_default() },
            "raised" => {
                let index = match fields.next()? {
                    "-" => None,
                    number => Some(number.parse().ok()?),
                };
                Self::Raised { index, text: text(fields.next()?)?.unwrap_or_default() }
            }
            _ => return None,
        };
        fields.next().is_none().then_some(said)
    }
}

/// A text field; `Some(None)` for `-`. Bytes that are no UTF-8 are replaced.
fn text(field: &str) -> Option<Option<String>> {
    if field == "-" {
        return Some(None);
    }
    if !field.len().is_multiple_of(2) || !field.is_ascii() {
        return None;
    }
    let digits = field.as_bytes().chunks(2);
    let bytes = digits.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
    Some(Some(String::from_utf8_lossy(&bytes.collect::<Option<Vec<u8>>>()?).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::{LinkedRequest, LinkedSaid, Seal};

    #[test]
    fn requests_and_answers_are_lines_of_one_form() {
        let request = LinkedRequest { nonce: "ab".to_owned(), decided: vec![true, false], canary: None };
        assert_eq!(request.line(), "ab 10 -\n");
        let seal = Seal::of("000102030405060708090a0b0c0d0e0f");
        let said = |words: &str| format!("{} {words}", seal.digest(3, words)).into_bytes();
        assert_eq!(LinkedSaid::read(&said("passed 3"), &seal, 3), Some(LinkedSaid::Passed(3)));
        let failed = LinkedSaid::Failed { index: 1, expected: Some("8".to_owned()), actual: None };
        assert_eq!(LinkedSaid::read(&said("failed 1 38 -"), &seal, 3), Some(failed));
        for wrong in ["passed", "passed 3 4", " passed 3", "failed 1 3 -", "cheered 1", ""] {
            assert_eq!(LinkedSaid::read(&said(wrong), &seal, 3), None, "{wrong}");
        }
        for (line, number) in
            [(said("passed 3"), 4), (b"passed 3".to_vec(), 3), (b"0123456789abcdef passed 3".to_vec(), 3)]
        {
            assert_eq!(LinkedSaid::read(&line, &seal, number), None);
        }
    }
}
