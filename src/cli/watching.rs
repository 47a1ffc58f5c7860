use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::progress::Progress;
use crate::{
    conversation::{ConversationEnd, ConversationHead, Observer},
    ids::ConversationId,
    runtime::TurnRecord,
    telemetry::{ConversationTrace, Traces},
};

/// What a run's observer does: writes each conversation's trace, and moves the progress on.
pub struct Watching {
    traces: Arc<Traces>,
    progress: Arc<Progress>,
    open: Mutex<BTreeMap<ConversationId, ConversationTrace>>,
}

impl Watching {
    /// Nothing is watched yet.
    pub fn new(traces: Arc<Traces>, progress: Arc<Progress>) -> Self {
        Self { traces, progress, open: Mutex::default() }
    }

    fn open(&self) -> MutexGuard<'_, BTreeMap<ConversationId, ConversationTrace>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for Watching {
    fn started(&self, head: &ConversationHead) {
        let mut trace = self.traces.conversation(Arc::new(head.clone()));
        trace.started();
        self.open().insert(head.id, trace);
    }

    fn retired(&self, head: &ConversationHead, turn: &TurnRecord) {
        if let Some(trace) = self.open().get_mut(&head.id) {
            trace.turn(turn);
        }
        if turn.role == "executor" {
            self.progress.executed();
        }
    }

    fn ended(&self, head: &ConversationHead, end: &ConversationEnd) {
        let trace = self.open().remove(&head.id);
        if let Some(mut trace) = trace {
            trace.end(end);
        }
    }
}
