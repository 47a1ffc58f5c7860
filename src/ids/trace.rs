use opentelemetry::trace::{SpanId, TraceId};

use super::{ConversationId, Seq};

/// The trace of a conversation: its own 16 bytes.
pub fn trace_id(conversation: ConversationId) -> TraceId {
    TraceId::from_bytes(*conversation.0.as_bytes())
}

/// The id of a span: 8 bytes of a BLAKE3 hash of what it stands for, never zero. The same conversation, resumed or
/// replayed, has the same spans.
pub fn span_id(conversation: ConversationId, what: &str, seq: Seq, attempt: u8, index: u32) -> SpanId {
    let mut hasher = blake3::Hasher::new();
    hasher.update(conversation.0.as_bytes());
    hasher.update(what.as_bytes());
    hasher.update(&seq.to_le_bytes());
    hasher.update(&[attempt]);
    hasher.update(&index.to_le_bytes());
    let hash = hasher.finalize();
    let mut bytes = [0u8; 8];
    bytes.copy_from_slice(&hash.as_bytes()[..8]);
    bytes[7] |= u8::from(bytes == [0; 8]);
    SpanId::from_bytes(bytes)
}

/// W3C trace context of a model call: its future `chat` span as the parent of what the server traces.
/// The call is named by its turn, attempt and number within the attempt.
pub fn traceparent(conversation: ConversationId, (seq, attempt, ordinal): (Seq, u8, u32)) -> String {
    format!("00-{}-{}-01", trace_id(conversation), span_id(conversation, "chat", seq, attempt, ordinal))
}
