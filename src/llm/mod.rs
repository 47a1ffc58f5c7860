//! Models. Roles know [`ChatModel`] only; a request carries, beside its messages, what it is for and the typed
//! objects that it was rendered from, so that an offline model need not parse a prompt.

mod capabilities;
mod chat;
mod error;
pub mod http;
mod model;
pub mod openai;
mod reasoning;
pub mod scripted;
pub mod templates;

pub use capabilities::{Capabilities, capabilities, names_file};
pub use chat::{
    Ancestor, Attempt, ChatMessage, ChatReply, ChatRequest, ChatRole, Choice, Draw, Parameters, PastPrograms, Purpose,
    Rival, STOP_FORM, STOP_REASON, Sibling, Subject, estimated_tokens, may_cut_a_word,
};
pub use error::ModelError;
pub use model::{ChatModel, ModelInfo};
pub use reasoning::split_reasoning;
