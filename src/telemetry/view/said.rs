//! What was said, where the file has it: prompts and replies, programs and what the tests said of them.

use serde_json::Value;

use super::span::ReadSpan;
use crate::telemetry::attributes as name;

/// The attributes that hold content, and what each is called where it has no roles.
const CONTENT: &[(&str, &str)] = &[
    (name::INPUT_MESSAGES, "told"),
    (name::OUTPUT_MESSAGES, "said"),
    (name::TOOL_ARGUMENTS, "program"),
    (name::TOOL_RESULT, "result"),
];

/// A piece of content: who or what, and the lines of the text.
pub struct Said {
    /// `user`, `assistant reasoning`, `program`, …
    pub label: String,
    /// The text.
    pub text: String,
}

/// Whether the span has content.
pub fn has_content(span: &ReadSpan) -> bool {
    CONTENT.iter().any(|(key, _)| span.attributes.contains_key(*key))
}

/// The content of a span, in the order in which it was said.
pub fn said(span: &ReadSpan) -> Vec<Said> {
    let mut all = Vec::new();
    for (key, word) in CONTENT {
        let Some(text) = span.text(key) else { continue };
        match serde_json::from_str::<Value>(text) {
            Ok(Value::Array(messages)) if messages.iter().all(|one| one.get("parts").is_some()) => {
                all.extend(messages.iter().flat_map(parts));
            }
            Ok(value) => all.push(Said { label: (*word).to_owned(), text: tool(&value) }),
            Err(_) => all.push(Said { label: (*word).to_owned(), text: text.to_owned() }),
        }
    }
    all
}

fn parts(message: &Value) -> Vec<Said> {
    let role = message.get("role").and_then(Value::as_str).unwrap_or("?");
    let part = |part: &Value| {
        let kind = part.get("type").and_then(Value::as_str).unwrap_or("text");
        let label = if kind == "text" { role.to_owned() } else { format!("{role} {kind}") };
        let text = part.get("content").and_then(Value::as_str).map_or_else(|| part.to_string(), str::to_owned);
        Said { label, text }
    };
    message.get("parts").and_then(Value::as_array).into_iter().flatten().map(part).collect()
}

/// A program is shown as it stands; anything else, a judgement for example, as indented JSON.
fn tool(value: &Value) -> String {
    match value.get("program").and_then(Value::as_str) {
        Some(program) => program.to_owned(),
        None => serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string()),
    }
}
