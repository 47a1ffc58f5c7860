use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
};

use futures_util::future::BoxFuture;

use super::{progress::Progress, terminal};
use crate::{
    conversation::{ConversationEnd, ConversationHead, Observer},
    runtime::{CallRecord, TurnRecord},
    telemetry::{Metrics, Traces},
};

/// What a run's observer does: has each conversation's trace written, counts for the metrics, and moves the progress on.
pub struct Watching {
    traces: Arc<Traces>,
    progress: Arc<Progress>,
    metrics: Option<Arc<Metrics>>,
    /// What was told of which model.
    told: Mutex<BTreeSet<(&'static str, String)>>,
}

impl Watching {
    /// Nothing is watched yet.
    pub fn new(traces: Arc<Traces>, progress: Arc<Progress>, metrics: Option<Arc<Metrics>>) -> Self {
        Self { traces, progress, metrics, told: Mutex::default() }
    }

    /// Tells what a call shows of its model that one should know, each thing once a model.
    fn warn(&self, head: &ConversationHead, turn: &TurnRecord, call: &CallRecord) {
        let place = || format!("{}, turn {} of {}", turn.actor, turn.seq, head.task);
        let beyond = call.overshoot().map(|beyond| {
            let place = place();
            (
                "limit",
                format!(
                    "does not keep to `max_output_tokens`: {place} took {beyond} tokens more, which are booked in full"
                ),
            )
        });
        let cut = call.cut_prompt().map(|(bytes, seen)| {
            let place = place();
            ("prompt", format!("saw far fewer tokens than were sent, {seen} of a prompt of {bytes} bytes: {place}. Some servers cut prompts that are too long without a word"))
        });
        let same = call.distinct_choices().filter(|distinct| *distinct == 1).map(|_| {
            let (place, choices) = (place(), call.choices.len());
            ("choices", format!("gave {choices} choices that are all the same: {place}. It may ignore `n`, the temperature or the seed"))
        });
        let thinking = Some(call.ran_out_thinking()).filter(|count| *count > 0).map(|_| {
            let place = place();
            ("thinking", format!("ran out of tokens while it was thinking, and gave no answer: {place}. A larger `max_output_tokens` is what helps; it is not asked again"))
        });
        for (what, words) in [beyond, cut, same, thinking].into_iter().flatten() {
            let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
            if told.insert((what, call.model.clone())) {
                terminal::talk(&format!(
                    "warning: {} {words} (told once a model; the traces have every case)",
                    call.model
                ));
            }
        }
    }
}

impl Observer for Watching {
    fn started(&self, head: &Arc<ConversationHead>) {
        self.traces.started(head);
    }

    fn retired(&self, head: &ConversationHead, turn: &Arc<TurnRecord>) {
        self.traces.retired(head, turn);
        if let Some(metrics) = &self.metrics {
            metrics.turn(head, turn);
        }
        for call in turn.attempts.iter().flat_map(|attempt| &attempt.log.calls) {
            self.warn(head, turn, call);
        }
        if turn.role == "executor" {
            self.progress.executed();
        }
    }

    fn ended<'a>(&'a self, head: &'a ConversationHead, end: &'a ConversationEnd) -> BoxFuture<'a, ()> {
        if let Some(metrics) = &self.metrics {
            metrics.ended(head, end);
        }
        self.traces.ended(head, end)
    }
}
