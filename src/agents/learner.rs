use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::writing;
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
struct Learner;

/// Settings of the learner.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Settings {
    drafts: Slots,
    repairs: Slots,
}

impl Default for Settings {
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
        settings: &[
            SettingKey { name: "drafts", help: writing::DRAFTS_HELP },
            SettingKey { name: "repairs", help: writing::REPAIRS_HELP },
        ],
    };

    fn new(_: Settings, _: &Seat) -> Result<Self, SettingsError> {
        Ok(Self)
    }

    fn check(settings: &Settings) -> Vec<SettingsError> {
        writing::check_repairs(settings.repairs)
    }

    fn slots(settings: &Settings, kind: Kind) -> Option<Slots> {
        Some(if kind == Kind::Task { settings.drafts } else { settings.repairs })
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
        writing::repair_diagnosed(inbox, turn).await
    }
}

impl<M: Judged + Routed> Receives<M> for Learner {
    async fn receive(&self, inbox: &[Arc<M>], turn: &Turn) -> Result<Vec<Message>, Fault> {
        writing::repair_reported(inbox, turn).await
    }
}
