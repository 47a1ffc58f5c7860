//! How a role takes part in a conversation: the traits that role authors implement, the one generic actor that hosts
//! every role, what a turn can do, and what is written down about it.

mod answers;
mod charging;
mod clock;
mod entry;
mod fault;
mod history;
mod inlets;
mod metered;
mod posting;
mod record;
mod role;
mod role_actor;
mod seat;
mod suspicion;
mod ticket;
mod turn;
mod under_way;

pub use answers::{AnswerKey, AnsweredFrom, Answers, CallInDoubt, NotKept};
pub use clock::now_unix_nanos;
pub use entry::RoleEntry;
pub use fault::Fault;
pub use history::{History, HistoryLog};
pub use inlets::{Cast, Inlets, Routed};
pub use metered::{Ask, Metered};
pub use posting::Post;
pub use record::{
    Allowance, CallRecord, ExecutionRecord, Finished, Note, NoteValue, PostRecord, PromptUsed, Refusal, TurnLog,
    TurnRecord,
};
pub use role::{PromptKey, Receives, Role, RoleSpec, SettingKey, SettingsError};
pub use role_actor::{RoleActor, start_role};
pub use seat::{Scene, Seat, Watch};
pub use ticket::{Envelope, Settled, Ticket};
pub use turn::Turn;
