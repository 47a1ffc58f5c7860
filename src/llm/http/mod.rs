//! How servers are asked over HTTP, whatever they answer: time limits, retries, the size limit, the repair of texts that
//! are nearly JSON, and the reading of error bodies of any shape with their status kept.
//!
//! The client of OpenAI-compatible servers sits on top of it, and so does [`JsonServer`], which posts one JSON object and
//! takes one back.

mod body;
mod endpoints;
mod events;
mod failure;
mod json;
mod json_server;
mod key;
mod pace;
mod retry;
mod transport;
mod url;
mod window;

pub(super) use body::Silence;
pub(super) use endpoints::{Endpoint, Endpoints};
pub(super) use events::EventReader;
pub(super) use events::{Assembly, Event};
pub(super) use failure::{Class, Failure};
pub(super) use json::lenient_json;
pub use json_server::{JsonServer, JsonServerSettings, Posted};
pub use key::{ApiKey, VARIABLE_FORM, is_key_variable};
pub(super) use pace::Pace;
pub use pace::PaceLimits;
pub(super) use transport::{Call, Cost, Policy};
pub use url::{check_url, is_loopback};
