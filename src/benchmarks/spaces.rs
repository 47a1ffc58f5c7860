/// `text` without white space, but for that in strings.
pub(super) fn without_spaces(text: &str) -> String {
    let (mut kept, mut quote, mut escaped) = (String::new(), None, false);
    for character in text.chars() {
        match quote {
            Some(open) => {
                if character == open && !escaped {
                    quote = None;
                }
                escaped = character == '\\' && !escaped;
            }
            None if character.is_whitespace() => continue,
            None if matches!(character, '"' | '\'' | '`') => quote = Some(character),
            None => {}
        }
        kept.push(character);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::without_spaces;

    #[test]
    fn what_is_in_quotes_stays() {
        assert_eq!(without_spaces("f( \"a \\\" b\", ' ' ) ==\n  `c d`"), "f(\"a \\\" b\",' ')==`c d`");
        assert_ne!(without_spaces("f(\" \")"), without_spaces("f(\"\")"));
    }
}
