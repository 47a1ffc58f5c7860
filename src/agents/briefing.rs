//! What is said of a task before anybody drafts: what analyst and tester have in common.

use serde::{Deserialize, Serialize};

use crate::{
    llm::{ModelError, Purpose, Subject},
    messages::TaskMessage,
    prompts::ExecutionFeedback,
    runtime::{Ask, Fault, NoteValue, Turn},
};

/// Whether the words must come from the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Instruction {
    /// From the model where it answers such requests; else the task is said again as it is, and the record says so.
    #[default]
    Auto,
    /// From the model.
    Model,
}

/// Help of the setting `instruction`.
pub(super) const INSTRUCTION_HELP: &str =
    "\"model\", or \"auto\": from the model where it answers such requests, else the task goes on as it is";

impl Instruction {
    /// What the model must answer.
    pub(super) fn needs(self, purpose: Purpose) -> Option<Purpose> {
        (self == Self::Model).then_some(purpose)
    }
}

/// The model's words on a task; `None` where it has none to give.
pub(super) async fn ask(
    instruction: Instruction,
    (purpose, prompt): (Purpose, &'static str),
    message: &TaskMessage,
    turn: &Turn,
) -> Result<Option<String>, Fault> {
    let model = turn.model().filter(|model| instruction == Instruction::Model || model.answers(purpose));
    let word = if model.is_some() { "model" } else { "none" };
    turn.note("instruction", NoteValue::Text(word.to_owned()));
    let Some(model) = model else { return Ok(None) };
    let subject = Subject { plan: message.plan.clone(), ..Subject::of(turn.task().clone(), None) };
    match model.ask(Ask { purpose, prompt, subject, feedback: &ExecutionFeedback::default(), choices: &[0] }).await {
        Ok(reply) => Ok(reply.choices.into_iter().next().map(|choice| choice.text)),
        Err(Fault::Model(ModelError::Budget | ModelError::NothingToSay(_))) => Ok(None),
        Err(fault) => Err(fault),
    }
}
