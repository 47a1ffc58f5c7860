//! Which candidate a turn is about, wrote, kept or dropped.

use std::{collections::BTreeMap, sync::Arc};

use super::{attributes as name, span::Draft, turn_spans::Manner, values::Attributes};
use crate::{
    ids::MessageId,
    messages::{Candidate, ExecutionReport, Message, Origin},
    runtime::{Finished, TurnRecord},
};

/// Describes what an attempt of the turn did to candidates. Attributes name the one candidate that it wrote or is about; events name
/// each that it wrote or looked at.
pub fn describe(
    draft: &mut Draft,
    turn: &TurnRecord,
    attempt: &Finished,
    manner: Manner,
    programs: &BTreeMap<MessageId, u32>,
) {
    let ended_ns = attempt.ended_ns;
    let said = attempt.result.as_deref().unwrap_or_default();
    let written: Vec<&Arc<Candidate>> = said.iter().filter_map(written_by(turn)).collect();
    let about: Vec<&Arc<Candidate>> = turn.inbox.iter().filter_map(Message::candidate).collect();
    if let [candidate] = written[..] {
        write(&mut draft.attributes, candidate, programs);
    } else if let Some(first) = written.first() {
        draft.set(name::PARENT, first.parent.map(|parent| parent.to_string()));
    } else if let [candidate] = about[..] {
        write(&mut draft.attributes, candidate, programs);
        if let Some(report) = turn.inbox.first().and_then(Message::judged) {
            draft.set(name::SCORE, report.judgement.score()).set(name::VERDICT, report.judgement.verdict.name());
        }
    }
    // All programs of a turn are written with one prompt.
    let prompt_hash = attempt.log.calls.iter().find_map(|call| call.prompt.as_ref()).map(|prompt| prompt.hash.as_str());
    if !written.is_empty() {
        draft.set(name::PROMPT_HASH, prompt_hash);
    }
    for candidate in written {
        let mut attributes = Attributes::new();
        write(&mut attributes, candidate, programs);
        attributes.set(name::PROMPT_HASH, prompt_hash);
        draft.event(name::WRITTEN_EVENT, ended_ns, attributes);
    }
    if manner.filters && attempt.result.is_ok() {
        rank(draft, turn, attempt);
    }
}

/// Candidates that the turn said first; a message that it passed on was written elsewhere.
fn written_by(turn: &TurnRecord) -> impl Fn(&Message) -> Option<&Arc<Candidate>> {
    move |message| match message {
        Message::Candidate(candidate) if candidate.id.seq == turn.seq => Some(candidate),
        _ => None,
    }
}

fn write(attributes: &mut Attributes, candidate: &Candidate, programs: &BTreeMap<MessageId, u32>) {
    let origin = match candidate.origin {
        Origin::Starter => "starter",
        Origin::Draft => "draft",
        Origin::Repair => "repair",
    };
    attributes
        .set(name::CANDIDATE, candidate.id.to_string())
        .set(name::PARENT, candidate.parent.map(|parent| parent.to_string()))
        .set(name::PROGRAM, programs.get(&candidate.id).copied())
        .set(name::PROGRAM_HASH, candidate.program.as_ref().map(|program| program.hash().0))
        .set(name::ORIGIN, origin)
        .set(name::AUTHOR, candidate.author.0.as_str())
        .set(name::EDIT, candidate.note.as_deref());
}

/// One event for each candidate that a filter looked at: the kept ones in their order, then the dropped ones.
fn rank(draft: &mut Draft, turn: &TurnRecord, attempt: &Finished) {
    let ended_ns = attempt.ended_ns;
    let said = attempt.result.as_deref().unwrap_or_default();
    let report_of = |message: &Message| message.judged().cloned();
    let kept: Vec<Arc<ExecutionReport>> = said.iter().filter_map(report_of).collect();
    let event = |report: &ExecutionReport, rank: Option<usize>| {
        Attributes::new()
            .with(name::CANDIDATE, report.candidate.id.to_string())
            .with(name::SCORE, report.judgement.score())
            .with(name::RANKING, if rank.is_some() { "kept" } else { "dropped" })
            .with(name::RANK, rank)
    };
    for (index, report) in kept.iter().enumerate() {
        draft.event(name::RANKED_EVENT, ended_ns, event(report, Some(index + 1)));
    }
    for report in turn.inbox.iter().filter_map(report_of) {
        if kept.iter().all(|one| one.candidate.id != report.candidate.id) {
            draft.event(name::RANKED_EVENT, ended_ns, event(&report, None));
        }
    }
}
