use std::fmt;

use serde::{Deserialize, Serialize};
use uuid::{Uuid, uuid};

/// What the names of runs that are held in parts are derived in: a random UUID of ours.
const SHARDED: Uuid = uuid!("6f1d2c64-93b7-4d0e-a9c2-5b7e0d3c8f41");

/// A run of the command: random, ordered by time (UUIDv7, RFC 9562); one that is held in parts is derived (UUIDv5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunId(pub Uuid);

impl RunId {
    /// Draws a new run identity from the clock and the system's randomness.
    pub fn new() -> Self {
        Self(Uuid::now_v7())
    }

    /// The run that all shards of a plan make up, wherever each is held: the same plan and name always give the same id.
    pub fn of_shards(plan: &str, name: &str) -> Self {
        Self(Uuid::new_v5(&SHARDED, format!("{plan}\u{1f}{name}").as_bytes()))
    }

    /// The id that this run's shard of this name is kept by.
    pub fn shard(self, name: &str) -> Self {
        Self(Uuid::new_v5(&self.0, name.as_bytes()))
    }
}

impl Default for RunId {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// One conversation of a run, derived from the run, the arm, the task and the sample (UUIDv5, RFC 9562).
///
/// Its 16 bytes are also the trace id, so that an id from a log can be pasted into Jaeger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ConversationId(pub Uuid);

impl ConversationId {
    /// The identity of `sample` of `task` in `arm` of `run`; the same four always give the same id.
    pub fn derive(run: RunId, arm: &str, task: &TaskId, sample: u32) -> Self {
        let name = format!("{arm}\u{1f}{}\u{1f}{sample}", task.0);
        Self(Uuid::new_v5(&run.0, name.as_bytes()))
    }

    /// The trace id as 32 lower-case hexadecimal digits.
    pub fn trace_id(self) -> String {
        self.0.simple().to_string()
    }
}

impl fmt::Display for ConversationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A task's name, unique within its data set (`HumanEval/0`, `interval-merge`).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TaskId(pub String);

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The name that an arrangement gives to an actor.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ActorName(pub String);

impl fmt::Display for ActorName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Place of a delivery in the logical order of its conversation, from 0.
pub type Seq = u32;

/// Round of a conversation: 0 holds the first drafts and the starter.
pub type Generation = u32;

/// A message, named by the turn that said it and its place among that turn's messages.
///
/// The starter program, which no turn said, is [`MessageId::STARTER`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct MessageId {
    /// The turn that said it.
    pub seq: Seq,
    /// Its place among the messages of that turn, from 0.
    pub index: u32,
}

impl MessageId {
    /// The starter program of a task.
    pub const STARTER: Self = Self { seq: Seq::MAX, index: 0 };
}

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::STARTER { f.write_str("starter") } else { write!(f, "{}.{}", self.seq, self.index) }
    }
}

/// A call of a model, by its place in a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CallPlace {
    /// The conversation.
    pub conversation: ConversationId,
    /// Its turn.
    pub seq: Seq,
    /// The attempt at it.
    pub attempt: u8,
    /// 0 for the first call of the attempt, 1 for the second, …
    pub ordinal: u32,
}
