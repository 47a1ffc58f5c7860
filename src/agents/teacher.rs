use std::sync::Arc;

use super::{
    diagnosing,
    feedback::{First, WithFeedback},
};
use crate::{
    llm::Purpose,
    messages::{DiagnosisForm, Judged, Kind, Message},
    runtime::{Fault, Inlets, PromptKey, Receives, Role, RoleEntry, RoleSpec, Routed, Seat, SettingsError, Turn},
};

pub(super) static ROLE: RoleEntry = RoleEntry::of::<Teacher>();

/// Explains why a program fails and how to go about it, without code (INTERVENOR's chain of repair).
struct Teacher(Settings);

/// Settings of the teacher.
type Settings = WithFeedback<diagnosing::Settings, First>;

impl Role for Teacher {
    type Settings = Settings;

    const SPEC: RoleSpec = RoleSpec {
        name: "teacher",
        summary: "writes a chain of repair: why a program fails and a plan to fix it, in words",
        accepts: &[Kind::ExecutionReport, Kind::Assessment],
        emits: &[Kind::Diagnosis],
        gathers: false,
        evaluates: false,
        asks: &[(Kind::ExecutionReport, Purpose::Diagnose), (Kind::Assessment, Purpose::Diagnose)],
        prompts: &[
            PromptKey { key: "diagnose", default: "teacher/chain_of_repair", purpose: Purpose::Diagnose },
            PromptKey { key: "static", default: "teacher/static", purpose: Purpose::Diagnose },
        ],
        settings: diagnosing::KEYS,
    };

    fn new(settings: Settings, _: &Seat) -> Result<Self, SettingsError> {
        Ok(Self(settings))
    }

    fn check(settings: &Settings) -> Vec<SettingsError> {
        settings.check_feedback()
    }

    fn calls(settings: &Settings, _: Kind, _: u32) -> u32 {
        diagnosing::most_calls(&settings.own)
    }

    fn needs(settings: &Settings, _: Kind) -> Option<Purpose> {
        diagnosing::needed_purpose(&settings.own)
    }

    fn connect(inlets: &mut Inlets<'_, Self>) {
        inlets.accept_judged();
    }
}

impl<M: Judged + Routed> Receives<M> for Teacher {
    async fn receive(&self, inbox: &[Arc<M>], turn: &Turn) -> Result<Vec<Message>, Fault> {
        diagnosing::diagnose((&self.0.own, &self.0.feedback), DiagnosisForm::ChainOfRepair, inbox, turn).await
    }
}
