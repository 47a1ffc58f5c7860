/// Tags that models put around their thinking when the server does not keep it apart.
const TAGS: [(&str, &str); 2] = [("<think>", "</think>"), ("<thinking>", "</thinking>")];

/// Parts a reply into the reasoning that it begins with and the answer.
///
/// - A reply that begins with an opening tag (after blank space) is reasoning up to the first closing tag; one that is
///   never closed is reasoning to its end, and the answer is empty.
/// - A closing tag that ends a line, with no opening tag at the beginning (some servers leave the opening tag in the
///   prompt), ends the reasoning too.
/// - A tag anywhere else is text: programs may well hold such a string.
///
/// The answer is a part of `reply`, byte for byte.
pub fn split_reasoning(reply: &str) -> (Option<&str>, &str) {
    let start = reply.trim_start();
    for (open, close) in TAGS {
        if let Some(rest) = start.strip_prefix(open) {
            return match rest.split_once(close) {
                Some((reasoning, answer)) => (Some(reasoning.trim()), answer),
                None => (Some(rest.trim()), ""),
            };
        }
    }
    for (open, close) in TAGS {
        let closing_line = |(at, _): &(usize, &str)| {
            let (before, after) = (&reply[..*at], &reply[at + close.len()..]);
            !before.contains(open) && after.lines().next().is_none_or(|rest| rest.trim().is_empty())
        };
        if let Some((at, _)) = reply.match_indices(close).next().filter(closing_line) {
            return (Some(reply[..at].trim()), &reply[at + close.len()..]);
        }
    }
    (None, reply)
}

#[cfg(test)]
mod tests {
    use super::split_reasoning;

    #[test]
    fn reasoning_is_what_the_reply_begins_with() {
        for (reply, reasoning, answer) in [
            ("plain", None, "plain"),
            ("<think>a\nb</think>\n\n  code", Some("a\nb"), "\n\n  code"),
            ("\n<thinking>a</thinking>code", Some("a"), "code"),
            ("<think>never closed", Some("never closed"), ""),
            ("the prompt opened it\n</think>\ncode", Some("the prompt opened it"), "\ncode"),
            ("ends with a lone tag</think>", Some("ends with a lone tag"), ""),
            ("x = \"</think>\"\n", None, "x = \"</think>\"\n"),
            ("x = \"<think></think>\"\n", None, "x = \"<think></think>\"\n"),
        ] {
            assert_eq!(split_reasoning(reply), (reasoning, answer), "{reply:?}");
        }
    }
}
