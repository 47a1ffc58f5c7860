//! Replies in JSON: what of them a role reads.

use serde_json::Value;

/// The member of a reply in JSON that a role reads.
pub const ANSWER: &str = "answer";

/// What is wanted of a schema of replies.
pub const SCHEMA_FORM: &str = "a JSON schema, as text, of an object with a string `answer`";

/// Whether `text` is the JSON schema of an object with a string `answer`.
pub fn is_answer_schema(text: &str) -> bool {
    let schema = serde_json::from_str::<Value>(text).ok();
    let type_of = |pointer: &str| schema.as_ref()?.pointer(pointer)?.as_str();
    type_of("/type") == Some("object") && type_of(&format!("/properties/{ANSWER}/type")) == Some("string")
}

/// What a role reads of a reply that was to be JSON: its member `answer`, or all of it where there is none.
pub fn answer_of(text: String) -> String {
    match serde_json::from_str::<Value>(text.trim()) {
        Ok(Value::Object(mut members)) => match members.remove(ANSWER) {
            Some(Value::String(answer)) => answer,
            _ => text,
        },
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::{answer_of, is_answer_schema};

    #[test]
    fn a_schema_must_have_an_answer() {
        let schema = r#"{"type":"object","properties":{"why":{"type":"string"},"answer":{"type":"string"}}}"#;
        assert!(is_answer_schema(schema));
        for text in [
            "",
            "{",
            "[]",
            r#"{"type":"object"}"#,
            r#"{"type":"object","properties":{"answer":{"type":"number"}}}"#,
            r#"{"properties":{"answer":{"type":"string"}}}"#,
        ] {
            assert!(!is_answer_schema(text), "{text}");
        }
    }

    #[test]
    fn the_answer_is_read_and_whatever_else_came_stays() {
        let read = |text: &str| answer_of(text.to_owned());
        assert_eq!(read(" {\"why\":\"x\",\"answer\":\"def f():\\n    pass\\n\"}\n"), "def f():\n    pass\n");
        for text in ["{\"answer\":\"cut", "{\"answer\":1}", "{}", "plain", "[\"answer\"]"] {
            assert_eq!(read(text), text);
        }
    }
}
