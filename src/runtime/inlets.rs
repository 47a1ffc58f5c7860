use actix::{Addr, Recipient};

use super::{Envelope, Receives, Role, RoleActor};
use crate::messages::{Assessment, Body, Candidate, Diagnosis, ExecutionReport, Kind, TaskMessage};

/// The typed addresses of one actor: where the conversation delivers each kind that it accepts.
#[derive(Clone, Default)]
pub struct Cast {
    task: Option<Recipient<Envelope<TaskMessage>>>,
    candidate: Option<Recipient<Envelope<Candidate>>>,
    execution_report: Option<Recipient<Envelope<ExecutionReport>>>,
    assessment: Option<Recipient<Envelope<Assessment>>>,
    diagnosis: Option<Recipient<Envelope<Diagnosis>>>,
}

impl Cast {
    /// Where messages of type `M` go; `None` where the actor does not accept them.
    pub fn inlet<M: Routed>(&self) -> Option<&Recipient<Envelope<M>>> {
        M::inlet(self)
    }

    /// The kinds that it is connected for.
    pub fn kinds(&self) -> Vec<Kind> {
        let mut kinds = Vec::new();
        let connected = [
            (self.task.is_some(), Kind::Task),
            (self.candidate.is_some(), Kind::Candidate),
            (self.execution_report.is_some(), Kind::ExecutionReport),
            (self.assessment.is_some(), Kind::Assessment),
            (self.diagnosis.is_some(), Kind::Diagnosis),
        ];
        for (is_connected, kind) in connected {
            if is_connected {
                kinds.push(kind);
            }
        }
        kinds
    }
}

/// A message type that conversations deliver: ties it to its place in a [`Cast`].
pub trait Routed: Body {
    /// The inlet of this type.
    fn inlet(cast: &Cast) -> Option<&Recipient<Envelope<Self>>>;
    /// The place of that inlet.
    fn inlet_mut(cast: &mut Cast) -> &mut Option<Recipient<Envelope<Self>>>;
}

macro_rules! routed {
    ($type:ident, $field:ident) => {
        impl Routed for $type {
            fn inlet(cast: &Cast) -> Option<&Recipient<Envelope<Self>>> {
                cast.$field.as_ref()
            }
            fn inlet_mut(cast: &mut Cast) -> &mut Option<Recipient<Envelope<Self>>> {
                &mut cast.$field
            }
        }
    };
}

routed!(TaskMessage, task);
routed!(Candidate, candidate);
routed!(ExecutionReport, execution_report);
routed!(Assessment, assessment);
routed!(Diagnosis, diagnosis);

/// Collects what a role accepts while its actor starts.
pub struct Inlets<'a, R: Role> {
    address: &'a Addr<RoleActor<R>>,
    cast: Cast,
}

impl<'a, R: Role> Inlets<'a, R> {
    pub(super) fn of(address: &'a Addr<RoleActor<R>>) -> Cast {
        let mut inlets = Self { address, cast: Cast::default() };
        R::connect(&mut inlets);
        inlets.cast
    }

    /// Messages of type `M` are delivered to this role.
    pub fn accept<M: Routed>(&mut self)
    where
        R: Receives<M>,
    {
        *M::inlet_mut(&mut self.cast) = Some(self.address.clone().recipient());
    }

    /// Messages of every judged kind are delivered to this role.
    pub fn accept_judged(&mut self)
    where
        R: Receives<ExecutionReport> + Receives<Assessment>,
    {
        self.accept::<ExecutionReport>();
        self.accept::<Assessment>();
    }
}
