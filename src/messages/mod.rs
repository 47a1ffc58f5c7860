//! What actors say to each other. Few kinds, so that roles can be swapped; one file each.
//!
//! A message is immutable and shared by `Arc`. Its lineage (who said it, in which turn, caused by what) is in
//! its [`MessageId`](crate::ids::MessageId) and in the turn record; the content is plain domain data.

mod assessment;
mod candidate;
mod diagnosis;
mod execution_report;
mod kind;
mod message;
mod task;

pub use assessment::{Assessment, RewardSource};
pub use candidate::{Candidate, Origin};
pub use diagnosis::{Diagnosis, DiagnosisForm, DiagnosisSource, Intervention};
pub use execution_report::{ExecutionReport, TestsRun};
pub use kind::Kind;
pub use message::{Body, Judged, Message};
pub use task::TaskMessage;
