use crate::domain::{OutputRule, Tolerance};

/// How an output compares with the expected one.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Comparison {
    /// Whether it is right.
    pub(super) right: bool,
    /// Share of lines that match at their place; lines too many lower it. 0 or 1 where a checker says.
    pub(super) score: f64,
    /// What a checker says of a wrong one.
    pub(super) message: Option<String>,
}

impl Comparison {
    /// All or nothing.
    pub(super) fn whole(right: bool, message: Option<String>) -> Self {
        Self { right, score: f64::from(u8::from(right)), message: message.filter(|_| !right) }
    }
}

/// What came of comparing.
pub(super) enum Compared<'r> {
    /// The rule decides.
    Here(Comparison),
    /// This checker must say.
    By(&'r str),
}

/// Compares by the rule of the task.
pub(super) fn compare<'r>(actual: &str, expected: &str, rule: &'r OutputRule) -> Compared<'r> {
    let same: &dyn Fn(&str, &str) -> bool = match rule {
        OutputRule::Exact => &|actual, expected| actual == expected,
        OutputRule::Tokens => &|actual, expected| tokens(actual).eq(tokens(expected)),
        OutputRule::Tolerance(tolerance) => &|actual, expected| near(actual, expected, *tolerance),
        OutputRule::Checker(checker) => return Compared::By(checker),
    };
    let (actual, expected) = (lines(actual, rule), lines(expected, rule));
    let matching = actual.iter().zip(&expected).filter(|(actual, expected)| same(actual, expected)).count();
    let longest = actual.len().max(expected.len());
    let score = if longest == 0 { 1.0 } else { matching as f64 / longest as f64 };
    Compared::Here(Comparison { right: matching == longest, score, message: None })
}

