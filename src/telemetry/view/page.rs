//! Lines for the terminal: painted, and broken where it is narrow so that the tree still reads.

use owo_colors::{OwoColorize, Style};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The least room for words that lines are broken for; with less they run on.
const LEAST_ROOM: usize = 24;

/// How a page is shown.
#[derive(Clone, Copy, Debug, Default)]
pub struct Look {
    /// With colours of the terminal.
    pub colour: bool,
    /// Columns of the terminal; `None` where lines are as long as they are.
    pub width: Option<usize>,
}

/// How a part of a line is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// As it is.
    Plain,
    /// Structure: rounds.
    Strong,
    /// What holds the rest together: handoffs, times.
    Faint,
    /// All tests passed.
    Good,
    /// Something of ours failed.
    Bad,
}

/// The parts of a line, each with its tone.
pub type Line = Vec<(Tone, String)>;

/// A page under construction.
pub struct Page {
    look: Look,
    text: String,
}

impl Page {
    /// An empty page.
    pub fn new(look: Look) -> Self {
        Self { look, text: String::new() }
    }

    /// What stands on it.
    pub fn into_text(self) -> String {
        self.text
    }

    /// An empty line.
    pub fn gap(&mut self) {
        self.text.push('\n');
    }

    /// A line: `before` and then the parts, two spaces apart. Where it has to be broken, the next begins with `below`.
    pub fn line(&mut self, before: &str, below: &str, parts: &[(Tone, String)]) {
        self.faint(before);
        let mut column = before.width();
        let limit = self.look.width.filter(|width| *width >= below.width() + LEAST_ROOM);
        for (index, (tone, part)) in parts.iter().enumerate() {
            let part = clean(part);
            let Some(limit) = limit else {
                self.paint(if index > 0 { "  " } else { "" }, *tone, &part);
                continue;
            };
            let (mut gap, mut rest) = (if index == 0 { 0 } else { 2 }, part.as_str());
            let start = below.width();
            loop {
                let room = limit.saturating_sub(column + gap);
                let (now, later) = broken(rest, room);
                // What no line has room for, a sign wider than a line for example, runs on.
                if later.is_empty() || now.is_empty() && column <= start {
                    break;
                }
                // A part that fits a line of its own is not broken.
                let fits_below = column > start && broken(rest, limit - start).1.is_empty();
                let (now, later) = if fits_below { ("", rest) } else { (now, later) };
                if !now.is_empty() {
                    self.paint(&" ".repeat(gap), *tone, now);
                }
                self.text.push('\n');
                self.faint(below);
                (column, gap, rest) = (start, 0, later);
            }
            self.paint(&" ".repeat(gap), *tone, rest);
            column += gap + rest.width();
        }
        self.text.push('\n');
    }

    fn faint(&mut self, text: &str) {
        let blank = text.len() - text.trim_start_matches(' ').len();
        self.text.push_str(&text[..blank]);
        self.paint("", Tone::Faint, &text[blank..]);
    }

    fn paint(&mut self, before: &str, tone: Tone, text: &str) {
        self.text.push_str(before);
        let style = match tone {
            Tone::Plain => Style::new(),
            Tone::Strong => Style::new().bold(),
            Tone::Faint => Style::new().dimmed(),
            Tone::Good => Style::new().green(),
            Tone::Bad => Style::new().red(),
        };
        if self.look.colour && !text.is_empty() && tone != Tone::Plain {
            self.text.push_str(&text.style(style).to_string());
        } else {
            self.text.push_str(text);
        }
    }
}

/// Text of a file never moves the cursor, turns the direction of writing or breaks the tree.
pub fn clean(text: &str) -> String {
    let turns = |one| matches!(one, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars().map(|one| if one.is_control() || turns(one) { '\u{fffd}' } else { one }).collect()
}

/// What of `text` goes into `room` columns, and the rest: broken after a space where there is one.
fn broken(text: &str, room: usize) -> (&str, &str) {
    let mut column = 0;
    let mut space = None;
    for (at, one) in text.char_indices() {
        column += one.width().unwrap_or(0);
        if column > room {
            return match space {
                Some(space) => (text[..space].trim_end(), text[space..].trim_start()),
                None => text.split_at(at),
            };
        }
        if one == ' ' {
            space = Some(at);
        }
    }
    (text, "")
}

#[cfg(test)]
mod tests {
    use super::{Look, Page, Tone, broken};

    fn page(width: usize, before: &str, below: &str, parts: &[&str]) -> String {
        let mut page = Page::new(Look { colour: false, width: Some(width) });
        let parts: Vec<(Tone, String)> = parts.iter().map(|part| (Tone::Plain, (*part).to_owned())).collect();
        page.line(before, below, &parts);
        page.into_text()
    }

    #[test]
    fn a_line_is_broken_between_its_parts_first() {
        let parts = ["debugger writes 6.0", "wrong 1/4", "swap arguments"];
        assert_eq!(page(60, "├─ ", "│  ", &parts), "├─ debugger writes 6.0  wrong 1/4  swap arguments\n");
        assert_eq!(page(40, "├─ ", "│  ", &parts), "├─ debugger writes 6.0  wrong 1/4\n│  swap arguments\n");
    }

    #[test]
    fn a_part_that_no_line_holds_is_broken_at_its_words_and_at_last_anywhere() {
        let words = "one two three four five six seven eight nine";
        let text = page(30, "├─ ", "│    ", &["x", words]);
        assert_eq!(text, "├─ x  one two three four five\n│    six seven eight nine\n");
        let text = page(30, "├─ ", "│    ", &[&"界".repeat(20)]);
        assert_eq!(text, format!("├─ {}\n│    {}\n", "界".repeat(13), "界".repeat(7)));
        assert!(text.lines().all(|line| unicode_width::UnicodeWidthStr::width(line) <= 30));
    }

    #[test]
    fn without_room_lines_run_on() {
        assert_eq!(page(20, "├─ ", "│    ", &["one two three four five"]), "├─ one two three four five\n");
        assert_eq!(broken("abc", 3), ("abc", ""));
        assert_eq!(broken("abc", 0), ("", "abc"));
    }

    #[test]
    fn only_we_command_the_terminal() {
        let text = page(80, "", "", &["a\u{1b}[31mb\u{202e}c\n"]);
        assert_eq!(text, "a\u{fffd}[31mb\u{fffd}c\u{fffd}\n");
    }
}
