//! What is known of a failing program when a role diagnoses or repairs it.

use std::sync::Arc;

use crate::{
    domain::Program,
    ids::MessageId,
    languages::toolchain,
    llm::{Ancestor, Sibling, Subject},
    messages::{Candidate, ExecutionReport},
    prompts::{ExecutionFeedback, Remembered},
    runtime::{Fault, Turn},
};

/// Who is going to read what is known.
#[derive(Clone, Copy)]
pub(super) struct Readers<'a> {
    /// What a prompt shows; `None` where none is rendered.
    pub(super) prompt: Option<&'a ExecutionFeedback>,
    /// Whether the model reads profiles of the program and of all that it was made from.
    pub(super) model: bool,
}

/// A subject of which nothing is known but the task and the program.
pub(super) fn bare(turn: &Turn, program: Option<Arc<Program>>) -> Subject {
    let plan = turn.history().briefing().and_then(|task| task.plan.clone());
    let (seen, examples) = (Arc::new(turn.history().clone()), turn.seat().examples.clone());
    Subject { seen, plan, examples, ..Subject::of(turn.task().clone(), program) }
}

/// The subject of a report, with what its readers want to know. Programs are profiled only where one of them does, for a
/// prompt only in languages that have profiles.
pub(super) async fn of_report(report: &ExecutionReport, readers: Readers<'_>, turn: &Turn) -> Result<Subject, Fault> {
    let mut subject = bare(turn, report.candidate.program.clone());
    subject.judgement = Some(report.judgement.clone());
    subject.siblings = siblings(report.candidate.id, turn);
    let has_profiles = toolchain(turn.task().language).is_some_and(|toolchain| toolchain.has_profiles());
    let prompt_reads = has_profiles && readers.prompt.is_some_and(ExecutionFeedback::needs_profile);
    let model_reads = readers.model && subject.program.is_some();
    if let (Some(program), true) = (&subject.program, model_reads || prompt_reads) {
        subject.profile = Some(turn.profile(program).await?);
    }
    if model_reads || readers.prompt.is_some_and(|feedback| feedback.history != Remembered::None) {
        subject.ancestors = ancestors(&report.candidate, model_reads, turn).await?;
    }
    Ok(subject)
}

/// What a candidate was made from, its parent first, as far as the history knows.
async fn ancestors(candidate: &Arc<Candidate>, profiled: bool, turn: &Turn) -> Result<Vec<Ancestor>, Fault> {
    let mut ancestors = Vec::new();
    let mut child = candidate.clone();
    while let Some(report) = child.parent.and_then(|parent| turn.history().report_of(parent)) {
        if let Some(program) = &report.candidate.program {
            let profile = if profiled { Some(turn.profile(program).await?) } else { None };
            ancestors.push(Ancestor {
                program: program.clone(),
                judgement: report.judgement.clone(),
                profile,
                siblings: if profiled { siblings(report.candidate.id, turn) } else { Vec::new() },
                diagnosis: turn.history().diagnosis_behind(&child).map(|diagnosis| diagnosis.text.clone()),
            });
        }
        child = report.candidate.clone();
    }
    Ok(ancestors)
}

fn siblings(parent: MessageId, turn: &Turn) -> Vec<Sibling> {
    turn.history().judged_children(parent).iter().filter_map(|report| as_sibling(report)).collect()
}

fn as_sibling(report: &ExecutionReport) -> Option<Sibling> {
    let program = report.candidate.program.clone()?;
    Some(Sibling { program, judgement: report.judgement.clone() })
}
