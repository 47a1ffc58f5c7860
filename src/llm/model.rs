use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};

use super::{ChatReply, ChatRequest, ModelError, Parameters, Purpose, Terms, openai::ServerFacts};

/// What a model is, for records and traces. No secret is in here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelInfo {
    /// The name it was asked for by (`templates`, `openai:gpt-4o`).
    pub name: String,
    /// `gen_ai.provider.name`: `openai` for every OpenAI-compatible server, else the built-in model's own word.
    pub provider: String,
    /// The model id that requests carry.
    pub model: String,
    /// Host of the server, where there is one.
    pub server_address: Option<String>,
    /// Port of the server, where there is one.
    pub server_port: Option<u16>,
}

/// A model that answers chat requests.
pub trait ChatModel: Send + Sync {
    /// What it is.
    fn info(&self) -> &ModelInfo;

    /// Whether it answers requests of this purpose at all.
    fn answers(&self, purpose: Purpose) -> bool;

    /// Whether a repair request should carry the program's profile (line coverage by test, types).
    fn wants_profile(&self) -> bool {
        false
    }

    /// Whether its answer depends on which programs were tried before. Turns of such a model that write programs
    /// take place one after the other in a conversation, so that none repeats another's program.
    fn avoids_repeats(&self) -> bool {
        false
    }

    /// Whether it answers from typed objects alone, so that no prompt need be rendered.
    fn reads_prompt(&self) -> bool {
        true
    }

    /// Whether a prompt is sent without a system role and without neighbours of one role ([`merged`](super::merged)).
    fn merges_roles(&self) -> bool {
        false
    }

    /// What holds where a request leaves a parameter open, as far as the model's own settings say.
    fn defaults(&self) -> Option<&Parameters> {
        None
    }

    /// Whether its answers are worth keeping: those of a model that computes them anew in no time are not.
    fn is_kept(&self) -> bool {
        true
    }

    /// Whether it says what it said in a recorded run.
    fn is_replay(&self) -> bool {
        false
    }

    /// What its answers depend on beside the request, in one text: two models of equal identity are asked for the same.
    fn identity(&self) -> String {
        let ModelInfo { provider, model, server_address, server_port, .. } = self.info();
        serde_json::json!([provider, model, server_address, server_port]).to_string()
    }

    /// What its servers say of themselves; nothing where there are none. Asks them.
    fn servers(&self) -> BoxFuture<'_, Vec<ServerFacts>> {
        Box::pin(async { Vec::new() })
    }

    /// What a call costs and how long it may take; unknown where the model does not say.
    fn terms(&self) -> Terms {
        Terms::UNKNOWN
    }

    /// Answers. Retries and timeouts of the transport are the model's own affair and are listed in the reply.
    ///
    /// Cancelling means dropping the future.
    fn chat<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ModelError>>;
}
