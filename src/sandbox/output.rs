use crate::domain::OutputRule;

/// How an output compares with the expected one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Comparison {
    /// Whether it is right.
    pub(super) right: bool,
    /// Share of lines that match at their place; lines too many lower it.
    pub(super) score: f64,
}

/// Compares by the rule of the task.
pub(super) fn compare(actual: &str, expected: &str, rule: OutputRule) -> Comparison {
    let (actual, expected) = (lines(actual, rule), lines(expected, rule));
    let same = |pair: &(&&str, &&str)| match rule {
        OutputRule::Exact => pair.0 == pair.1,
        OutputRule::Tokens => tokens(pair.0).eq(tokens(pair.1)),
    };
    let matching = actual.iter().zip(&expected).filter(same).count();
    let longest = actual.len().max(expected.len());
    let right = matching == longest;
    let score = if longest == 0 { 1.0 } else { matching as f64 / longest as f64 };
    Comparison { right, score }
}

/// The lines to compare. By tokens, final empty lines do not count (a CR is a blank); exactly, every byte does.
fn lines(text: &str, rule: OutputRule) -> Vec<&str> {
    let mut lines = text.split('\n').collect::<Vec<_>>();
    if rule == OutputRule::Tokens {
        while lines.last().is_some_and(|line| tokens(line).next().is_none()) {
            lines.pop();
        }
    }
    lines
}

/// ASCII blanks part tokens; a no-break space is text.
fn tokens(line: &str) -> impl Iterator<Item = &str> {
    line.split_ascii_whitespace()
}

#[cfg(test)]
mod tests {
    use super::compare;
    use crate::domain::OutputRule::{Exact, Tokens};

    #[test]
    fn e12_whitespace_rules() {
        for (actual, expected, by_tokens, exact) in [
            ("ab", "a b", false, false),
            ("a b", "a  b", true, false),
            ("1\r\n2\r\n", "1\n2\n", true, false),
            ("1\n2", "1\n2\n", true, false),
            ("1 \n", "1\n", true, false),
            ("1\n2\n", "1 2\n", false, false),
            ("\n1\n", "1\n", false, false),
            ("  *\n ***\n", "*\n***\n", true, false),
            ("a\u{a0}b", "a b", false, false),
            ("1\n\n\n", "1\n", true, false),
        ] {
            assert_eq!(compare(actual, expected, Tokens).right, by_tokens, "tokens: {actual:?} against {expected:?}");
            assert_eq!(compare(actual, expected, Exact).right, exact, "exact: {actual:?} against {expected:?}");
        }
    }

    #[test]
    fn the_score_is_the_share_of_lines_at_their_place() {
        let score = |actual, expected| compare(actual, expected, Tokens).score;
        assert_eq!(score("1\n2\n", "1\n2\n"), 1.0);
        assert_eq!(score("1\n3\n", "1\n2\n"), 0.5);
        assert_eq!(score("1\n2\n3\n4\n", "1\n2\n"), 0.5);
        assert_eq!(score("", "1\n"), 0.0);
        assert_eq!(score("", ""), 1.0);
    }
}
