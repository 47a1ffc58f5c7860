/// Longest text of a value or message in a result, in characters.
const MOST: usize = 2_000;

/// A value or message as it may reach a prompt: no addresses, and not too long.
pub(super) fn plain(text: &str) -> String {
    let mut plain = without_addresses(text);
    if let Some((end, _)) = plain.char_indices().nth(MOST) {
        plain.truncate(end);
        plain.push_str("...");
    }
    plain
}

/// A text without memory addresses, which change from run to run.
pub(super) fn without_addresses(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("0x") {
        let digits = rest[at + 2..].bytes().take_while(u8::is_ascii_hexdigit).count();
        // Shorter numbers are a program's own.
        if digits >= 9 {
            plain.push_str(rest[..at].strip_suffix(" at ").unwrap_or(&rest[..at]));
        } else {
            plain.push_str(&rest[..at + 2 + digits]);
        }
        rest = &rest[at + 2 + digits..];
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn addresses_vanish_and_a_programs_own_numbers_stay() {
        assert_eq!(plain("<Node object at 0x7f3a2b4c5d60> != 0xff"), "<Node object> != 0xff");
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        assert_eq!(plain(&"ä".repeat(3_000)).chars().count(), 2_003);
    }
}
