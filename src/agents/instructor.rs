use std::sync::Arc;

use super::{
    diagnosing,
    feedback::{WithFeedback, Worst},
};
use crate::{
    llm::Purpose,
    messages::{DiagnosisForm, Judged, Kind, Message},
    runtime::{Fault, Inlets, PromptKey, Receives, Role, RoleEntry, RoleSpec, Routed, Seat, SettingsError, Turn},
};

pub(super) static ROLE: RoleEntry = RoleEntry::of::<Instructor>();

/// Summarises what is wrong with a failing program (SEIDR's instruct step).
struct Instructor(Settings);

/// Settings of the instructor.
type Settings = WithFeedback<diagnosing::Settings, Worst>;

impl Role for Instructor {
    type Settings = Settings;

    const SPEC: RoleSpec = RoleSpec {
        name: "instructor",
        summary: "summarises what is wrong with a failing program",
        accepts: &[Kind::ExecutionReport, Kind::Assessment],
        emits: &[Kind::Diagnosis],
        gathers: false,
        evaluates: false,
        asks: &[(Kind::ExecutionReport, Purpose::Diagnose), (Kind::Assessment, Purpose::Diagnose)],
        prompts: &[
            PromptKey { key: "diagnose", default: "instructor/bug_summary", purpose: Purpose::Diagnose },
            PromptKey { key: "static", default: "instructor/static", purpose: Purpose::Diagnose },
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

impl<M: Judged + Routed> Receives<M> for Instructor {
    async fn receive(&self, inbox: &[Arc<M>], turn: &Turn) -> Result<Vec<Message>, Fault> {
        diagnosing::diagnose((&self.0.own, &self.0.feedback), DiagnosisForm::BugSummary, inbox, turn).await
    }
}
