use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    domain::Judgement,
    messages::{Candidate, ExecutionReport, Kind, Message},
    runtime::{Fault, Inlets, NoteValue, Receives, Role, RoleEntry, RoleSpec, Seat, SettingsError, Turn},
};

pub(super) static ROLE: RoleEntry = RoleEntry::of::<Executor>();

/// Runs each candidate against the tests that feed back, in the sandbox.
struct Executor;

/// The executor has no settings: limits are those of the task and of `[feedback]`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Settings {}

impl Role for Executor {
    type Settings = Settings;

    const SPEC: RoleSpec = RoleSpec {
        name: "executor",
        summary: "runs each candidate against the tests that feed back, in the sandbox",
        accepts: &[Kind::Candidate],
        emits: &[Kind::ExecutionReport],
        gathers: false,
        evaluates: true,
        asks: &[],
        prompts: &[],
        settings: &[],
    };

    fn new(_: Settings, _: &Seat) -> Result<Self, SettingsError> {
        Ok(Self)
    }

    fn connect(inlets: &mut Inlets<'_, Self>) {
        inlets.accept::<Candidate>();
    }
}

impl Receives<Candidate> for Executor {
    async fn receive(&self, inbox: &[Arc<Candidate>], turn: &Turn) -> Result<Vec<Message>, Fault> {
        let mut reports = Vec::new();
        for (index, candidate) in inbox.iter().enumerate() {
            let judgement = match &candidate.program {
                Some(program) => turn.execute(program).await?,
                None => without_program(turn),
            };
            turn.note("verdict", NoteValue::Text(judgement.verdict.name().to_owned()));
            turn.note("score", NoteValue::Number(judgement.score()));
            reports.push(Message::ExecutionReport(Arc::new(ExecutionReport {
                id: turn.message_id(index),
                candidate: candidate.clone(),
                judgement: Arc::new(judgement),
            })));
        }
        Ok(reports)
    }
}

fn without_program(turn: &Turn) -> Judgement {
    let task = turn.task();
    Judgement::no_code(task.feedback.names(), task.limits.clone())
}
