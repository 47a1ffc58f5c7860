//! Models. Roles know [`ChatModel`] only; a request carries, beside its messages, what it is for and the typed
//! objects that it was rendered from, so that an offline model need not parse a prompt.

mod answer_member;
mod capabilities;
mod chat;
mod error;
pub mod http;
mod model;
pub mod openai;
mod parameters;
mod reasoning;
pub mod replay;
mod roles;
pub mod scripted;
pub mod templates;
mod terms;

pub use answer_member::{SCHEMA_FORM, answer_of, is_answer_schema};
pub use capabilities::{Capabilities, capabilities, names_file};
pub use chat::{
    Ancestor, Attempt, ChatMessage, ChatReply, ChatRequest, ChatRole, Choice, Draw, Logprobs, PastPrograms, Purpose,
    Rival, Sibling, Subject, estimated_tokens,
};
pub use error::ModelError;
pub use model::{ChatModel, ModelInfo};
pub use parameters::{Parameters, STOP_FORM, STOP_REASON, SeedRule, Temperature, may_cut_a_word};
pub use reasoning::split_reasoning;
pub use roles::merged;
pub use terms::Terms;
