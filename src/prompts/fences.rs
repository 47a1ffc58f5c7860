use crate::{domain::Language, languages::toolchain};

/// Blocks of one reply that are looked at; more than any model writes.
const MAX_BLOCKS: usize = 64;

/// Closing fences that are tried for one opening fence.
const MAX_CUTS: usize = 16;

/// Info strings that say that a block is something else than a program in the task's language.
const OTHER_TAGS: &[&str] = &[
    "text",
    "txt",
    "plaintext",
    "plain",
    "output",
    "console",
    "terminal",
    "log",
    "error",
    "traceback",
    "pycon",
    "doctest",
    "bash",
    "sh",
    "shell",
    "zsh",
    "powershell",
    "cmd",
    "bat",
    "json",
    "jsonl",
    "yaml",
    "yml",
    "toml",
    "ini",
    "csv",
    "xml",
    "html",
    "css",
    "markdown",
    "md",
    "diff",
    "patch",
    "latex",
    "tex",
    "math",
    "sql",
    "makefile",
    "dockerfile",
    "mermaid",
    "c",
    "h",
    "cpp",
    "c++",
    "cxx",
    "cs",
    "csharp",
    "java",
    "javascript",
    "js",
    "typescript",
    "ts",
    "go",
    "golang",
    "rust",
    "rs",
    "ruby",
    "rb",
    "php",
    "perl",
    "r",
    "swift",
    "kotlin",
    "scala",
    "haskell",
    "lua",
    "julia",
    "matlab",
    "ocaml",
    "pseudocode",
    "pseudo",
];

/// What the info string of a fence says of its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tag {
    /// The task's language.
    Ours,
    /// Nothing, or a word that is no language.
    Plain,
    /// Another language, or prose.
    Other,
}

/// A fenced block of a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// What the info string says.
    pub tag: Tag,
    /// The lines between the fences, each with its line end, without the indentation of the fence.
    pub text: String,
    /// Whether there was a closing fence.
    pub closed: bool,
    /// Whether `text` is a cut that `accepts` took.
    pub accepted: bool,
}

/// A line of at least three backticks or tildes, indented or not, with an info string or none.
#[derive(Clone, Copy)]
struct Fence<'l> {
    mark: char,
    length: usize,
    indent: usize,
    info: &'l str,
}

impl<'l> Fence<'l> {
    fn read(line: &'l str) -> Option<Self> {
        let text = line.trim_start();
        let indent = line.chars().count() - text.chars().count();
        let mark = text.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
        let rest = text.trim_start_matches(mark);
        let length = text.len() - rest.len();
        // An info string with backticks in it is inline code, not a fence (CommonMark 0.31, section 4.5).
        let fence = length >= 3 && !(mark == '`' && rest.contains('`'));
        fence.then_some(Self { mark, length, indent, info: rest.trim() })
    }

    fn is_closed_by(&self, line: &str) -> bool {
        Fence::read(line)
            .is_some_and(|other| other.mark == self.mark && other.length >= self.length && other.info.is_empty())
    }

    /// The lines as they would stand without the fence's own indentation.
    fn body(&self, lines: &[&str]) -> String {
        let mut text = String::new();
        for line in lines {
            let mut rest = *line;
            for _ in 0..self.indent {
                rest = rest.strip_prefix([' ', '\t']).unwrap_or(rest);
            }
            text.push_str(rest);
            text.push('\n');
        }
        text
    }
}

/// The tag of an info string, and what of it may be code: a program that begins on the line of the fence.
fn read_info(info: &str, language: Language) -> (Tag, &str) {
    let (first, rest) = info.split_once(char::is_whitespace).unwrap_or((info, ""));
    let word = first.trim_matches(|c| matches!(c, '{' | '}' | '.' | ':' | ',')).to_lowercase();
    if info.is_empty() {
        (Tag::Plain, "")
    } else if is_name_of(language, &word) {
        (Tag::Ours, rest.trim())
    } else if OTHER_TAGS.contains(&word.as_str()) {
        (Tag::Other, "")
    } else {
        (Tag::Plain, info)
    }
}

/// Whether an info string's first word names `language`.
fn is_name_of(language: Language, word: &str) -> bool {
    let names = toolchain(language).map_or(&[][..], |toolchain| toolchain.fence_words());
    let bare = word.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    names.contains(&word) || names.contains(&bare)
}

