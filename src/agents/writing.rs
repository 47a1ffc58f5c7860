//! How programs are written: what synthesizer, learner and debugger have in common.

use std::sync::Arc;

use super::evidence::{self, Readers};
use crate::{
    domain::{Program, Slots},
    ids::MessageId,
    llm::{Choice, ModelError, Purpose, Subject},
    messages::{Candidate, Diagnosis, ExecutionReport, Judged, Message, Origin, TaskMessage},
    prompts::{ExecutionFeedback, extract_program, extract_program_of_cut},
    runtime::{Ask, Fault, Metered, NoteValue, SettingsError, Turn},
};

/// Help of the setting `drafts`.
pub(super) const DRAFTS_HELP: &str =
    "first drafts: a number, asked for in one turn, or \"budget\" for one a turn while the program budget lasts";

/// Help of the setting `repairs`.
pub(super) const REPAIRS_HELP: &str = "repairs of each message received: a number from 1";

/// Repairs are a number: a failing program is repaired again by the edge that leads back, not by one endless turn.
pub(super) fn check_repairs(repairs: Slots) -> Vec<SettingsError> {
    match repairs {
        Slots::Fixed(_) => Vec::new(),
        Slots::Budget => {
            vec![SettingsError { key: "repairs", reason: "must be a whole number from 1".to_owned() }]
        }
    }
}

/// One call for each program in the worst case, and one more for each reply without a program.
pub(super) fn most_calls(programs: u32) -> u32 {
    programs.saturating_mul(2)
}

/// Writes first drafts of the task.
pub(super) async fn draft(inbox: &[Arc<TaskMessage>], turn: &Turn) -> Result<Vec<Message>, Fault> {
    let Some(message) = inbox.first() else { return Ok(Vec::new()) };
    let starter = message.starter.as_ref().and_then(|starter| starter.program.clone());
    let feedback = &ExecutionFeedback::default();
    let work = Work { purpose: Purpose::Draft, prompt: "draft", subject: evidence::bare(turn, starter), feedback };
    let written = write(&work, turn.allowance().programs as usize, turn).await?;
    Ok(candidates(vec![(None, written)], Purpose::Draft, turn))
}

/// Repairs the program of each report, from its test results alone.
pub(super) async fn repair_reported<M: Judged>(
    feedback: &ExecutionFeedback,
    inbox: &[Arc<M>],
    turn: &Turn,
) -> Result<Vec<Message>, Fault> {
    let mut all = Vec::new();
    for (report, quota) in inbox.iter().map(M::report).zip(quotas(turn, inbox.len())) {
        all.push((Some(report.candidate.id), repair(report, None, feedback, quota, turn).await?));
    }
    Ok(candidates(all, Purpose::Repair, turn))
}

/// Repairs the program of each diagnosis.
pub(super) async fn repair_diagnosed(
    feedback: &ExecutionFeedback,
    inbox: &[Arc<Diagnosis>],
    turn: &Turn,
) -> Result<Vec<Message>, Fault> {
    let mut all = Vec::new();
    for (diagnosis, quota) in inbox.iter().zip(quotas(turn, inbox.len())) {
        let written = repair(&diagnosis.report, Some(&diagnosis.text), feedback, quota, turn).await?;
        all.push((Some(diagnosis.report.candidate.id), written));
    }
    Ok(candidates(all, Purpose::Repair, turn))
}

/// How many programs each of `parts` messages gets of the turn's allowance: equal shares, the first ones one more.
fn quotas(turn: &Turn, parts: usize) -> Vec<usize> {
    let (programs, parts) = (turn.allowance().programs as usize, parts.max(1));
    (0..parts).map(|part| programs / parts + usize::from(part < programs % parts)).collect()
}

async fn repair(
    report: &ExecutionReport,
    diagnosis: Option<&str>,
    feedback: &ExecutionFeedback,
    quota: usize,
    turn: &Turn,
) -> Result<Vec<Written>, Fault> {
    if quota == 0 {
        return Ok(Vec::new());
    }
    let model = turn.model();
    let readers = Readers {
        prompt: model.as_ref().is_some_and(Metered::reads_prompt).then_some(feedback),
        model: model.as_ref().is_some_and(Metered::wants_profile) && !feedback.is_hidden(),
    };
    let mut subject = evidence::of_report(report, readers, turn).await?;
    if feedback.is_hidden() {
        // A model that reads programs and results instead of a prompt must not know more than a prompt would tell.
        (subject.judgement, subject.siblings) = (None, Vec::new());
    }
    subject.diagnosis = diagnosis.map(str::to_owned);
    write(&Work { purpose: Purpose::Repair, prompt: "repair", subject, feedback }, quota, turn).await
}

