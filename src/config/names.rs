//! How names are shown in messages: quoted, listed, and with the nearest known one.

/// Longer names are cut in messages.
const MAX_SHOWN_CHARS: usize = 100;

/// A name or value as messages show it: in backticks, on one line, cut where it is very long.
pub fn quoted(name: &str) -> String {
    let mut shown: String = name.chars().take(MAX_SHOWN_CHARS).flat_map(char::escape_debug).collect();
    if name.chars().nth(MAX_SHOWN_CHARS).is_some() {
        shown.push('…');
    }
    format!("`{}`", shown.replace("\\'", "'").replace("\\\"", "\""))
}

/// `a, b, c`; `none` where there are none.
pub fn listed<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| name.as_ref().to_owned()).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// `; did you mean …?` with the nearest of `known`, or nothing where none is near.
pub fn did_you_mean<S: AsRef<str>>(name: &str, known: impl IntoIterator<Item = S>) -> String {
    // A very long name is near to nothing.
    if name.chars().nth(MAX_SHOWN_CHARS).is_some() {
        return String::new();
    }
    let mut best: Option<(f64, String)> = None;
    for other in known {
        let nearness = nearness(name, other.as_ref());
        if nearness >= NEAR && best.as_ref().is_none_or(|(most, _)| nearness > *most) {
            best = Some((nearness, other.as_ref().to_owned()));
        }
    }
    best.map_or_else(String::new, |(_, other)| format!("; did you mean {}?", quoted(&other)))
}

/// Jaro-Winkler similarity from which a name is worth proposing.
const NEAR: f64 = 0.75;
/// Similarity of two words from which they are the same but for a slip.
const SAME_WORD: f64 = 0.9;
/// Shorter words (`of`, `max`) say nothing of a name.
const MIN_WORD_CHARS: usize = 4;

/// Similarity of whole names; a shared word makes them just near: `max_cals` is meant to find `model_calls`.
fn nearness(name: &str, other: &str) -> f64 {
    let plain = |name: &str| name.to_lowercase().replace('-', "_");
    let (name, other) = (plain(name), plain(other));
    let shares_word = name
        .split('_')
        .filter(|word| word.chars().count() >= MIN_WORD_CHARS)
        .any(|word| other.split('_').any(|other_word| strsim::jaro_winkler(word, other_word) >= SAME_WORD));
    strsim::jaro_winkler(&name, &other).max(if shares_word { NEAR } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use super::{did_you_mean, quoted};

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        let known = ["programs", "model_calls", "tokens"];
        assert_eq!(did_you_mean("max_cals", known), "; did you mean `model_calls`?");
        assert_eq!(did_you_mean("model-cals", known), "; did you mean `model_calls`?");
        assert_eq!(did_you_mean("token", known), "; did you mean `tokens`?");
        assert_eq!(did_you_mean("seed", known), "");
    }

    #[test]
    fn names_cannot_write_to_the_terminal() {
        assert_eq!(quoted("a\u{1b}[2J\n'"), "`a\\u{1b}[2J\\n'`");
        assert!(quoted(&"x".repeat(500)).chars().count() < 110);
    }
}
