//! Servers whose chat template refuses the system role, or two messages of one role in a row.

use crate::llm::http::{Class, Failure};

/// Words of chat templates that refuse a role or the order of roles, in lower case.
const REFUSALS: &[&str] = &[
    "roles must alternate",
    "system role",
    "system message",
    "role 'system'",
    "role \"system\"",
    "role `system`",
    "only user and assistant roles",
    "only user, system and assistant roles",
    "unexpected role",
    "unknown role",
    "unsupported role",
];

const HINT: &str =
    "hint: write system = \"merge\" into the model file: standing instructions then begin the user's message";

/// What is known of a request whose answer is a failure.
#[derive(Clone, Copy, Debug)]
pub struct RoleRules {
    /// Whether the request has a system role.
    pub has_system: bool,
    /// Whether its messages are merged already.
    pub merges: bool,
    /// Whether the server has answered a request with a system role before.
    pub was_taken: bool,
}

impl RoleRules {
    /// The failure for what it is: a refusal of the roles is the request's fault, and sending it again mends nothing. Some
    /// servers say 500 and nothing else then; that counts as one until they have answered such a request.
    pub fn explain(self, failure: Failure) -> Failure {
        let words = failure.message.to_lowercase();
        let says_so = failure.status.is_some_and(|status| matches!(status, 400 | 422 | 500))
            && REFUSALS.iter().any(|refusal| words.contains(refusal));
        let is_mute = failure.status == Some(500) && failure.message == Failure::NO_MESSAGE;
        let is_suspect = is_mute && self.has_system && !self.merges && !self.was_taken;
        if !says_so && !is_suspect {
            return failure;
        }
        let what = if is_suspect { "no message; perhaps it refuses the system role" } else { &failure.message };
        let message = if self.merges { what.to_owned() } else { format!("{what}\n  {HINT}") };
        Failure { class: Class::BadRequest, kind: Failure::ROLES, message, ..failure }
    }
}
