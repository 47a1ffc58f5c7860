//! How a failing program is diagnosed: what instructor and teacher have in common.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{
    evidence::{self, Readers},
    feedback,
};
use crate::{
    llm::{ModelError, Purpose, Subject},
    messages::{Diagnosis, DiagnosisForm, DiagnosisSource, Judged, Message},
    prompts::{ExecutionFeedback, PromptData},
    runtime::{Ask, Fault, Metered, NoteValue, PromptUsed, SettingKey, Turn},
};

/// Where the words of a diagnosis come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Instruction {
    /// From the model where it diagnoses, else from the static template; the record says which.
    #[default]
    Auto,
    /// From the model.
    Model,
    /// From the static template, which restates the failing test; no model is asked.
    Static,
}

/// Settings of roles that diagnose, beside what their prompts show.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Settings {
    pub(super) diagnoses: std::num::NonZeroU32,
    pub(super) instruction: Instruction,
}

impl Default for Settings {
    fn default() -> Self {
        Self { diagnoses: std::num::NonZeroU32::MIN, instruction: Instruction::Auto }
    }
}

/// Keys of [`Settings`] and of what prompts show.
pub(super) const KEYS: &[SettingKey] = &feedback::keys::<2, { 2 + feedback::KEYS.len() }>([
    SettingKey { name: "diagnoses", help: "diagnoses of each failing program: a number from 1" },
    SettingKey {
        name: "instruction",
        help: "\"model\", \"static\" (a template that restates the failing test), or \"auto\": the model where it diagnoses",
    },
]);

/// The most calls that one turn makes.
pub(super) fn most_calls(settings: &Settings) -> u32 {
    if settings.instruction == Instruction::Static { 0 } else { settings.diagnoses.get() }
}

/// What the model must answer: only where the words must come from it.
pub(super) fn needed_purpose(settings: &Settings) -> Option<Purpose> {
    (settings.instruction == Instruction::Model).then_some(Purpose::Diagnose)
}

/// Writes the diagnoses of each failing program.
pub(super) async fn diagnose<M: Judged>(
    (settings, feedback): (&Settings, &ExecutionFeedback),
    form: DiagnosisForm,
    inbox: &[Arc<M>],
    turn: &Turn,
) -> Result<Vec<Message>, Fault> {
    let wanted = settings.diagnoses.get() as usize;
    let model = turn.model().filter(|model| match settings.instruction {
        Instruction::Auto => model.answers(Purpose::Diagnose),
        Instruction::Model => true,
        Instruction::Static => false,
    });
    let source = if model.is_some() { DiagnosisSource::Model } else { DiagnosisSource::StaticTemplate };
    let word = if model.is_some() { "model" } else { "static" };
    turn.note("instruction", NoteValue::Text(word.to_owned()));
    if model.is_none() {
        let PromptUsed { reference, hash } = PromptUsed::of(turn.seat().prompt("static")?);
        turn.note("prompt", NoteValue::Text(reference));
        turn.note("prompt_hash", NoteValue::Text(hash));
    }
    let mut diagnoses = Vec::new();
    for report in inbox.iter().map(M::report) {
        let readers = Readers { prompt: Some(feedback), model: false };
        let subject = evidence::of_report(report, readers, turn).await?;
        let texts = match &model {
            Some(model) => ask_model(model, &subject, feedback, wanted).await?,
            // The same words twice are one diagnosis: a static template has only one to give.
            None => vec![restate(&subject, feedback, turn)?],
        };
        for text in texts {
            let (id, report) = (turn.message_id(diagnoses.len()), report.clone());
            diagnoses.push(Message::Diagnosis(Arc::new(Diagnosis {
                id,
                report,
                text,
                form,
                source,
                intervention: None,
            })));
        }
    }
    Ok(diagnoses)
}

async fn ask_model(
    model: &Metered<'_>,
    subject: &Subject,
    feedback: &ExecutionFeedback,
    wanted: usize,
) -> Result<Vec<String>, Fault> {
    let mut texts = Vec::new();
    let numbers: Vec<u32> = (0..u32::try_from(wanted).unwrap_or(u32::MAX)).collect();
    while let Some(choices) = numbers.get(texts.len()..).filter(|choices| !choices.is_empty()) {
        let ask = Ask { purpose: Purpose::Diagnose, prompt: "diagnose", subject: subject.clone(), feedback, choices };
        match model.ask(ask).await {
            Ok(reply) if reply.choices.is_empty() => break,
            Ok(reply) => texts.extend(reply.choices.into_iter().map(|choice| choice.text)),
            Err(Fault::Model(ModelError::Budget | ModelError::NothingToSay(_))) => break,
            Err(Fault::Model(_)) if !texts.is_empty() => break,
            Err(fault) => return Err(fault),
        }
    }
    texts.truncate(wanted);
    Ok(texts)
}

fn restate(subject: &Subject, feedback: &ExecutionFeedback, turn: &Turn) -> Result<String, Fault> {
    let prompt = turn.seat().prompt("static")?;
    let data = PromptData::new(Purpose::Diagnose, subject, feedback);
    prompt.render_text(&data).map_err(|error| Fault::Setup(error.to_string()))
}
