/// Least likeness (Jaro-Winkler) at which a name is taken for a misspelling of another.
const LIKENESS: f64 = 0.8;

/// Words that name what would be right instead of `wrong`: the name that is alike, and all that are known.
pub(super) fn suggestion<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let alike = known.iter().map(|name| (strsim::jaro_winkler(wrong, name), *name));
    let best = alike.filter(|(likeness, _)| *likeness >= LIKENESS).max_by(|a, b| a.0.total_cmp(&b.0));
    let list = format!("known here: {}", known.join(", "));
    best.map_or(list.clone(), |(_, name)| format!("did you mean `{name}`? {list}"))
}
