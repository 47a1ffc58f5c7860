//! Any OpenAI-compatible server, through `async-openai` with lenient types and our own transport policy.
//!
//! `async-openai` builds and addresses the requests. Everything between request and reply is ours and sits below it as
//! its HTTP service: time limits, retries, the size limit, the repair of texts that are nearly JSON, and the reading of
//! error bodies of any shape with their status kept. Its own retries never run.

mod client;
mod failure;
mod json;
mod reply;
mod request;
mod retry;
mod settings;
mod transport;

pub use client::OpenAi;
pub use settings::{ApiKey, OpenAiSettings, check_base_url};
