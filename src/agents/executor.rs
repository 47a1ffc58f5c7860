use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    domain::{Judgement, Program, TestSuite},
    messages::{Candidate, ExecutionReport, Kind, Message, TestsRun},
    runtime::{Fault, Inlets, NoteValue, Receives, Role, RoleEntry, RoleSpec, Seat, SettingKey, SettingsError, Turn},
};

pub(super) static ROLE: RoleEntry = RoleEntry::of::<Executor>();

/// Runs each candidate against the tests that feed back, in the sandbox.
struct Executor(Settings);

/// Settings of the executor. Limits are those of the task and of `[feedback]`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Settings {
    tests: TestsRun,
}

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
        settings: &[SettingKey {
            name: "tests",
            help: "\"feedback\": the task's own; \"generated\": those of a tester, where it wrote any; \"both\"",
        }],
    };

    fn new(settings: Settings, _: &Seat) -> Result<Self, SettingsError> {
        Ok(Self(settings))
    }

    fn connect(inlets: &mut Inlets<'_, Self>) {
        inlets.accept::<Candidate>();
    }
}

impl Receives<Candidate> for Executor {
    async fn receive(&self, inbox: &[Arc<Candidate>], turn: &Turn) -> Result<Vec<Message>, Fault> {
        let (tests, suites) = suites(self.0.tests, turn);
        let mut reports = Vec::new();
        for (index, candidate) in inbox.iter().enumerate() {
            let twin = twin(candidate, &reports, turn);
            let duplicate_of = twin.as_ref().map(|twin| twin.candidate.id);
            let judgement = match (twin, &candidate.program) {
                (Some(twin), _) => Judgement::clone(&twin.judgement),
                (None, Some(program)) => execute(program, &suites, turn).await?,
                (None, None) => without_program(&suites, turn),
            };
            if let Some(twin) = duplicate_of {
                turn.note("duplicate_of", NoteValue::Text(twin.to_string()));
            }
            turn.note("verdict", NoteValue::Text(judgement.verdict.name().to_owned()));
            turn.note("score", NoteValue::Number(judgement.score()));
            let (id, judgement) = (turn.message_id(index), Arc::new(judgement));
            reports.push(Arc::new(ExecutionReport {
                id,
                candidate: candidate.clone(),
                judgement,
                duplicate_of,
                tests,
            }));
        }
        Ok(reports.into_iter().map(Message::ExecutionReport).collect())
    }
}

/// What the tests said of the same text before, where duplicates are not executed again. The ledger starts no turn on a
/// duplicate before its twin's has retired, so that this does not depend on timing.
fn twin(candidate: &Candidate, before: &[Arc<ExecutionReport>], turn: &Turn) -> Option<Arc<ExecutionReport>> {
    if !turn.history().tells_duplicates() {
        return None;
    }
    let same = |report: &&Arc<ExecutionReport>| match (&report.candidate.program, &candidate.program) {
        (Some(one), Some(other)) => one.normal_hash() == other.normal_hash(),
        _ => false,
    };
    let history = turn.history();
    history.twin_of(candidate).and_then(|twin| history.report_of(twin)).or_else(|| before.iter().find(same).cloned())
}

/// The tests to run. Without tests of a tester, those of the task are run in every case, and the report says so.
fn suites(wanted: TestsRun, turn: &Turn) -> (TestsRun, Vec<Arc<TestSuite>>) {
    let own = turn.task().feedback.clone();
    match (wanted, turn.history().briefing().and_then(|task| task.generated.clone())) {
        (TestsRun::Generated, Some(generated)) => (TestsRun::Generated, vec![generated]),
        (TestsRun::Both, Some(generated)) => (TestsRun::Both, vec![own, generated]),
        (TestsRun::Feedback, _) | (_, None) => (TestsRun::Feedback, vec![own]),
    }
}

async fn execute(program: &Arc<Program>, suites: &[Arc<TestSuite>], turn: &Turn) -> Result<Judgement, Fault> {
    let mut judgements = Vec::new();
    for suite in suites {
        judgements.push(turn.execute(program, suite).await?);
    }
    Ok(judgements.into_iter().reduce(Judgement::with).unwrap_or_else(|| without_program(suites, turn)))
}

fn without_program(suites: &[Arc<TestSuite>], turn: &Turn) -> Judgement {
    let names = suites.iter().flat_map(|suite| suite.names());
    Judgement::no_code(names, turn.task().limits.clone())
}
