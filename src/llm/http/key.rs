use std::fmt;

/// The key of a provider. It is shown nowhere: not by `Debug`, not in errors, not in records.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    /// Keeps `key`; an empty one means that requests carry none.
    pub fn new(key: impl Into<String>) -> Self {
        Self(key.into())
    }

    /// The key itself, for the request's header alone.
    pub(in crate::llm) fn reveal(&self) -> &str {
        &self.0
    }

    /// `text` with every copy of the key masked: servers quote it in error messages.
    pub(in crate::llm) fn mask(&self, text: &str) -> String {
        if self.0.is_empty() { text.to_owned() } else { text.replace(&self.0, "[key]") }
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey([key])")
    }
}

/// What a file says instead of a key.
pub const VARIABLE_FORM: &str = "the name of a variable of the environment (A-Z, 0-9 and _)";

/// Whether `text` can be the name of a variable that holds a key, and so be shown: what somebody pasted in its place, the key
/// itself, has other letters.
pub fn is_key_variable(text: &str) -> bool {
    let of_name = |letter: char| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_';
    text.chars().all(of_name) && text.chars().next().is_some_and(|first| !first.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::{ApiKey, is_key_variable};

    #[test]
    fn keys_are_no_names_of_variables() {
        assert!(["K", "MY_KEY_2", "_K"].into_iter().all(is_key_variable));
        assert!(!["", "2K", "sk-1", "hf_abc", "gsk_1", "A B", "K=1"].into_iter().any(is_key_variable));
    }

    #[test]
    fn a_key_is_masked_wherever_it_stands() {
        assert_eq!(ApiKey::new("sk-1").mask("no sk-1, not sk-1!"), "no [key], not [key]!");
        assert_eq!(ApiKey::default().mask("text"), "text");
    }
}
