//! The past of a conversation, as roles may read it: all that had retired when their turn started, by count, never by
//! the clock. The second attempt and a resumed run see the same snapshot.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::TurnRecord;
use crate::{
    domain::ProgramHash,
    ids::{ActorName, Generation, MessageId},
    llm::PastPrograms,
    messages::{Assessment, Candidate, Diagnosis, ExecutionReport, Message, TaskMessage},
};

/// Something and when it became known: the number of turns that had retired just after.
type Known<T> = (usize, T);

#[derive(Default)]
struct Inner {
    turns: Vec<Arc<TurnRecord>>,
    tasks: Vec<Known<Arc<TaskMessage>>>,
    candidates: BTreeMap<MessageId, Known<Arc<Candidate>>>,
    reports: BTreeMap<MessageId, Known<Arc<ExecutionReport>>>,
    assessments: Vec<Known<Arc<Assessment>>>,
    diagnoses: BTreeMap<MessageId, Vec<Known<Arc<Diagnosis>>>>,
    children: BTreeMap<MessageId, Vec<Known<MessageId>>>,
    texts: BTreeMap<ProgramHash, usize>,
    /// The first candidate of each text, by [`Program::normal_hash`](crate::domain::Program::normal_hash).
    /// Kept only where duplicates are told.
    twins: Option<BTreeMap<ProgramHash, Known<MessageId>>>,
}

/// The append-only log that the ledger writes and snapshots are taken of.
#[derive(Default)]
pub struct HistoryLog(Mutex<Inner>);

impl HistoryLog {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        // A panic while the lock is held cannot leave the maps half changed in a way that matters: appends only.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An empty log; where `tells_duplicates`, snapshots know the [twin](History::twin_of) of a candidate.
    pub fn new(tells_duplicates: bool) -> Self {
        Self(Mutex::new(Inner { twins: tells_duplicates.then(BTreeMap::new), ..Inner::default() }))
    }

    /// Makes the starter known from the very beginning.
    pub fn add_starter(&self, starter: &Arc<Candidate>) {
        self.inner().add_candidate(0, starter);
    }

    /// Appends a retired turn. `altered` says of diagnoses that did not reach anybody as they were said what was heard in
    /// their place; `None` where nothing was.
    pub fn push(&self, turn: Arc<TurnRecord>, altered: &BTreeMap<MessageId, Option<Arc<Diagnosis>>>) {
        let mut inner = self.inner();
        let at = inner.turns.len() + 1;
        for message in turn.messages() {
            match message {
                Message::Task(task) => inner.tasks.push((at, task.clone())),
                Message::Candidate(candidate) => inner.add_candidate(at, candidate),
                Message::ExecutionReport(report) => {
                    inner.reports.entry(report.candidate.id).or_insert_with(|| (at, report.clone()));
                }
                Message::Assessment(assessment) => inner.assessments.push((at, assessment.clone())),
                Message::Diagnosis(diagnosis) => {
                    let of = diagnosis.report.candidate.id;
                    let heard = altered.get(&diagnosis.id).cloned().unwrap_or_else(|| Some(diagnosis.clone()));
                    inner.diagnoses.entry(of).or_default().extend(heard.map(|heard| (at, heard)));
                }
            }
        }
        inner.turns.push(turn);
    }

    /// Everything that has retired so far.
    pub fn snapshot(self: &Arc<Self>) -> History {
        History { retired: self.inner().turns.len(), log: self.clone() }
    }
}

impl Inner {
    fn add_candidate(&mut self, at: usize, candidate: &Arc<Candidate>) {
        self.candidates.entry(candidate.id).or_insert_with(|| (at, candidate.clone()));
        if let Some(parent) = candidate.parent {
            self.children.entry(parent).or_default().push((at, candidate.id));
        }
        if let Some(program) = &candidate.program {
            self.texts.entry(program.hash()).or_insert(at);
            if let Some(twins) = &mut self.twins {
                twins.entry(program.normal_hash()).or_insert((at, candidate.id));
            }
        }
    }
}

/// A snapshot of the past.
#[derive(Clone)]
pub struct History {
    log: Arc<HistoryLog>,
    retired: usize,
}

