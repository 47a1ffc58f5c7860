//! Any OpenAI-compatible server, through `async-openai` with lenient types and our own transport policy.
//!
//! `async-openai` builds and addresses the requests. Everything between request and reply is ours ([`crate::llm::http`])
//! and sits below it as its HTTP service. Its own retries never run.

mod assembly;
mod client;
mod dialect;
mod facts;
mod probe;
mod prompt_text;
mod reply;
mod request;
mod role_rules;
mod settings;

pub use super::http::ApiKey;
pub use client::OpenAi;
pub use facts::ServerFacts;
pub use probe::{Does, Probe, probe};
pub use prompt_text::PromptTemplate;
pub use request::set_by;
pub use settings::{Api, OpenAiSettings, SystemRole, check_base_url};
