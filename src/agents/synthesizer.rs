use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::writing;
use crate::{
    domain::Slots,
    llm::Purpose,
    messages::{Kind, Message, TaskMessage},
    runtime::{Fault, Inlets, PromptKey, Receives, Role, RoleEntry, RoleSpec, Seat, SettingKey, SettingsError, Turn},
};

pub(super) static ROLE: RoleEntry = RoleEntry::of::<Synthesizer>();

/// Writes first drafts.
struct Synthesizer;

/// Settings of the synthesizer.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Settings {
    drafts: Slots,
}

impl Default for Settings {
    fn default() -> Self {
        Self { drafts: Slots::Fixed(1) }
    }
}

impl Role for Synthesizer {
    type Settings = Settings;

    const SPEC: RoleSpec = RoleSpec {
        name: "synthesizer",
        summary: "writes first drafts of a program for the task",
        accepts: &[Kind::Task],
        emits: &[Kind::Candidate],
        gathers: false,
        evaluates: false,
        asks: &[(Kind::Task, Purpose::Draft)],
        prompts: &[PromptKey { key: "draft", default: "synthesizer/draft", purpose: Purpose::Draft }],
        settings: &[SettingKey { name: "drafts", help: writing::DRAFTS_HELP }],
    };

    fn new(_: Settings, _: &Seat) -> Result<Self, SettingsError> {
        Ok(Self)
    }

    fn slots(settings: &Settings, _: Kind) -> Option<Slots> {
        Some(settings.drafts)
    }

    fn calls(_: &Settings, _: Kind, programs: u32) -> u32 {
        writing::most_calls(programs)
    }

    fn connect(inlets: &mut Inlets<'_, Self>) {
        inlets.accept::<TaskMessage>();
    }
}

impl Receives<TaskMessage> for Synthesizer {
    async fn receive(&self, inbox: &[Arc<TaskMessage>], turn: &Turn) -> Result<Vec<Message>, Fault> {
        writing::draft(inbox, turn).await
    }
}
