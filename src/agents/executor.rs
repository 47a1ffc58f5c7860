use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    domain::{Judgement, TestSuite},
    messages::{Candidate, ExecutionReport, Kind, Message},
    runtime::{Fault, Inlets, NoteValue, Receives, Role, RoleEntry, RoleSpec, Seat, SettingsError, Turn},
};

pub(super) static ROLE: RoleEntry = RoleEntry::of::<Executor>();

/// Runs each candidate against the visible tests, in the sandbox.
struct Executor;

/// The executor has no settings: limits are those of the task and of `[feedback]`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Settings {}

impl Role for Executor {
    type Settings = Settings;

    const SPEC: RoleSpec = RoleSpec {
        name: "executor",
        summary: "runs each candidate against the visible tests, in the sandbox",
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
            let twin = twin(candidate, &reports, turn);
            let duplicate_of = twin.as_ref().map(|twin| twin.candidate.id);
            let judgement = match (twin, &candidate.program) {
                (Some(twin), _) => Judgement::clone(&twin.judgement),
                (None, Some(program)) => turn.execute(program).await?,
                (None, None) => without_program(turn),
            };
            if let Some(twin) = duplicate_of {
                turn.note("duplicate_of", NoteValue::Text(twin.to_string()));
            }
            turn.note("verdict", NoteValue::Text(judgement.verdict.name().to_owned()));
            turn.note("score", NoteValue::Number(judgement.score()));
            let (id, judgement) = (turn.message_id(index), Arc::new(judgement));
            reports.push(Arc::new(ExecutionReport { id, candidate: candidate.clone(), judgement, duplicate_of }));
        }
        Ok(reports.into_iter().map(Message::ExecutionReport).collect())
    }
}

/// What the tests said of the same text before, where duplicates are not executed again. The ledger starts no turn on a
/// duplicate before its twin's has retired, so that this does not depend on timing.
fn twin(candidate: &Candidate, before: &[Arc<ExecutionReport>], turn: &Turn) -> Option<Arc<ExecutionReport>> {
    if !turn.seat().scene.skip_duplicates {
        return None;
    }
    let same = |report: &&Arc<ExecutionReport>| match (&report.candidate.program, &candidate.program) {
        (Some(one), Some(other)) => one.normal_hash() == other.normal_hash(),
        _ => false,
    };
    let history = turn.history();
    history.twin_of(candidate).and_then(|twin| history.report_of(twin)).or_else(|| before.iter().find(same).cloned())
}

fn without_program(turn: &Turn) -> Judgement {
    let task = turn.task();
    let names: Vec<String> = match task.visible.as_ref() {
        TestSuite::Assertions { assertions, .. } => assertions.iter().map(|one| one.text.clone()).collect(),
        TestSuite::Io { cases, .. } => cases.iter().map(|case| case.stdin.clone()).collect(),
    };
    Judgement::no_code(names, task.limits.clone())
}