/// The lines to compare. By tokens, final empty lines do not count (a CR is a blank); exactly, every byte does.
fn lines<'t>(text: &'t str, rule: &OutputRule) -> Vec<&'t str> {
    let mut lines = text.split('\n').collect::<Vec<_>>();
    if *rule != OutputRule::Exact {
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

/// Whether two lines have the same tokens, numbers that are near each other being the same.
fn near(actual: &str, expected: &str, tolerance: Tolerance) -> bool {
    let (mut actual, mut expected) = (tokens(actual), tokens(expected));
    loop {
        match (actual.next(), expected.next()) {
            (None, None) => return true,
            (Some(one), Some(other)) if one == other => {}
            (Some(one), Some(other)) => {
                let near = match (Number::of(one), Number::of(other)) {
                    (Some(Number::Finite(one)), Some(Number::Finite(other))) => tolerance.covers(one, other),
                    (Some(Number::Infinite { negative }), Some(Number::Infinite { negative: other })) => {
                        negative == other
                    }
                    (Some(Number::Nan), Some(Number::Nan)) => true,
                    _ => false,
                };
                if !near {
                    return false;
                }
            }
            _ => return false,
        }
    }
}

/// What a token says as a number: decimal digits with or without sign, point and exponent, `inf`, `infinity` or `nan` in
/// any case. What a double cannot hold is none.
enum Number {
    Finite(f64),
    Infinite { negative: bool },
    Nan,
}

impl Number {
    fn of(token: &str) -> Option<Self> {
        let negative = token.starts_with('-');
        let bare = token.strip_prefix(['-', '+']).unwrap_or(token);
        if bare.eq_ignore_ascii_case("nan") {
            return Some(Self::Nan);
        }
        if bare.eq_ignore_ascii_case("inf") || bare.eq_ignore_ascii_case("infinity") {
            return Some(Self::Infinite { negative });
        }
        token.parse().ok().filter(|number: &f64| number.is_finite()).map(Self::Finite)
    }
}

#[cfg(test)]
mod tests {
    use super::{Compared, Comparison};
    use crate::domain::OutputRule::{self, Exact, Tokens};
    use crate::domain::Tolerance;

    fn compare(actual: &str, expected: &str, rule: &OutputRule) -> Comparison {
        match super::compare(actual, expected, rule) {
            Compared::Here(comparison) => comparison,
            Compared::By(_) => panic!("no checker was given"),
        }
    }

    fn right(actual: &str, expected: &str, rule: &OutputRule) -> bool {
        compare(actual, expected, rule).right
    }

    #[test]
    fn e11_not_a_number_is_near_nothing_but_itself() {
        let rule = OutputRule::Tolerance(Tolerance::new(1e-6).unwrap());
        for (actual, expected, near) in [
            ("3.5", "3.5", true),
            ("3.5000001", "3.5", true),
            ("3.500002", "3.5", true),
            ("3.50001", "3.5", false),
            ("1000000.5", "1000000", true),
            ("1000002", "1000000", false),
            ("0.0000009", "0", true),
            ("0.000002", "0", false),
            ("-0", "0", true),
            ("3", "3.0", true),
            ("+3.", "3e0", true),
            (".5", "0.5", true),
            ("nan", "3.5", false),
            ("NaN", "nan", true),
            ("-nan", "nan", true),
            ("3.5", "nan", false),
            ("nan", "inf", false),
            ("inf", "3.5", false),
            ("-inf", "3.5", false),
            ("inf", "1e308", false),
            ("Infinity", "inf", true),
            ("+inf", "inf", true),
            ("-inf", "inf", false),
            ("inf", "-inf", false),
            ("1e999", "3.5", false),
            ("3.5", "1e999", false),
            ("1e999", "inf", false),
            ("inf", "1e999", false),
            ("1e999", "1e999", true),
            ("-1.7e308", "1.7e308", false),
            ("0x10", "16", false),
            ("1_0", "10", false),
            ("3,5", "3.5", false),
            ("\u{663}", "3", false),
            ("", "3.5", false),
            ("3.5 3.5", "3.5", false),
            ("3.5\n3.5", "3.5 3.5", false),
            ("x 3.5000001\r\n\n", "x 3.5\n", true),
            ("y 3.5", "x 3.5", false),
            ("infinite", "inf", false),
        ] {
            assert_eq!(right(actual, expected, &rule), near, "{actual:?} against {expected:?}");
        }
        let none = OutputRule::Tolerance(Tolerance::new(0.0).unwrap());
        assert!(right("1.0", "1", &none) && !right("1.0000001", "1", &none));
        assert_eq!(compare("1\nnan\n", "1\n2\n", &rule).score, 0.5);
    }

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
            ("1\n2\n", "1\n2\n", true, true),
            ("1\n\n\n", "1\n", true, false),
            ("1\n\n2\n", "1\n2\n", false, false),
            // A no-break space is text, not a blank.
            ("a\u{a0}b", "a b", false, false),
            ("a\u{a0}", "a", false, false),
            ("\u{a0}\n", "", false, false),
            // A lone CR is a blank and ends no line.
            ("1\r2", "1 2", true, false),
            ("1\r2", "1\n2", false, false),
            ("1\r", "1", true, false),
            ("\r\n", "", true, false),
            ("1\t2\u{c}3", "1 2 3", true, false),
        ] {
            assert_eq!(right(actual, expected, &Tokens), by_tokens, "tokens: {actual:?} against {expected:?}");
            assert_eq!(right(actual, expected, &Exact), exact, "exact: {actual:?} against {expected:?}");
        }
    }

    #[test]
    fn the_score_is_the_share_of_lines_at_their_place() {
        let score = |actual, expected| compare(actual, expected, &Tokens).score;
        assert_eq!(score("1\n2\n", "1\n2\n"), 1.0);
        assert_eq!(score("1\n3\n", "1\n2\n"), 0.5);
        assert_eq!(score("1\n2\n3\n4\n", "1\n2\n"), 0.5);
        assert_eq!(score("", "1\n"), 0.0);
        assert_eq!(score("", ""), 1.0);
    }
}
