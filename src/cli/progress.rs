//! What a run shows while it goes on: bars on a terminal, a plain line for each conversation elsewhere.

use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressStyle};

use super::terminal;
use crate::conversation::ConversationRecord;

/// Progress of one run.
pub struct Progress {
    bar: Option<ProgressBar>,
    planned: usize,
    finished: AtomicU64,
    solved: AtomicU64,
    programs: AtomicU64,
}

impl Progress {
    /// For so many conversations.
    pub fn new(planned: usize) -> Self {
        let bar = terminal::is_watched().then(|| {
            let bar = ProgressBar::new(planned as u64);
            let template = "{spinner} {pos}/{len} conversations {wide_bar} {msg} {elapsed}";
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        Self { bar, planned, finished: AtomicU64::new(0), solved: AtomicU64::new(0), programs: AtomicU64::new(0) }
    }

    /// A turn of an executor took effect.
    pub fn executed(&self) {
        self.programs.fetch_add(1, Relaxed);
        self.refresh();
    }

    fn refresh(&self) {
        if let Some(bar) = &self.bar {
            let (solved, programs) = (self.solved.load(Relaxed), self.programs.load(Relaxed));
            bar.set_message(format!("{solved} solved, {programs} executions"));
        }
    }

    /// A conversation is over.
    pub fn finished(&self, record: &ConversationRecord) {
        let finished = self.finished.fetch_add(1, Relaxed) + 1;
        let end = &record.end;
        self.solved.fetch_add(u64::from(end.solved), Relaxed);
        if let Some(bar) = &self.bar {
            bar.set_position(finished);
            self.refresh();
        } else {
            let solved = if end.solved { "solved" } else { "not solved" };
            let detail = end.outcome_detail.as_deref().map(|detail| format!(": {detail}")).unwrap_or_default();
            let sample = if record.head.sample > 0 { format!(" #{}", record.head.sample) } else { String::new() };
            terminal::talk(&format!(
                "[{finished}/{}] {}{sample}: {solved}, {}{detail}, {} programs",
                self.planned, record.head.task, end.outcome, end.spend.programs
            ));
        }
    }

    /// Takes the bar away.
    pub fn close(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
