//! A trace file line after line: whoever reads holds one line at a time, however long the file is, and however broken.

use std::{
    fmt,
    io::{self, BufRead},
    mem,
};

use serde::Serialize;
use serde_json::Value;

use super::span::{ReadSpan, attributes};
use crate::telemetry::{attributes as name, mending};

/// The longest line that is read: 256 MiB. One that is longer is passed over, and told.
pub const MAX_LINE_BYTES: usize = 256 << 20;

/// What is wrong with one line of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BadLine {
    /// Which, from 1.
    pub line: usize,
    /// What.
    pub reason: String,
}

impl fmt::Display for BadLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.line, self.reason)
    }
}

/// What one line held.
#[derive(Debug, Default)]
pub struct Portion {
    /// The spans that can be read.
    pub spans: Vec<ReadSpan>,
    /// What cannot.
    pub damage: Vec<BadLine>,
    /// Whether the line is the last one and was cut off, as by a kill.
    pub cut: bool,
}

/// The lines of a trace file.
pub struct SpanLines<R> {
    reader: R,
    /// What has been read of the line that is not whole yet; kept at the end of a file that may grow.
    begun: Vec<u8>,
    too_long: bool,
    limit: usize,
    line: usize,
    read: u64,
    whole: u64,
}

impl<R: BufRead> SpanLines<R> {
    /// The lines of what `reader` reads, from its beginning.
    pub fn new(reader: R) -> Self {
        Self { reader, begun: Vec::new(), too_long: false, limit: MAX_LINE_BYTES, line: 0, read: 0, whole: 0 }
    }

    /// How many bytes the whole lines so far take.
    pub fn whole_bytes(&self) -> u64 {
        self.whole
    }

    /// The next whole line that is not blank; `None` where the file has none yet. A line that grows is waited for by
    /// calling again.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn next_whole(&mut self) -> io::Result<Option<Portion>> {
        while self.read_line()? {
            self.line += 1;
            let too_long = mem::take(&mut self.too_long);
            let line = mem::take(&mut self.begun);
            if too_long {
                return Ok(Some(self.damaged(format!("longer than {} bytes", self.limit))));
            }
            if !line.trim_ascii().is_empty() {
                return Ok(Some(match self.parse(&line) {
                    Ok(portion) => portion,
                    Err(reason) => self.damaged(reason),
                }));
            }
        }
        Ok(None)
    }

    /// What stands after the last line end: a last line without one, or half a line.
    pub fn rest(&mut self) -> Option<Portion> {
        let line = mem::take(&mut self.begun);
        if line.trim_ascii().is_empty() && !self.too_long {
            return None;
        }
        self.line += 1;
        if mem::take(&mut self.too_long) {
            return Some(self.damaged(format!("longer than {} bytes", self.limit)));
        }
        Some(self.parse(&line).unwrap_or_else(|_| Portion { cut: true, ..Portion::default() }))
    }

    /// Hands every line to `take`, the last one too.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn all(mut self, mut take: impl FnMut(Portion)) -> io::Result<()> {
        while let Some(portion) = self.next_whole()? {
            take(portion);
        }
        if let Some(portion) = self.rest() {
            take(portion);
        }
        Ok(())
    }

    /// Reads on to the next line end; whether there was one.
    fn read_line(&mut self) -> io::Result<bool> {
        loop {
            let read = match self.reader.fill_buf() {
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if read.is_empty() {
                return Ok(false);
            }
            let end = read.iter().position(|byte| *byte == b'\n');
            let part = &read[..end.unwrap_or(read.len())];
            if self.begun.len() + part.len() > self.limit {
                self.too_long = true;
                self.begun.clear();
            }
            if !self.too_long {
                self.begun.extend_from_slice(part);
            }
            let used = end.map_or(read.len(), |end| end + 1);
            self.reader.consume(used);
            self.read += used as u64;
            if end.is_some() {
                self.whole = self.read;
                return Ok(true);
            }
        }
    }

    fn damaged(&self, reason: String) -> Portion {
        Portion { damage: vec![BadLine { line: self.line, reason }], ..Portion::default() }
    }

    fn parse(&self, line: &[u8]) -> Result<Portion, String> {
        let request = mending::parse(line)?;
        let mut portion = Portion::default();
        for resource in request.resource_spans {
            let of_resource = attributes(resource.resource.map(|resource| resource.attributes).unwrap_or_default());
            let service = of_resource.get(name::SERVICE_NAME).and_then(Value::as_str).unwrap_or_default();
            for span in resource.scope_spans.into_iter().flat_map(|scope| scope.spans) {
                match ReadSpan::read(span, service, self.line) {
                    Some(span) => portion.spans.push(span),
                    None => portion.damage.push(BadLine {
                        line: self.line,
                        reason: "a span whose ids are not of 16 and 8 bytes".to_owned(),
                    }),
                }
            }
        }
        Ok(portion)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]

    use std::io::{BufReader, Cursor};

    use super::{BadLine, SpanLines};

    /// What each line came to: how many spans, or the first damage, or `None` where it was cut off.
    fn told(text: &str, limit: usize, buffer: usize) -> Vec<Option<Result<usize, String>>> {
        let mut lines = SpanLines::new(BufReader::with_capacity(buffer, Cursor::new(text)));
        lines.limit = limit;
        let mut told = Vec::new();
        let damage = |bad: &BadLine| format!("{}: {}", bad.line, &bad.reason[..11]);
        lines
            .all(|portion| {
                told.push(match portion.damage.first() {
                    Some(bad) => Some(Err(damage(bad))),
                    None => (!portion.cut).then_some(Ok(portion.spans.len())),
                });
            })
            .unwrap();
        told
    }

    #[test]
    fn lines_are_told_one_by_one_however_they_come() {
        let span = r#"{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"00000000000000000000000000000001","spanId":"0000000000000001"}]}]}]}"#;
        let text = format!("{span}\r\n\n  \nno JSON\n{span}\n{{\"resource");
        for buffer in [1, 7, 64, 4096] {
            let expected = [Some(Ok(1)), Some(Err("4: no OTLP tra".to_owned())), Some(Ok(1)), None];
            assert_eq!(told(&text, 1000, buffer), expected, "{buffer}");
            assert_eq!(told(span, 1000, buffer), [Some(Ok(1))], "a last line may have no end");
            let long = format!("{}\n{span}\n{}", " ".repeat(300), "x".repeat(300));
            let too_long = |line: usize| Some(Err(format!("{line}: longer than")));
            let expected = [too_long(1), Some(Ok(1)), too_long(3)];
            assert_eq!(told(&long, 200, buffer), expected, "{buffer}");
        }
    }
}
