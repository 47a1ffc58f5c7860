use serde_json::Value;

/// The JSON value that a server's bytes are, or are nearly.
///
/// Repaired are a byte-order mark, invalid UTF-8 and lone halves of surrogate pairs (each becomes U+FFFD), and the words
/// `NaN` and `Infinity` (they become `null`). `None` where the rest is not JSON: an HTML page, a text that was cut.
pub fn lenient_json(bytes: &[u8]) -> Option<Value> {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_start_matches('\u{feff}');
    serde_json::from_str(text).or_else(|_| serde_json::from_str(&repair(text))).ok()
}

/// Walks through JSON text and mends what serde_json takes offence at.
fn repair(text: &str) -> String {
    let mut mended = String::with_capacity(text.len());
    let mut rest = text;
    let mut in_string = false;
    while let Some(next) = rest.chars().next() {
        let mut taken = next.len_utf8();
        if in_string && next == '\\' {
            match code_unit(rest) {
                Some(0xD800..=0xDBFF) if matches!(rest.get(6..).and_then(code_unit), Some(0xDC00..=0xDFFF)) => {
                    taken = 12
                }
                Some(0xD800..=0xDFFF) => {
                    mended.push_str("\\ufffd");
                    rest = &rest[6..];
                    continue;
                }
                _ => taken = next.len_utf8() + rest[1..].chars().next().map_or(0, char::len_utf8),
            }
        } else if next == '"' {
            in_string = !in_string;
        } else if !in_string {
            let word = ["-Infinity", "Infinity", "NaN"].into_iter().find(|word| rest.starts_with(word));
            if let Some(word) = word {
                mended.push_str("null");
                rest = &rest[word.len()..];
                continue;
            }
        }
        mended.push_str(&rest[..taken]);
        rest = &rest[taken..];
    }
    mended
}

/// The UTF-16 code unit of a `\uXXXX` escape that the text begins with.
fn code_unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    let all_hexadecimal = digits.chars().all(|digit| digit.is_ascii_hexdigit());
    all_hexadecimal.then(|| u16::from_str_radix(digits, 16).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::lenient_json;

    #[test]
    fn a38_half_surrogates_and_broken_utf8_become_the_replacement_character() {
        for (bytes, value) in [
            (&br#"{"a":"\ud83d"}"#[..], json!({"a": "\u{fffd}"})),
            (br#"{"a":"\ude00 \ud83d\ud83d\ude00\\ud83d"}"#, json!({"a": "\u{fffd} \u{fffd}\u{1f600}\\ud83d"})),
            (b"{\"a\":\"\xff\"}", json!({"a": "\u{fffd}"})),
            ("\u{feff}[1]".as_bytes(), json!([1])),
            (br#"[NaN, -Infinity, "NaN \"NaN"]"#, json!([null, null, "NaN \"NaN"])),
            (br#"{"a":1,"a":2}"#, json!({"a": 2})),
        ] {
            assert_eq!(lenient_json(bytes), Some(value));
        }
        for bytes in [&b""[..], b"<html>", br#"{"a":"cut"#, br#"{"a":"\ud83d"#, br#"{"a":"\ud8"}"#] {
            assert_eq!(lenient_json(bytes), None);
        }
        assert_eq!(lenient_json("[".repeat(100_000).as_bytes()), None);
    }

    proptest! {
        #[test]
        fn a38_no_bytes_panic(bytes in any::<Vec<u8>>(), text in "[\"\\\\u0-9dDnN{}:,é数]{0,40}") {
            lenient_json(&bytes);
            lenient_json(text.as_bytes());
        }
    }
}
