use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::{progress::Progress, terminal};
use crate::{
    conversation::{ConversationEnd, ConversationHead, Observer},
    ids::ConversationId,
    runtime::TurnRecord,
    telemetry::{ConversationTrace, Metrics, Traces},
};

/// What a run's observer does: writes each conversation's trace, counts for the metrics, and moves the progress on.
pub struct Watching {
    traces: Arc<Traces>,
    progress: Arc<Progress>,
    metrics: Option<Arc<Metrics>>,
    open: Mutex<BTreeMap<ConversationId, ConversationTrace>>,
    /// Models that were told to go over their limits.
    told: Mutex<BTreeSet<String>>,
}

impl Watching {
    /// Nothing is watched yet.
    pub fn new(traces: Arc<Traces>, progress: Arc<Progress>, metrics: Option<Arc<Metrics>>) -> Self {
        Self { traces, progress, metrics, open: Mutex::default(), told: Mutex::default() }
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
        if let Some(metrics) = &self.metrics {
            metrics.turn(head, turn);
        }
        for call in turn.attempts.iter().flat_map(|attempt| &attempt.log.calls) {
            let Some(beyond) = call.overshoot() else { continue };
            if self.told.lock().unwrap_or_else(PoisonError::into_inner).insert(call.model.clone()) {
                terminal::talk(&format!(
                    "warning: {} does not keep to `max_output_tokens`: {}, turn {} of {} took {beyond} tokens more, which are \
                     booked in full (told once a model; the traces have every case)",
                    call.model, turn.actor, turn.seq, head.task
                ));
            }
        }
        if turn.role == "executor" {
            self.progress.executed();
        }
    }

    fn ended(&self, head: &ConversationHead, end: &ConversationEnd) {
        if let Some(metrics) = &self.metrics {
            metrics.ended(head, end);
        }
        let trace = self.open().remove(&head.id);
        if let Some(mut trace) = trace {
            trace.end(end);
        }
    }
}
