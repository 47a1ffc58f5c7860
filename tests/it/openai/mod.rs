//! The client of OpenAI-compatible servers, against a server that answers as badly as servers do.

mod completions;
mod connecting;
mod faults;
mod matrix;
mod model_files;
mod pacing;
mod probing;
mod replicas;
mod replies;
pub(crate) mod server;
mod streams;

use std::sync::Arc;

use rolecall::llm::{
    ChatMessage, ChatModel, ChatReply, ChatRequest, ChatRole, Draw, ModelError, Parameters, Purpose, Subject,
    openai::{ApiKey, OpenAi, OpenAiSettings},
};
use server::Server;

const KEY: &str = "sk-SENTINEL-0123456789";

/// A reply that nothing is wrong with.
const GOOD: &str = r#"{"id":"a","object":"chat.completion","created":1,"model":"m-2026","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":5,"total_tokens":8}}"#;

/// Settings that fail fast.
fn settings(server: &Server) -> OpenAiSettings {
    OpenAiSettings {
        api_key: ApiKey::new(KEY),
        model: Some("m".to_owned()),
        timeout_secs: 5.0,
        total_secs: 20.0,
        max_retries: 2,
        backoff_secs: 0.01,
        ..OpenAiSettings::new("openai:m", &server.base_url)
    }
}

pub(crate) fn request() -> ChatRequest {
    let message = |role, content: &str| ChatMessage { role, content: content.to_owned() };
    ChatRequest {
        purpose: Purpose::Repair,
        messages: vec![message(ChatRole::System, "You repair."), message(ChatRole::User, "This.")],
        parameters: Parameters::default(),
        choices: 1,
        seed: u64::MAX,
        draw: Draw { sample: 0, first: 0, ordinal: 0 },
        subject: Subject::of(Arc::new(crate::prompts::function_task("f", "def f(n):", None)), None),
        traceparent: None,
    }
}

/// One call with these settings.
async fn call(settings: OpenAiSettings) -> Result<ChatReply, ModelError> {
    let (model, _) = OpenAi::connect(settings).await?;
    model.chat(&request()).await
}