impl History {
    /// A history in which nothing has happened, for tests of roles.
    pub fn empty() -> Self {
        Arc::new(HistoryLog::default()).snapshot()
    }

    /// How many turns had retired.
    pub fn retired(&self) -> usize {
        self.retired
    }

    fn known<T: Clone>(&self, entry: Option<&Known<T>>) -> Option<T> {
        entry.filter(|(at, _)| *at <= self.retired).map(|(_, value)| value.clone())
    }

    /// The candidate of this id, once its writer's turn has retired.
    pub fn candidate(&self, id: MessageId) -> Option<Arc<Candidate>> {
        self.known(self.log.inner().candidates.get(&id))
    }

    /// What the tests said of a candidate.
    pub fn report_of(&self, candidate: MessageId) -> Option<Arc<ExecutionReport>> {
        self.known(self.log.inner().reports.get(&candidate))
    }

    /// The task as the last analyst or tester said it; `None` where there is none.
    pub fn briefing(&self) -> Option<Arc<TaskMessage>> {
        self.log.inner().tasks.iter().rev().find_map(|entry| self.known(Some(entry)))
    }

    /// Whether programs whose text was there before are told from others.
    pub fn tells_duplicates(&self) -> bool {
        self.log.inner().twins.is_some()
    }

    /// The first candidate of the same text, where `candidate` is not that one itself; `None` where duplicates are not told.
    pub fn twin_of(&self, candidate: &Candidate) -> Option<MessageId> {
        let (inner, program) = (self.log.inner(), candidate.program.as_ref()?);
        let first = self.known(inner.twins.as_ref()?.get(&program.normal_hash()))?;
        (first != candidate.id).then_some(first)
    }

    /// The diagnoses written of a candidate, in logical order.
    pub fn diagnoses_of(&self, candidate: MessageId) -> Vec<Arc<Diagnosis>> {
        let inner = self.log.inner();
        inner.diagnoses.get(&candidate).into_iter().flatten().filter_map(|entry| self.known(Some(entry))).collect()
    }

    /// Every assessment so far, in logical order.
    pub fn assessments(&self) -> Vec<Arc<Assessment>> {
        self.log.inner().assessments.iter().filter_map(|entry| self.known(Some(entry))).collect()
    }

    /// The diagnosis that a repair was written from, as it was delivered; `None` where its writer had none of that program,
    /// or several.
    pub fn diagnosis_behind(&self, repair: &Candidate) -> Option<Arc<Diagnosis>> {
        let inner = self.log.inner();
        let turns = &inner.turns[..self.retired];
        let writer = turns.binary_search_by_key(&repair.id.seq, |turn| turn.seq).ok().and_then(|at| turns.get(at))?;
        let mut diagnoses = writer.inbox.iter().filter_map(|message| match message {
            Message::Diagnosis(diagnosis) => Some(diagnosis),
            _ => None,
        });
        let mut fitting = diagnoses.by_ref().filter(|diagnosis| Some(diagnosis.report.candidate.id) == repair.parent);
        let found = fitting.next().cloned();
        found.filter(|_| fitting.next().is_none())
    }

    /// The repairs of a candidate with what the tests said of them, in logical order; those not yet judged are left out.
    pub fn judged_children(&self, parent: MessageId) -> Vec<Arc<ExecutionReport>> {
        let inner = self.log.inner();
        let children = inner.children.get(&parent).into_iter().flatten();
        children
            .filter_map(|entry| self.known(Some(entry)))
            .filter_map(|child| self.known(inner.reports.get(&child)))
            .collect()
    }

    /// What `actor` said in its last turn of an earlier generation than `before`.
    pub fn last_said_by(&self, actor: &ActorName, before: Generation) -> Vec<Message> {
        let inner = self.log.inner();
        inner.turns[..self.retired]
            .iter()
            .rev()
            .find(|turn| turn.actor == *actor && turn.generation < before)
            .map(|turn| turn.messages().to_vec())
            .unwrap_or_default()
    }
}

impl PastPrograms for History {
    fn contains(&self, hash: &ProgramHash) -> bool {
        self.log.inner().texts.get(hash).is_some_and(|at| *at <= self.retired)
    }
}
