//! Whether programs may be counted as independent samples of their task, which pass@k asks for.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    conversation::{ConversationRecord, Outcome},
    ids::TaskId,
    messages::{Message, Origin},
};

/// What was seen of the conversations of a run.
#[derive(Debug, Default)]
pub struct Independence {
    stopped: usize,
    drawn_apart: BTreeSet<String>,
    by_task: BTreeMap<TaskId, usize>,
}

impl Independence {
    /// Looks at a conversation.
    ///
    /// # Errors
    /// A program that was made from something that another said in the same conversation.
    pub fn see(&mut self, record: &ConversationRecord) -> Result<(), String> {
        let (task, sample) = (&record.head.task, record.head.sample);
        let writing = || record.turns.iter().filter(|turn| !turn.programs.is_empty());
        for turn in writing() {
            let said = turn.messages().iter();
            let mut drafts = said.filter(|said| matches!(said, Message::Candidate(it) if it.origin == Origin::Draft));
            let is_draft = turn.generation == 0 && drafts.next().is_some();
            if !is_draft || !turn.causes.is_empty() {
                let order = turn.programs.first().map_or(0, |(_, order)| *order);
                let what = if is_draft { "was written after what others said of the task" } else { "is a repair" };
                return Err(format!(
                    "program {order} of task {task}, sample {sample}, {what}: the programs of this run are no independent \
                     samples, and pass@k cannot be computed from them\n  hint: --programs best has one line a conversation"
                ));
            }
            for call in turn.attempts.iter().flat_map(|attempt| &attempt.log.calls) {
                if call.prompt.is_none() {
                    self.drawn_apart.insert(call.model.clone());
                }
            }
        }
        let turns = writing().count();
        self.stopped += usize::from(turns > 1 && record.end.outcome == Outcome::TestsPassed);
        *self.by_task.entry(task.clone()).or_default() += writing().map(|turn| turn.programs.len()).sum::<usize>();
        Ok(())
    }

    /// What speaks against counting them nevertheless.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.stopped > 0 {
            warnings.push(format!(
                "{} conversations may have stopped at their first success: pass@k from their programs is then wrong, since how \
                 many were drawn depends on how they did",
                self.stopped
            ));
        }
        if !self.drawn_apart.is_empty() {
            let models: Vec<&str> = self.drawn_apart.iter().map(String::as_str).collect();
            warnings.push(format!(
                "the built-in model {} proposes no program twice: its drafts are no independent samples",
                models.join(", ")
            ));
        }
        let counts: BTreeSet<usize> = self.by_task.values().copied().collect();
        if let (Some(least), Some(most)) = (counts.first(), counts.last())
            && least < most
        {
            warnings.push(format!(
                "tasks have {least} to {most} programs: pass@k is told only for k up to the least of them"
            ));
        }
        warnings
    }
}
