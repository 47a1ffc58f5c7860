//! What waits to be sent: not spans, but which bytes of which files. However slow the collector is, this stays small and
//! nothing is dropped.

use std::{
    collections::{BTreeMap, VecDeque},
    ops::Bound,
    path::Path,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use super::file::Extent;

/// What became of the spans of a run, counted by ourselves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceSummary {
    /// Spans in the files.
    pub written: u64,
    /// Spans that could not be written to their file.
    pub lost: u64,
    /// Why, the first time.
    pub disk_error: Option<String>,
    /// The collector, without credentials; `None` where spans are only written to files.
    pub endpoint: Option<String>,
    /// Spans that the collector says it took.
    pub acknowledged: u64,
    /// Spans that it refused. They are in the files.
    pub refused: u64,
    /// Spans that were not to be sent, as `OTEL_TRACES_SAMPLER` says. They are in the files.
    pub left_out: u64,
    /// Why the latest delivery failed or was refused in part, where one was.
    pub delivery_error: Option<String>,
}

impl TraceSummary {
    /// Spans that are in the files and that the collector has neither taken nor refused; 0 without a collector.
    pub fn waiting(&self) -> u64 {
        match self.endpoint {
            Some(_) => self.written.saturating_sub(self.acknowledged + self.refused + self.left_out),
            None => 0,
        }
    }

    /// What is to be said of it at the end of a run; `None` where all spans are in the files and there is no collector.
    pub fn words(&self) -> Option<String> {
        let mut words = Vec::new();
        if self.lost > 0 || self.disk_error.is_some() {
            let why = self.disk_error.as_deref().unwrap_or("unknown");
            words.push(format!("traces: {} spans could not be written ({why})", self.lost));
        }
        if let Some(endpoint) = &self.endpoint {
            let (written, taken) = (self.written, self.acknowledged);
            let mut line = format!("traces: {written} spans written, {taken} acknowledged by {endpoint}");
            if self.left_out > 0 {
                line += &format!(", {} left out, as OTEL_TRACES_SAMPLER says", self.left_out);
            }
            if taken + self.left_out < written {
                let why = self.delivery_error.as_deref().unwrap_or("no time was left");
                let (refused, waiting) = (self.refused, self.waiting());
                line += &format!(", {refused} refused, {waiting} not delivered: {why}; the files hold all of them");
            }
            words.push(line);
        }
        (!words.is_empty()).then(|| words.join("\n"))
    }
}

/// The most bytes of encoded lines that are kept. What is beyond is read from the files when its turn comes.
const KEPT_BYTES: usize = 16 << 20;

/// A line as it is sent, so that it need not be read again.
#[derive(Debug)]
pub struct Encoded {
    /// An export request in protobuf. Several of them, one behind the other, are one request.
    pub bytes: Vec<u8>,
    /// Its spans.
    pub spans: usize,
    /// Where its line ends.
    end: u64,
}

#[derive(Default)]
struct State {
    unsent: BTreeMap<Arc<Path>, VecDeque<Extent>>,
    /// By file and where the line begins.
    kept: BTreeMap<(Arc<Path>, u64), Encoded>,
    kept_bytes: usize,
    summary: TraceSummary,
    deadline: Option<Instant>,
    over: bool,
}

/// Shared by the conversations that write and the thread that sends.
#[derive(Default)]
pub struct Outbox {
    state: Mutex<State>,
    changed: Condvar,
}

