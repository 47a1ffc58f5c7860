use serde_json::Value;

use super::{Fault, PostRecord, Turn, now_unix_nanos};
use crate::llm::{
    ModelError, Purpose,
    http::{JsonServer, Posted},
};

/// What a role asks a server that is no model.
pub struct Post<'a> {
    /// What is asked for, for the trace: `reward`.
    pub what: &'static str,
    /// Who is asked.
    pub server: &'a JsonServer,
    /// What is sent.
    pub body: &'a Value,
    /// Says in words what is wrong with an answer; such an answer is asked for again.
    pub check: fn(&Value) -> Result<(), String>,
}

impl Turn {
    /// Asks a server that is no model. The request is written down whether it succeeds or not, and counts against no
    /// budget.
    ///
    /// # Errors
    /// [`Fault::Endpoint`] with what went wrong last, [`Fault::Cancelled`] where the conversation ended meanwhile.
    pub async fn post(&self, post: Post<'_>) -> Result<Value, Fault> {
        let ordinal = u32::try_from(self.log().posts.len()).unwrap_or(u32::MAX);
        let seed = self.request_seed(Purpose::Judge, ordinal);
        let started_ns = now_unix_nanos();
        let Posted { answer, attempts } = tokio::select! {
            posted = post.server.post(post.body, seed, post.check) => posted,
            () = self.cancelled().cancelled() => Posted { answer: Err(ModelError::Cancelled), attempts: Vec::new() },
        };
        self.log().posts.push(PostRecord {
            what: post.what.to_owned(),
            server_address: post.server.host().map(str::to_owned),
            server_port: post.server.port(),
            attempts,
            error: answer.as_ref().err().map(|error| (error.kind(), error.to_string())),
            started_ns,
            ended_ns: now_unix_nanos(),
        });
        answer.map_err(|error| match error {
            ModelError::Cancelled => Fault::Cancelled,
            other => Fault::Endpoint(other),
        })
    }
}
