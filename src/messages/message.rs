use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Assessment, Candidate, Diagnosis, ExecutionReport, Kind, TaskMessage};

/// A message of any kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Message {
    /// See [`TaskMessage`].
    Task(Arc<TaskMessage>),
    /// See [`Candidate`].
    Candidate(Arc<Candidate>),
    /// See [`ExecutionReport`].
    ExecutionReport(Arc<ExecutionReport>),
    /// See [`Assessment`].
    Assessment(Arc<Assessment>),
    /// See [`Diagnosis`].
    Diagnosis(Arc<Diagnosis>),
}

impl Message {
    /// Which kind it is.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Task(_) => Kind::Task,
            Self::Candidate(_) => Kind::Candidate,
            Self::ExecutionReport(_) => Kind::ExecutionReport,
            Self::Assessment(_) => Kind::Assessment,
            Self::Diagnosis(_) => Kind::Diagnosis,
        }
    }

    /// The candidate that this message is, or is about.
    pub fn candidate(&self) -> Option<&Arc<Candidate>> {
        match self {
            Self::Task(_) => None,
            Self::Candidate(candidate) => Some(candidate),
            Self::ExecutionReport(report) => Some(&report.candidate),
            Self::Assessment(assessment) => Some(&assessment.report.candidate),
            Self::Diagnosis(diagnosis) => Some(&diagnosis.report.candidate),
        }
    }

    /// What the tests said of a program, where this message brings it: a report, or an assessment of one.
    pub fn judged(&self) -> Option<&Arc<ExecutionReport>> {
        match self {
            Self::ExecutionReport(report) => Some(report),
            Self::Assessment(assessment) => Some(&assessment.report),
            Self::Task(_) | Self::Candidate(_) | Self::Diagnosis(_) => None,
        }
    }

    /// How good the program is, where a critic has said it.
    pub fn reward(&self) -> Option<f64> {
        match self {
            Self::Assessment(assessment) => assessment.reward,
            _ => None,
        }
    }
}

/// The content type of one message kind; ties the type to its [`Kind`] so that roles are typed.
pub trait Body: Send + Sync + Sized + 'static {
    /// The kind of this type.
    const KIND: Kind;
    /// The content, where `message` is of this kind.
    fn from_message(message: &Message) -> Option<Arc<Self>>;
    /// Wraps it.
    fn into_message(self: Arc<Self>) -> Message;
}

macro_rules! body {
    ($type:ident, $variant:ident) => {
        impl Body for $type {
            const KIND: Kind = Kind::$variant;
            fn from_message(message: &Message) -> Option<Arc<Self>> {
                match message {
                    Message::$variant(body) => Some(body.clone()),
                    _ => None,
                }
            }
            fn into_message(self: Arc<Self>) -> Message {
                Message::$variant(self)
            }
        }
    };
}

body!(TaskMessage, Task);
body!(Candidate, Candidate);
body!(ExecutionReport, ExecutionReport);
body!(Assessment, Assessment);
body!(Diagnosis, Diagnosis);

/// A message that brings what the tests said of a program: roles that take one kind of these take every kind.
pub trait Judged: Body {
    /// What the tests said.
    fn report(self: &Arc<Self>) -> &Arc<ExecutionReport>;
}

impl Judged for ExecutionReport {
    fn report(self: &Arc<Self>) -> &Arc<ExecutionReport> {
        self
    }
}

impl Judged for Assessment {
    fn report(self: &Arc<Self>) -> &Arc<ExecutionReport> {
        &self.report
    }
}
