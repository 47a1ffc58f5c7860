//! What ends a run from outside: Ctrl-C, SIGTERM, SIGUSR1, a time that is up, a store that fails.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::{exit::Exit, terminal};

/// Whether and why a run is to stop. Open conversations end then, and a run that is kept can be resumed.
#[derive(Clone)]
pub struct Stop {
    token: CancellationToken,
    why: Arc<OnceLock<Exit>>,
    /// What ends then, in words.
    open: &'static str,
}

impl Stop {
    /// Listens from now on. The first signal ends the run cleanly, the second at once.
    pub fn listen() -> Self {
        Self::listen_for("open conversations")
    }

    /// The same, where something else than conversations is open.
    pub fn listen_for(open: &'static str) -> Self {
        let stop = Self { token: CancellationToken::new(), why: Arc::default(), open };
        let kinds = [
            (SignalKind::interrupt(), "interrupted", Exit::Interrupted),
            (SignalKind::terminate(), "told to end", Exit::Terminated),
            (SignalKind::user_defined1(), "told to park", Exit::Parked),
        ];
        for (kind, words, exit) in kinds {
            // Where signals cannot be listened to, they end the process as they always do.
            if let Ok(signals) = signal(kind) {
                actix::spawn(stop.clone().obey(signals, words, exit));
            }
        }
        stop
    }

    async fn obey(self, mut signals: Signal, words: &'static str, exit: Exit) {
        while signals.recv().await.is_some() {
            if self.token.is_cancelled() {
                std::process::exit(i32::from(exit.code()));
            }
            terminal::talk(&format!("{words}: ending {} (once more to leave at once)", self.open));
            self.because(exit);
        }
    }

    /// Stops for a reason, which is the run's exit code. The first reason counts.
    pub fn because(&self, exit: Exit) {
        self.why.get_or_init(|| exit);
        self.token.cancel();
    }

    /// Parks the run after so many seconds.
    pub fn after(&self, secs: f64) {
        let stop = self.clone();
        actix::spawn(async move {
            tokio::time::sleep(Duration::from_secs_f64(secs)).await;
            stop.because(Exit::Parked);
        });
    }

    /// Fires when the run is to stop.
    pub fn token(&self) -> &CancellationToken {
        &self.token
    }

    /// Why it stops, if it does.
    pub fn reason(&self) -> Option<Exit> {
        self.why.get().copied()
    }
}
