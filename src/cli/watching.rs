use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
};

use super::{progress::Progress, terminal};
use crate::{
    conversation::{ConversationEnd, ConversationHead, Observer},
    runtime::TurnRecord,
    telemetry::{Metrics, OpenTraces, Traces},
};

/// What a run's observer does: has each conversation's trace written, counts for the metrics, and moves the progress on.
pub struct Watching {
    traces: OpenTraces,
    progress: Arc<Progress>,
    metrics: Option<Arc<Metrics>>,
    /// Models that were told to go over their limits.
    told: Mutex<BTreeSet<String>>,
}

impl Watching {
    /// Nothing is watched yet.
    pub fn new(traces: Arc<Traces>, progress: Arc<Progress>, metrics: Option<Arc<Metrics>>) -> Self {
        Self { traces: OpenTraces::new(traces), progress, metrics, told: Mutex::default() }
    }
}

impl Observer for Watching {
    fn started(&self, head: &ConversationHead) {
        self.traces.started(head);
    }

    fn retired(&self, head: &ConversationHead, turn: &TurnRecord) {
        self.traces.retired(head, turn);
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
        self.traces.ended(head, end);
    }
}
