/// Which of two programs a judge finds better, by the letters under which it was shown them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Better {
    /// The first.
    A,
    /// The second.
    B,
    /// They are equally good.
    Neither,
}

/// Reads a judge's answer: its last line that is not blank must be exactly `BETTER: A`, `BETTER: B` or `BETTER: NEITHER`, but
/// for blank space around it. Anything else is unclear, `None`: no word is ever looked for inside other words.
pub(super) fn read(text: &str) -> Option<Better> {
    match text.trim_end().lines().next_back()?.trim() {
        "BETTER: A" => Some(Better::A),
        "BETTER: B" => Some(Better::B),
        "BETTER: NEITHER" => Some(Better::Neither),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Better, read};

    #[test]
    fn the_last_line_decides_and_nothing_else() {
        for (text, better) in [
            ("BETTER: A", Better::A),
            ("B looks right, but overflows.\r\n  BETTER: B \r\n\n", Better::B),
            ("BETTER: A\nNo, wait.\nBETTER: NEITHER", Better::Neither),
        ] {
            assert_eq!(read(text), Some(better), "{text:?}");
        }
        for text in [
            "",
            "\n",
            "A",
            "BETTER: A or B",
            "BETTER: C",
            "BETTER: a",
            "better: A",
            "BETTER:A",
            "**BETTER: A**",
            "Not BETTER: A",
            "BETTER: A.",
            "BETTER: A\nor so I think",
            "I disapprove",
            "APPROVED",
        ] {
            assert_eq!(read(text), None, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics_and_prose_before_the_last_line_changes_nothing(prose in "\\PC{0,60}(\n\\PC{0,60}){0,3}") {
            read(&prose);
            prop_assert_eq!(read(&format!("{prose}\nBETTER: B")), Some(Better::B));
            prop_assert_eq!(read(&format!("BETTER: B\n{prose}.")), None);
        }
    }
}
