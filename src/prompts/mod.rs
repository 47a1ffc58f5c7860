//! TEMPORARY stand-in until the prompts branch is merged.
use crate::llm::ChatMessage;
/// x
#[derive(Clone, Debug, Default)]
pub struct PromptData {}
/// x
pub struct Prompt {}
/// x
#[derive(Debug, thiserror::Error)]
#[error("x")]
pub struct PromptError {}
impl Prompt {
    /// x
    pub fn render(&self, _d: &PromptData) -> Result<Vec<ChatMessage>, PromptError> {
        Ok(vec![])
    }
}

/// x
pub fn extract_program(reply: &str, _task: &crate::domain::Task) -> Option<String> {
    Some(reply.to_owned())
}
