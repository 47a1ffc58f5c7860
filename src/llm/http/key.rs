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

#[cfg(test)]
mod tests {
    use super::ApiKey;

    #[test]
    fn a_key_is_masked_wherever_it_stands() {
        assert_eq!(ApiKey::new("sk-1").mask("no sk-1, not sk-1!"), "no [key], not [key]!");
        assert_eq!(ApiKey::default().mask("text"), "text");
    }
}
