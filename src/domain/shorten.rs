/// `text` in at most `max_chars` characters: the whole of it, or its head and tail with a mark between them that says
/// how many characters were left out (the head alone where not even the mark has room).
///
/// Cuts between characters, never inside one. Every preview of a text goes through here.
pub fn shorten(text: &str, max_chars: usize) -> String {
    let total = text.chars().count();
    if total <= max_chars {
        return text.to_owned();
    }
    let mark = |left_out: usize| format!(" [… {left_out} characters left out …] ");
    // The mark is at its longest where everything is left out.
    let room = max_chars.saturating_sub(mark(total).chars().count());
    if room == 0 {
        return text.chars().take(max_chars).collect();
    }
    let tail = room / 3;
    let head = room - tail;
    let kept_head: String = text.chars().take(head).collect();
    let kept_tail: String = text.chars().skip(total - tail).collect();
    format!("{kept_head}{}{kept_tail}", mark(total - room))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::shorten;

    #[test]
    fn a38_a_wide_character_at_the_limit_is_not_cut() {
        let text = format!("{}数", "a".repeat(199));
        assert_eq!(shorten(&text, 200), text);
        let longer = format!("{text}数");
        let short = shorten(&longer, 200);
        assert!(
            short.chars().count() <= 200 && short.ends_with('数') && short.contains("characters left out"),
            "{short}"
        );
    }

    proptest! {
        #[test]
        fn a38_no_text_and_no_limit_panics(text in any::<String>(), max_chars in 0_usize..300) {
            let short = shorten(&text.repeat(8), max_chars);
            prop_assert!(short.chars().count() <= max_chars);
        }
    }
}
