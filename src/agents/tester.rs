use std::{num::NonZeroU32, sync::Arc};

use serde::{Deserialize, Serialize};

use super::briefing;
use crate::{
    benchmarks::guessed_tests,
    domain::TestSuite,
    llm::Purpose,
    messages::{Kind, Message, TaskMessage},
    runtime::{
        Fault, Inlets, NoteValue, PromptKey, Receives, Role, RoleEntry, RoleSpec, Seat, SettingKey, SettingsError, Turn,
    },
};

pub(super) static ROLE: RoleEntry = RoleEntry::of::<Tester>();

/// Writes tests from the statement alone, before anybody drafts (CodeT, arXiv 2207.10397). A filter: it says the task
/// again, with its tests. They are guesses: an executor may run them, and no score comes from them.
struct Tester(Settings);

/// Settings of the tester.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Settings {
    tests: NonZeroU32,
    instruction: briefing::Instruction,
}

impl Default for Settings {
    fn default() -> Self {
        Self { tests: NonZeroU32::MIN.saturating_add(9), instruction: briefing::Instruction::default() }
    }
}

impl Role for Tester {
    type Settings = Settings;

    const SPEC: RoleSpec = RoleSpec {
        name: "tester",
        summary: "writes tests from the statement alone, before anybody drafts",
        accepts: &[Kind::Task],
        emits: &[Kind::Task],
        gathers: false,
        evaluates: false,
        asks: &[(Kind::Task, Purpose::Test)],
        prompts: &[PromptKey { key: "tests", default: "tester/tests", purpose: Purpose::Test }],
        settings: &[
            SettingKey { name: "tests", help: "the most tests that are kept: a number from 1" },
            SettingKey { name: "instruction", help: briefing::INSTRUCTION_HELP },
        ],
    };

    fn new(settings: Settings, _: &Seat) -> Result<Self, SettingsError> {
        Ok(Self(settings))
    }

    /// A reply without a test is asked for once more.
    fn calls(_: &Settings, _: Kind, _: u32) -> u32 {
        2
    }

    fn needs(settings: &Settings, _: Kind) -> Option<Purpose> {
        settings.instruction.needs(Purpose::Test)
    }

    fn connect(inlets: &mut Inlets<'_, Self>) {
        inlets.accept::<TaskMessage>();
    }
}

impl Receives<TaskMessage> for Tester {
    async fn receive(&self, inbox: &[Arc<TaskMessage>], turn: &Turn) -> Result<Vec<Message>, Fault> {
        let mut said = Vec::new();
        for message in inbox {
            let mut task = TaskMessage::clone(message);
            task.generated = self.tests(message, turn).await?.map(Arc::new);
            let written = task.generated.as_ref().map_or(0, |suite| suite.len());
            turn.note("generated_tests", NoteValue::Count(i64::try_from(written).unwrap_or(i64::MAX)));
            said.push(Message::Task(Arc::new(task)));
        }
        Ok(said)
    }
}

impl Tester {
    async fn tests(&self, message: &TaskMessage, turn: &Turn) -> Result<Option<TestSuite>, Fault> {
        let Some(entry_point) = &message.task.entry_point else { return Ok(None) };
        for _ in 0..2 {
            let ask = (Purpose::Test, "tests");
            let Some(reply) = briefing::ask(self.0.instruction, ask, message, turn).await? else { break };
            let most = self.0.tests.get() as usize;
            if let Some(suite) = guessed_tests(message.task.language, &reply, entry_point, most) {
                return Ok(Some(suite));
            }
        }
        Ok(None)
    }
}
