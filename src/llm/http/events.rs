use serde_json::Value;

use super::failure::Failure;

/// One event of a stream (`text/event-stream`, WHATWG HTML, section 9.2).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// Its name; empty where it has none.
    pub name: String,
    /// Its data, lines joined by line ends.
    pub data: String,
}

/// Takes a stream of bytes apart into events. Comments and unknown fields are left out. It holds no more than the bytes of
/// one event, which the caller bounds.
#[derive(Debug, Default)]
pub struct EventReader {
    line: Vec<u8>,
    event: Event,
    has_data: bool,
    after_return: bool,
}

impl EventReader {
    /// Takes bytes as they come; gives the events that are whole now.
    pub fn take(&mut self, bytes: &[u8]) -> Vec<Event> {
        let mut events = Vec::new();
        for &byte in bytes {
            let after_return = std::mem::replace(&mut self.after_return, byte == b'\r');
            match byte {
                b'\n' if after_return => {}
                b'\n' | b'\r' => events.extend(self.end_line()),
                _ => self.line.push(byte),
            }
        }
        events
    }

    /// What was under way when the stream ended: servers forget the blank line behind the last event.
    pub fn finish(mut self) -> Option<Event> {
        let last = if self.line.is_empty() { None } else { self.end_line() };
        last.or_else(|| self.dispatch())
    }

    fn end_line(&mut self) -> Option<Event> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            return self.dispatch();
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_start_matches('\u{feff}');
        let (field, value) = text.split_once(':').unwrap_or((text, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(value);
            }
            "event" => self.event.name = value.to_owned(),
            _ => {}
        }
        None
    }

    fn dispatch(&mut self) -> Option<Event> {
        let event = std::mem::take(&mut self.event);
        std::mem::replace(&mut self.has_data, false).then_some(event)
    }
}

/// Puts the events of a stream together into the reply that the server would have given at once.
pub trait Assembly: Send {
    /// Takes an event; says whether it brought a piece of the reply.
    ///
    /// # Errors
    /// Where it says that the reply failed, or is not what was asked for.
    fn take(&mut self, event: &Event) -> Result<bool, Failure>;

    /// Whether nothing more is to come.
    fn is_done(&self) -> bool;

    /// The text of the reply as far as it came; `None` before its first piece.
    fn so_far(&self) -> Option<String>;

    /// The whole.
    ///
    /// # Errors
    /// Where the stream ended before the reply did.
    fn finish(&mut self) -> Result<Value, Failure>;
}

#[cfg(test)]
mod tests {
    use super::EventReader;

    fn read(text: &str, step: usize) -> Vec<(String, String)> {
        let mut reader = EventReader::default();
        let mut events: Vec<_> = text.as_bytes().chunks(step).flat_map(|bytes| reader.take(bytes)).collect();
        events.extend(reader.finish());
        events.into_iter().map(|event| (event.name, event.data)).collect()
    }

    #[test]
    fn events_are_found_however_the_bytes_are_cut() {
        let pair = |name: &str, data: &str| (name.to_owned(), data.to_owned());
        for (text, events) in [
            ("data: a\n\ndata:b\n\n", vec![pair("", "a"), pair("", "b")]),
            (
                "\u{feff}data: a\r\n\r\n: ping\r\n\r\ndata: é\r\rdata: c",
                vec![pair("", "a"), pair("", "é"), pair("", "c")],
            ),
            ("event: error\ndata: 1\ndata: 2\n\n", vec![pair("error", "1\n2")]),
            ("id: 3\nretry: 5\n\nevent: lonely\n\n", vec![]),
            ("data\n\ndata: last\n", vec![pair("", ""), pair("", "last")]),
            (": only\n: comments\n", vec![]),
            ("", vec![]),
        ] {
            for step in [1, 2, 3, 1_000] {
                assert_eq!(read(text, step), events, "{text:?} by {step}");
            }
        }
    }
}
