use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::briefing;
use crate::{
    llm::Purpose,
    messages::{Kind, Message, TaskMessage},
    runtime::{Fault, Inlets, PromptKey, Receives, Role, RoleEntry, RoleSpec, Seat, SettingKey, SettingsError, Turn},
};

pub(super) static ROLE: RoleEntry = RoleEntry::of::<Analyst>();

/// Says how to go about the task, before anybody drafts. A filter: it says the task again, with its plan.
struct Analyst(Settings);

/// Settings of the analyst.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Settings {
    instruction: briefing::Instruction,
}

impl Role for Analyst {
    type Settings = Settings;

    const SPEC: RoleSpec = RoleSpec {
        name: "analyst",
        summary: "says how to go about the task before anybody drafts",
        accepts: &[Kind::Task],
        emits: &[Kind::Task],
        gathers: false,
        evaluates: false,
        asks: &[(Kind::Task, Purpose::Plan)],
        prompts: &[PromptKey { key: "plan", default: "analyst/plan", purpose: Purpose::Plan }],
        settings: &[SettingKey { name: "instruction", help: briefing::INSTRUCTION_HELP }],
    };

    fn new(settings: Settings, _: &Seat) -> Result<Self, SettingsError> {
        Ok(Self(settings))
    }

    fn calls(_: &Settings, _: Kind, _: u32) -> u32 {
        1
    }

    fn needs(settings: &Settings, _: Kind) -> Option<Purpose> {
        settings.instruction.needs(Purpose::Plan)
    }

    fn connect(inlets: &mut Inlets<'_, Self>) {
        inlets.accept::<TaskMessage>();
    }
}

impl Receives<TaskMessage> for Analyst {
    async fn receive(&self, inbox: &[Arc<TaskMessage>], turn: &Turn) -> Result<Vec<Message>, Fault> {
        let mut said = Vec::new();
        for message in inbox {
            let mut task = TaskMessage::clone(message);
            if let Some(text) = briefing::ask(self.0.instruction, (Purpose::Plan, "plan"), message, turn).await? {
                task.plan = Some(text);
            }
            said.push(Message::Task(Arc::new(task)));
        }
        Ok(said)
    }
}
