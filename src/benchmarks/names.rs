/// Least likeness (Jaro-Winkler) at which a name is taken for a misspelling of another.
const LIKENESS: f64 = 0.8;

/// Longest foreign text that a message shows, in characters.
const SHOWN_CHARACTERS: usize = 80;

/// `text` from a file as a message can show it: on one line, without control characters, not too long.
pub(super) fn shown(text: &str) -> String {
    let end = text.char_indices().nth(SHOWN_CHARACTERS).map_or(text.len(), |(end, _)| end);
    let rest = if end < text.len() { "…" } else { "" };
    format!("{}{rest}", text[..end].escape_debug())
}

/// Words that name what would be right instead of `wrong`: the name that is alike, and all that are known.
pub(super) fn suggestion<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let wrong = shown(wrong);
    let alike = known.iter().map(|name| (strsim::jaro_winkler(&wrong, name), *name));
    let best = alike.filter(|(likeness, _)| *likeness >= LIKENESS).max_by(|a, b| a.0.total_cmp(&b.0));
    let list = format!("known here: {}", known.join(", "));
    best.map_or(list.clone(), |(_, name)| format!("did you mean `{name}`? {list}"))
}
