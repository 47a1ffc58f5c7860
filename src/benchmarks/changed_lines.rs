use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::{mistake::to_u32, spaces::without_spaces};
use crate::domain::Language;

/// Lines of `buggy`, from 1, that a line diff finds changed in `fixed`; where `fixed` has lines more, the line that these
/// stand before. Empty lines, comments of whole lines and the way of writing are no change.
pub(super) fn changed_lines(language: Language, buggy: &str, fixed: &str) -> Vec<u32> {
    let (buggy, fixed) = (code_lines(language, buggy), code_lines(language, fixed));
    let texts = |lines: &[(usize, String)]| lines.iter().map(|(_, text)| text.clone()).collect::<Vec<_>>();
    let mut changed = Vec::new();
    for step in capture_diff_slices(Algorithm::Patience, &texts(&buggy), &texts(&fixed)) {
        let (from, length) = match step {
            DiffOp::Equal { .. } => continue,
            DiffOp::Insert { old_index, .. } => (old_index, 1),
            DiffOp::Delete { old_index, old_len, .. } | DiffOp::Replace { old_index, old_len, .. } => {
                (old_index, old_len)
            }
        };
        changed.extend(buggy.iter().skip(from).take(length).map(|(number, _)| to_u32(*number)));
    }
    changed.dedup();
    changed
}

/// The lines of code with their numbers, as they are compared: where indentation means nothing, without spaces outside of strings.
fn code_lines(language: Language, text: &str) -> Vec<(usize, String)> {
    let mut inside = false;
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let trimmed = line.trim();
        let comment = match language {
            Language::Python => trimmed.starts_with('#'),
            _ => {
                let opens = inside || trimmed.starts_with("/*");
                inside = opens && !trimmed.ends_with("*/");
                opens || trimmed.starts_with("//")
            }
        };
        if comment || trimmed.is_empty() {
            continue;
        }
        let compared = match language {
            Language::Python => line.trim_end().to_owned(),
            _ => without_spaces(trimmed),
        };
        lines.push((index + 1, compared));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::changed_lines;
    use crate::domain::Language;

    #[test]
    fn changed_removed_and_missing_lines_are_found() {
        let lines = |buggy: &str, fixed: &str| changed_lines(Language::Python, buggy, fixed);
        assert_eq!(lines("a\nb\nc\n", "a\nB\nc\n"), [2]);
        assert_eq!(lines("a\nb\nc\nd\n", "a\nd\n"), [2, 3]);
        assert_eq!(lines("a\n\nc\n", "a\nb\nc\n"), [3]);
        assert_eq!(lines("if a:\n    b\nc\n", "if a:\n    b\n    c\n"), [3]);
        assert_eq!(lines("a\nb\n", "a\n# more\n\nb  \n"), Vec::<u32>::new());
    }

    #[test]
    fn comments_and_spaces_are_no_change_where_they_mean_nothing() {
        let buggy = "/*\n * one\n */\nint f(int n) {\n  // two\n  *p = 1;\n  return n ;\n}\n";
        let fixed = "int f(int n)  {\n    *p = 2;\n    return n;\n}\n";
        assert_eq!(changed_lines(Language::Cpp, buggy, fixed), [6]);
    }
}