impl Outbox {
    /// An outbox for `endpoint`, which is only named here; `None` where nothing will be sent.
    pub fn new(endpoint: Option<String>) -> Self {
        let summary = TraceSummary { endpoint, ..TraceSummary::default() };
        Self { state: Mutex::new(State { summary, ..State::default() }), changed: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Counters and ranges are changed in single steps: a panic elsewhere leaves them right.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the counters.
    pub fn count(&self, change: impl FnOnce(&mut TraceSummary)) {
        change(&mut self.state().summary);
    }

    /// The counters as they stand.
    pub fn summary(&self) -> TraceSummary {
        self.state().summary.clone()
    }

    /// A line with `spans` spans was appended to a file. `encoded` gives it as it is sent, where that need not be mended.
    pub fn appended(&self, file: &Arc<Path>, line: Extent, spans: usize, encoded: impl FnOnce() -> Option<Vec<u8>>) {
        // Not while others wait for the lock.
        let encoded = if self.keeps() { encoded() } else { None };
        let mut state = self.state();
        state.summary.written += spans as u64;
        if state.summary.endpoint.is_some() {
            if let Some(bytes) = encoded {
                state.kept_bytes += bytes.len();
                state.kept.insert((file.clone(), line.start), Encoded { bytes, spans, end: line.end });
            }
            let was_idle = state.unsent.is_empty();
            let extents = state.unsent.entry(file.clone()).or_default();
            match extents.back_mut().filter(|last| last.end == line.start) {
                Some(last) => last.end = line.end,
                None => extents.push_back(line),
            }
            drop(state);
            // While it has something to do, the sending thread looks by itself: it is not woken for each turn of a run.
            if was_idle {
                self.changed.notify_all();
            }
        }
    }

    fn keeps(&self) -> bool {
        let state = self.state();
        state.summary.endpoint.is_some() && state.kept_bytes < KEPT_BYTES
    }

    /// The line of `file` that begins at `start`, as it is sent and where it ends, if it is kept and not longer than `most` bytes.
    /// It is kept no longer.
    pub fn take(&self, file: &Arc<Path>, start: u64, most: usize) -> Option<(Encoded, u64)> {
        let mut state = self.state();
        let place = (file.clone(), start);
        if state.kept.get(&place)?.bytes.len() > most {
            return None;
        }
        let encoded = state.kept.remove(&place)?;
        state.kept_bytes -= encoded.bytes.len();
        let end = encoded.end;
        Some((encoded, end))
    }

    /// Whether the line of `file` that begins at `start` is kept.
    pub fn has(&self, file: &Arc<Path>, start: u64) -> bool {
        self.state().kept.contains_key(&(file.clone(), start))
    }

    /// Spans were appended to a file and are not to be sent.
    pub fn left_out(&self, spans: usize) {
        let summary = &mut self.state().summary;
        summary.written += spans as u64;
        summary.left_out += spans as u64;
    }

    /// Spans could not be written. True the first time, when it is worth a message.
    pub fn lost(&self, spans: usize, error: String) -> bool {
        let summary = &mut self.state().summary;
        summary.lost += spans as u64;
        let first = summary.disk_error.is_none();
        summary.disk_error.get_or_insert(error);
        first
    }

    /// Waits until something is unsent, and then a little (`linger`) for more to go with it. `None` when the run is over and
    /// nothing is unsent, or no time is left. Files come in the order of their paths, those after `last` first.
    pub fn wait(&self, last: Option<&Arc<Path>>, linger: Duration) -> Option<Vec<(Arc<Path>, Extent)>> {
        let idle = |state: &mut State| state.unsent.is_empty() && state.deadline.is_none();
        let state = self.changed.wait_while(self.state(), idle).unwrap_or_else(PoisonError::into_inner);
        let gathering = |state: &mut State| state.deadline.is_none();
        let waited = self.changed.wait_timeout_while(state, linger, gathering);
        let state = waited.unwrap_or_else(PoisonError::into_inner).0;
        if state.unsent.is_empty() || state.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return None;
        }
        let after = last.map_or(Bound::Unbounded, |last| Bound::Excluded(last.clone()));
        let later = state.unsent.range::<Arc<Path>, _>((after, Bound::Unbounded));
        let first = last.into_iter().flat_map(|last| state.unsent.range::<Arc<Path>, _>(..=last.clone()));
        let of_file = |(file, extents): (&Arc<Path>, &VecDeque<Extent>)| {
            extents.iter().map(|extent| (file.clone(), *extent)).collect::<Vec<_>>()
        };
        Some(later.chain(first).flat_map(of_file).collect())
    }

    /// The bytes of `file` up to `end` are settled, one way or the other.
    pub fn settled(&self, file: &Arc<Path>, end: u64) {
        let mut state = self.state();
        if let Some(extents) = state.unsent.get_mut(file) {
            extents.retain(|extent| extent.end > end);
            if let Some(first) = extents.front_mut() {
                first.start = first.start.max(end);
            } else {
                state.unsent.remove(file);
            }
        }
    }

    /// Waits before a request is tried again: as long as the collector `asked`, else `backoff`, which the end of the run cuts
    /// short. False when no time is left.
    pub fn pause(&self, backoff: Duration, asked: Option<Duration>) -> bool {
        let from = Instant::now();
        let mut state = self.state();
        loop {
            let now = Instant::now();
            let closing = if state.deadline.is_some() { backoff.min(CLOSING_BACKOFF) } else { backoff };
            let until = from + asked.unwrap_or(closing);
            match state.deadline {
                Some(deadline) if now >= deadline => return false,
                _ if now >= until => return true,
                deadline => {
                    let next = deadline.map_or(until, |deadline| deadline.min(until));
                    let waited = self.changed.wait_timeout(state, next - now);
                    state = waited.unwrap_or_else(PoisonError::into_inner).0;
                }
            }
        }
    }

    /// The sending thread is over, whatever the reason.
    pub fn close(&self) {
        self.state().over = true;
        self.changed.notify_all();
    }

    /// As [`Outbox::drain`], but the limit begins anew whenever some spans are settled: for what may take long as a whole.
    pub fn drain_while_moving(&self, limit: Duration) {
        let mut state = self.state();
        let mut settled = None;
        while !state.over {
            let now = Instant::now();
            let so_far = Some(state.summary.acknowledged + state.summary.refused);
            if settled != so_far {
                settled = so_far;
                state.deadline = Some(now + limit);
                self.changed.notify_all();
            }
            let left = state.deadline.map_or(Duration::ZERO, |deadline| deadline.saturating_duration_since(now));
            if left.is_zero() {
                break;
            }
            let waited = self.changed.wait_timeout(state, left.min(CLOSING_BACKOFF));
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Says that nothing more will be written, and waits for the sending thread, at most for `limit`.
    pub fn drain(&self, limit: Duration) {
        let mut state = self.state();
        state.deadline.get_or_insert(Instant::now() + limit);
        self.changed.notify_all();
        if state.summary.endpoint.is_some() {
            let waited = self.changed.wait_timeout_while(state, limit, |state| !state.over);
            drop(waited.unwrap_or_else(PoisonError::into_inner));
        }
    }
}

/// The longest pause between two tries once the run is over.
const CLOSING_BACKOFF: Duration = Duration::from_millis(250);

#[cfg(test)]
mod tests {
    use super::TraceSummary;

    #[test]
    fn what_went_well_without_a_collector_needs_no_words_and_nothing_else_is_hidden() {
        let mut summary = TraceSummary { written: 10, ..TraceSummary::default() };
        assert_eq!(summary.words(), None);
        summary.endpoint = Some("http://h/v1/traces".to_owned());
        summary.acknowledged = 10;
        let words = summary.words().unwrap_or_default();
        assert_eq!(words, "traces: 10 spans written, 10 acknowledged by http://h/v1/traces");
        summary.acknowledged = 3;
        summary.refused = 2;
        summary.delivery_error = Some("status 400: no".to_owned());
        summary.lost = 1;
        summary.disk_error = Some("x.jsonl: disk full".to_owned());
        let words = summary.words().unwrap_or_default();
        assert!(words.starts_with("traces: 1 spans could not be written (x.jsonl: disk full)\n"), "{words}");
        assert!(words.contains(", 2 refused, 5 not delivered: status 400: no"), "{words}");
    }
}
