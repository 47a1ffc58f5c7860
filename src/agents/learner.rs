use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{
    feedback::{self, All, WithFeedback},
    writing,
};
use crate::{
    domain::Slots,
    llm::Purpose,
    messages::{Diagnosis, Judged, Kind, Message, TaskMessage},
    runtime::{
        Fault, Inlets, PromptKey, Receives, Role, RoleEntry, RoleSpec, Routed, Seat, SettingKey, SettingsError, Turn,
    },
};

pub(super) static ROLE: RoleEntry = RoleEntry::of::<Learner>();

/// Writes the first draft and all its repairs (INTERVENOR's student).
struct Learner(Settings);

/// Settings of the learner.
type Settings = WithFeedback<Own, All>;

/// Settings of the learner beside what its prompts show.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Own {
    drafts: Slots,
    repairs: Slots,
}

impl Default for Own {
    fn default() -> Self {
        Self { drafts: Slots::Fixed(1), repairs: Slots::Fixed(1) }
    }
}

impl Role for Learner {
    type Settings = Settings;

    const SPEC: RoleSpec = RoleSpec {
        name: "learner",
        summary: "writes the first draft and rewrites it as it is taught",
        accepts: &[Kind::Task, Kind::Diagnosis, Kind::ExecutionReport, Kind::Assessment],
        emits: &[Kind::Candidate],
        gathers: false,
        evaluates: false,
        asks: &[
            (Kind::Task, Purpose::Draft),
            (Kind::Diagnosis, Purpose::Repair),
            (Kind::ExecutionReport, Purpose::Repair),
            (Kind::Assessment, Purpose::Repair),
        ],
        prompts: &[
            PromptKey { key: "draft", default: "learner/draft", purpose: Purpose::Draft },
            PromptKey { key: "repair", default: "learner/repair", purpose: Purpose::Repair },
        ],
        settings: &feedback::keys::<2, { 2 + feedback::KEYS.len() }>([
            SettingKey { name: "drafts", help: writing::DRAFTS_HELP },
            SettingKey { name: "repairs", help: writing::REPAIRS_HELP },
        ]),
    };

    fn new(settings: Settings, _: &Seat) -> Result<Self, SettingsError> {
        Ok(Self(settings))
    }

    fn check(settings: &Settings) -> Vec<SettingsError> {
        [writing::check_repairs(settings.own.repairs), settings.check_feedback()].concat()
    }

    fn slots(settings: &Settings, kind: Kind) -> Option<Slots> {
        Some(if kind == Kind::Task { settings.own.drafts } else { settings.own.repairs })
    }

    fn calls(_: &Settings, _: Kind, programs: u32) -> u32 {
        writing::most_calls(programs)
    }

    fn connect(inlets: &mut Inlets<'_, Self>) {
        inlets.accept::<TaskMessage>();
        inlets.accept::<Diagnosis>();
        inlets.accept_judged();
    }
}

impl Receives<TaskMessage> for Learner {
    async fn receive(&self, inbox: &[Arc<TaskMessage>], turn: &Turn) -> Result<Vec<Message>, Fault> {
        writing::draft(inbox, turn).await
    }
}

impl Receives<Diagnosis> for Learner {
    async fn receive(&self, inbox: &[Arc<Diagnosis>], turn: &Turn) -> Result<Vec<Message>, Fault> {
        writing::repair_diagnosed(&self.0.feedback, inbox, turn).await
    }
}

impl<M: Judged + Routed> Receives<M> for Learner {
    async fn receive(&self, inbox: &[Arc<M>], turn: &Turn) -> Result<Vec<Message>, Fault> {
        writing::repair_reported(&self.0.feedback, inbox, turn).await
    }
}
