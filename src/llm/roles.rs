use super::{ChatMessage, ChatRole};

/// The messages without a system role and without neighbours of one role: what the system says goes before the next message of
/// the user, a blank line between them. Messages that are so already stay as they are.
pub fn merged(messages: &[ChatMessage]) -> Vec<ChatMessage> {
    let mut merged: Vec<ChatMessage> = Vec::new();
    for message in messages {
        let role = if message.role == ChatRole::System { ChatRole::User } else { message.role };
        match merged.last_mut().filter(|last| last.role == role) {
            Some(last) => last.content = format!("{}\n\n{}", last.content.trim_end_matches('\n'), message.content),
            None => merged.push(ChatMessage { role, content: message.content.clone() }),
        }
    }
    merged
}
