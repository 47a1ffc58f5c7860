use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use super::text::without_addresses;
use crate::domain::{Excerpt, Limits};

/// One output stream of a candidate, kept up to its limit, and an alarm when it is longer.
#[derive(Clone)]
pub(super) struct Capture {
    kept: Arc<Mutex<Kept>>,
    flood: Arc<Flood>,
}

/// Raised once a stream is longer than allowed.
#[derive(Default)]
pub(super) struct Flood {
    raised: AtomicBool,
    alarm: Notify,
}

impl Flood {
    /// Waits until a stream is too long.
    pub(super) async fn raised(&self) {
        while !self.has_risen() {
            self.alarm.notified().await;
        }
    }

    /// Whether a stream is too long.
    pub(super) fn has_risen(&self) -> bool {
        self.raised.load(Ordering::Acquire)
    }

    fn raise(&self) {
        self.raised.store(true, Ordering::Release);
        self.alarm.notify_one();
    }
}

struct Kept {
    bytes: Vec<u8>,
    most: usize,
    shown: usize,
}

impl Capture {
    /// An empty capture under `limits`, which raises `flood`.
    pub(super) fn new(limits: &Limits, flood: Arc<Flood>) -> Self {
        let size = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        let kept = Kept { bytes: Vec::new(), most: size(limits.output_bytes), shown: size(limits.output_kept_bytes) };
        Self { kept: Arc::new(Mutex::new(kept)), flood }
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads a pipe to its end in a task of its own, which the caller awaits or aborts.
    pub(super) fn follow(&self, pipe: OwnedFd) -> std::io::Result<JoinHandle<()>> {
        let mut pipe = Receiver::from_owned_fd(pipe)?;
        let capture = self.clone();
        Ok(tokio::spawn(async move {
            let mut chunk = vec![0; 16 << 10];
            // An error is an end: the stream is evidence for people, never a verdict.
            while let Ok(count @ 1..) = pipe.read(&mut chunk).await {
                let mut kept = capture.lock();
                let room = kept.most - kept.bytes.len();
                kept.bytes.extend_from_slice(&chunk[..count.min(room)]);
                if count > room {
                    drop(kept);
                    capture.flood.raise();
                    return;
                }
            }
        }))
    }

    /// Everything that was read; never more than the limit.
    pub(super) fn bytes(&self) -> Vec<u8> {
        self.lock().bytes.clone()
    }

    /// Head and tail as text without addresses, and without what `hidden` names. Of a program that a limit killed (`cut`) the head alone is shown, since how far it came
    /// depends on timing.
    pub(super) fn excerpt(&self, cut: bool, hidden: &[PathBuf]) -> Excerpt {
        let kept = self.lock();
        let (bytes, total_bytes) = (kept.bytes.as_slice(), kept.bytes.len() as u64);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let half = kept.shown / 2;
        let (shown, truncated) = match (bytes.len() <= kept.shown, cut) {
            (true, _) => (text(bytes), cut && !bytes.is_empty()),
            (false, true) => (text(&bytes[..half]) + "\n[cut]\n", true),
            (false, false) => {
                let (head, tail) = (&bytes[..half], &bytes[bytes.len() - half..]);
                let left_out = bytes.len() - 2 * half;
                (format!("{}\n[{left_out} bytes left out]\n{}", text(head), text(tail)), true)
            }
        };
        let mut text = without_addresses(&shown);
        for path in hidden {
            text = text.replace(&*path.to_string_lossy(), "...");
        }
        Excerpt { text, total_bytes, truncated }
    }
}