/// All fenced blocks of a reply, in order.
///
/// A block ends at the first closing fence at which `accepts` takes the text. A closing fence in the middle of a program
/// (in a string, say) is passed over that way, since what stands before it is no program, and no longer cut can be one
/// once a shorter one was. Where no cut is accepted, the block ends at its first closing fence, and fences with an
/// info string before that one are looked at as openings of their own.
pub fn blocks(lines: &[&str], language: Language, accepts: &mut dyn FnMut(&str) -> bool) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut at = 0;
    while at < lines.len() && blocks.len() < MAX_BLOCKS {
        let Some(fence) = Fence::read(lines[at]) else {
            blocks.extend(one_line(lines[at], language, accepts));
            at += 1;
            continue;
        };
        let (tag, code) = read_info(fence.info, language);
        let inner = at + 1;
        let mut take = |end: usize| accepted_text(fence.body(&lines[inner..end]), code, accepts);
        let closings = || (inner..lines.len()).filter(|line| fence.is_closed_by(lines[*line]));
        if let Some((end, text)) = closings().take(MAX_CUTS).find_map(|end| take(end).map(|text| (end, text))) {
            blocks.push(Block { tag, text, closed: true, accepted: true });
            at = end + 1;
            continue;
        }
        let first_closing = closings().next();
        let end = first_closing.unwrap_or(lines.len());
        let mut text = fence.body(&lines[inner..end]);
        let mut closed = first_closing.is_some();
        let mut accepted = false;
        if !closed {
            // The closing fence may stand behind the last line of code.
            let fence_text = fence.mark.to_string().repeat(fence.length);
            if let Some(before) = text.trim_end().strip_suffix(&fence_text) {
                text = format!("{before}\n");
                closed = true;
            }
            if let Some(taken) = accepted_text(text.clone(), code, accepts) {
                text = taken;
                accepted = true;
            }
        }
        blocks.push(Block { tag, text, closed, accepted });
        let next_opening =
            (inner..end).find(|line| Fence::read(lines[*line]).is_some_and(|other| !other.info.is_empty()));
        at = match next_opening {
            Some(line) if !accepted => line,
            _ => end + 1,
        };
    }
    blocks
}

/// The text before a bare fence that is accepted, for a reply that goes on behind an opening fence of the prompt.
pub fn continued_block(lines: &[&str], accepts: &mut dyn FnMut(&str) -> bool) -> Option<String> {
    let is_bare = |line: &str| Fence::read(line).is_some_and(|fence| fence.info.is_empty());
    let ends = (0..lines.len()).filter(|line| is_bare(lines[*line]));
    let joined = |end: usize| lines[..end].iter().flat_map(|line| [*line, "\n"]).collect::<String>();
    ends.take(MAX_CUTS).map(joined).find(|text| accepts(text))
}

/// The reply without an info string that the opening fence of the prompt left to it.
pub fn without_info_line(reply: &str, language: Language) -> &str {
    match reply.split_once('\n') {
        Some((first, rest)) if is_name_of(language, &first.trim().to_lowercase()) => rest,
        _ => reply,
    }
}

/// A whole block on one line: the opening fence, the code and the closing fence.
fn one_line(line: &str, language: Language, accepts: &mut dyn FnMut(&str) -> bool) -> Option<Block> {
    let inner = line.trim().strip_prefix("```")?.strip_suffix("```")?.trim();
    let (tag, code) = read_info(inner, language);
    let text = accepted_text(String::new(), code, accepts)?;
    Some(Block { tag, text, closed: true, accepted: true })
}

/// The body, or the code on the fence's own line with the body below, whichever is accepted.
fn accepted_text(body: String, code: &str, accepts: &mut dyn FnMut(&str) -> bool) -> Option<String> {
    if accepts(&body) {
        return Some(body);
    }
    let with_code = (!code.is_empty()).then(|| format!("{code}\n{body}"))?;
    accepts(&with_code).then_some(with_code)
}

#[cfg(test)]
mod tests {
    use super::{Block, Fence, Tag, blocks, read_info};
    use crate::domain::Language;

    fn find(reply: &str, accepts: &str) -> Vec<Block> {
        let lines: Vec<&str> = reply.lines().collect();
        blocks(&lines, Language::Python, &mut |text| text == accepts)
    }

    #[test]
    fn a_fence_is_anchored_to_its_line() {
        assert!(Fence::read("  ~~~~ py").is_some());
        for line in ["/// ```", "see ```python", "``", "```a``` b", "# ~~~"] {
            assert!(Fence::read(line).is_none(), "{line}");
        }
        let opening = Fence::read("````python").unwrap();
        assert!(opening.is_closed_by("  ````` "));
        assert!(!opening.is_closed_by("```") && !opening.is_closed_by("~~~~") && !opening.is_closed_by("````py"));
    }

    #[test]
    fn info_strings() {
        for info in ["python", "Python 3", "py", "{.python}", "python3.11", "PYTHON:"] {
            assert_eq!(read_info(info, Language::Python).0, Tag::Ours, "{info}");
        }
        for info in ["", "solution", "def f(n): return n"] {
            assert_eq!(read_info(info, Language::Python), (Tag::Plain, info));
        }
        assert_eq!(read_info("python x = 1", Language::Python), (Tag::Ours, "x = 1"));
        assert_eq!(read_info("JSON", Language::Python).0, Tag::Other);
    }

    #[test]
    fn the_accepted_cut_is_taken_and_the_search_goes_on_behind_it() {
        let found = find("```py\na\n```\nb\n```\nc\n```x\nd\n```\n", "a\n```\nb\n");
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].text.as_str(), found[0].accepted), ("a\n```\nb\n", true));
        assert_eq!((found[1].text.as_str(), found[1].accepted), ("d\n", false));
    }

    #[test]
    fn an_opening_inside_a_block_that_is_no_program_is_looked_at() {
        let found = find("```py\nhalf\n```py\nwhole\n```\n", "whole\n");
        assert_eq!(found.len(), 2);
        assert!(!found[0].accepted && found[1].accepted);
    }
}