struct Work<'a> {
    purpose: Purpose,
    prompt: &'static str,
    subject: Subject,
    feedback: &'a ExecutionFeedback,
}

/// What a reply held.
#[derive(Default)]
struct Written {
    /// Its program, if it held one.
    program: Option<Arc<Program>>,
    /// What the model noted.
    note: Option<String>,
    /// Whether asking again under the same limits is of no use.
    is_final: bool,
}

/// Asks until `wanted` replies are there; a reply without a program is asked for once more, but for one whose tokens ran out
/// while the model was thinking.
async fn write(work: &Work<'_>, wanted: usize, turn: &Turn) -> Result<Vec<Written>, Fault> {
    note_examples(work, turn)?;
    let all: Vec<u32> = (0..u32::try_from(wanted).unwrap_or(u32::MAX)).collect();
    let mut written = gather_replies(work, &all, turn, Vec::new()).await?;
    let is_done = |written: &Written| written.program.is_some() || written.is_final;
    let without: Vec<u32> = (0..).zip(&written).filter(|(_, one)| !is_done(one)).map(|(number, _)| number).collect();
    if !without.is_empty() {
        written.retain(is_done);
        written = gather_replies(work, &without, turn, written).await?;
        // What neither request gave stays a reply without a program, and is spent.
        let missing = wanted.saturating_sub(written.len()).min(without.len());
        written.extend(std::iter::repeat_with(Written::default).take(missing));
    }
    written.sort_by_key(|one| one.program.is_none());
    written.truncate(wanted);
    Ok(written)
}

/// Names the examples, where the prompt shows them.
fn note_examples(work: &Work<'_>, turn: &Turn) -> Result<(), Fault> {
    let examples = &work.subject.examples;
    if !examples.is_empty() && turn.seat().prompt(work.prompt)?.mentions("examples") {
        let ids = examples.iter().map(|example| example.task.0.clone()).collect();
        turn.note("examples", NoteValue::Texts(ids));
    }
    Ok(())
}

/// Adds replies to `written` until there is one for each of the choices `numbers`, the model has nothing more to say or the
/// budget ends.
async fn gather_replies(
    work: &Work<'_>,
    numbers: &[u32],
    turn: &Turn,
    mut written: Vec<Written>,
) -> Result<Vec<Written>, Fault> {
    let model = turn.model().ok_or_else(|| Fault::Setup(format!("{} has no model", turn.seat().actor)))?;
    let before = written.len();
    while let Some(choices) = numbers.get(written.len() - before..).filter(|choices| !choices.is_empty()) {
        let Work { purpose, prompt, feedback, .. } = *work;
        let ask = Ask { purpose, prompt, subject: work.subject.clone(), feedback, choices };
        match model.ask(ask).await {
            Ok(reply) if reply.choices.is_empty() => break,
            Ok(reply) => written.extend(reply.choices.into_iter().map(|choice| program_of(choice, turn))),
            Err(Fault::Model(ModelError::Budget | ModelError::NothingToSay(_))) => break,
            // What was paid for is kept; the failed call is in the record.
            Err(Fault::Model(_)) if !written.is_empty() => break,
            Err(fault) => return Err(fault),
        }
    }
    Ok(written)
}

fn program_of(choice: Choice, turn: &Turn) -> Written {
    let task = turn.task();
    let text = match choice.was_cut() {
        true => extract_program_of_cut(&choice.text, task),
        false => extract_program(&choice.text, task),
    };
    let is_final = choice.ran_out_thinking();
    Written { program: text.map(|text| Arc::new(Program::new(task.language, text))), note: choice.note, is_final }
}

/// The candidates of a turn, by parent and in the order in which they were written.
fn candidates(all: Vec<(Option<MessageId>, Vec<Written>)>, purpose: Purpose, turn: &Turn) -> Vec<Message> {
    let origin = if purpose == Purpose::Draft { Origin::Draft } else { Origin::Repair };
    let flat = all.into_iter().flat_map(|(parent, written)| written.into_iter().map(move |one| (parent, one)));
    flat.enumerate()
        .map(|(index, (parent, Written { program, note, .. }))| {
            let (id, author) = (turn.message_id(index), turn.seat().actor.clone());
            Message::Candidate(Arc::new(Candidate { id, program, origin, parent, author, note }))
        })
        .collect()
}
