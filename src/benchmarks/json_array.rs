//! Finds the elements of one big JSON array without decoding them, so that each keeps its place in the file.

use super::records::RecordText;

/// Where the text is not an array.
pub(super) struct ArrayError {
    /// Byte of the text.
    pub offset: usize,
    /// What is wrong.
    pub problem: String,
}

/// The elements of the array that `text` is. What is inside an element is for its own parser to judge.
pub(super) fn elements(text: &str) -> Result<Vec<RecordText<'_>>, ArrayError> {
    let error = |offset, problem: &str| ArrayError { offset, problem: problem.to_owned() };
    let mut found = Vec::new();
    let mut scan = Scan { line: 1, column: 0, depth: 0, in_string: false, escaped: false };
    let mut element: Option<(usize, u32, u32)> = None;
    let mut after_comma = false;
    for (offset, byte) in text.bytes().enumerate() {
        let (depth, quoted) = (scan.depth, scan.in_string);
        scan.step(byte);
        match byte {
            _ if byte.is_ascii_whitespace() || (depth == 0 && byte == b'[') => {}
            _ if depth == 0 => return Err(error(offset, "not an array")),
            b',' | b']' if depth == 1 && !quoted => {
                match element.take() {
                    Some((start, line, column)) => found.push(RecordText { text: &text[start..offset], line, column }),
                    None if byte == b',' || after_comma => return Err(error(offset, "an element is missing")),
                    None => {}
                }
                after_comma = byte == b',';
                if byte == b']' {
                    let rest = &text[offset + 1..];
                    return match rest.find(|character: char| !character.is_whitespace()) {
                        None => Ok(found),
                        Some(more) => Err(error(offset + 1 + more, "nothing may follow the end of the array")),
                    };
                }
            }
            _ if element.is_none() => element = Some((offset, scan.line, scan.column)),
            _ => {}
        }
    }
    Err(error(text.len(), "the file ends inside of the array: it is cut off"))
}

/// Where the scanner is, how deep, and whether inside of a string.
struct Scan {
    line: u32,
    column: u32,
    depth: usize,
    in_string: bool,
    escaped: bool,
}

impl Scan {
    fn step(&mut self, byte: u8) {
        match byte {
            b'\n' => (self.line, self.column) = (self.line.saturating_add(1), 0),
            // continuation bytes of UTF-8 are no characters of their own
            0x80..=0xbf => {}
            _ => self.column = self.column.saturating_add(1),
        }
        if self.in_string {
            self.in_string = self.escaped || byte != b'"';
            self.escaped = !self.escaped && byte == b'\\';
            return;
        }
        match byte {
            b'"' => self.in_string = true,
            b'[' | b'{' => self.depth += 1,
            b']' | b'}' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::elements;

    #[test]
    fn elements_keep_their_text_and_place() {
        let text = "[ {\"a\": \"],\\\"[\"},\n  [1, {\"b\": 2}]\n, 3, \"é\", 4 ]\n";
        let found: Vec<_> = elements(text).ok().unwrap().iter().map(|e| (e.text.trim(), e.line, e.column)).collect();
        assert_eq!(
            found,
            [("{\"a\": \"],\\\"[\"}", 1, 3), ("[1, {\"b\": 2}]", 2, 3), ("3", 3, 3), ("\"é\"", 3, 6), ("4", 3, 11)]
        );
        assert!(elements("[]").ok().unwrap().is_empty());
    }

    #[test]
    fn what_is_no_array_is_refused_at_its_byte() {
        let offset = |text| elements(text).err().unwrap().offset;
        assert_eq!(offset("[1, 2"), 5);
        assert_eq!(offset("[1,,2]"), 3);
        assert_eq!(offset("[1,]"), 3);
        assert_eq!(offset("[1] 2"), 4);
    }
}
