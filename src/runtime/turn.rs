use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
use tokio_util::sync::CancellationToken;

use super::{
    Allowance, CallInDoubt, ExecutionRecord, Fault, History, Metered, Note, NoteValue, Seat, TurnLog, now_unix_nanos,
};
use crate::{
    domain::{Judgement, Profile, Program, ProgramHash, Task, TestSuite},
    ids::{Generation, MessageId, Seq, keyed, number},
    llm::Purpose,
    sandbox::{Job, SandboxError},
};

/// One turn of a role: what it may use and spend. Cheap to make; dropped when the turn is over.
pub struct Turn {
    seat: Arc<Seat>,
    seq: Seq,
    attempt: u8,
    generation: Generation,
    allowance: Allowance,
    history: History,
    cancel: CancellationToken,
    log: Arc<Mutex<TurnLog>>,
}

impl Turn {
    /// An attempt of a turn that was issued with this allowance and this view of the past.
    pub fn new(
        seat: Arc<Seat>,
        (seq, attempt, generation): (Seq, u8, Generation),
        allowance: Allowance,
        history: History,
        cancel: CancellationToken,
    ) -> Self {
        Self { seat, seq, attempt, generation, allowance, history, cancel, log: Arc::default() }
    }

    /// With the calls that a process made for this attempt which was killed before they were answered.
    #[must_use]
    pub fn with_doubts(self, calls: Vec<CallInDoubt>) -> Self {
        self.log().in_doubt = calls;
        self
    }

    /// Its place in the logical order.
    pub fn seq(&self) -> Seq {
        self.seq
    }

    /// 0 for the first attempt, 1 for the second.
    pub fn attempt(&self) -> u8 {
        self.attempt
    }

    /// Its round.
    pub fn generation(&self) -> Generation {
        self.generation
    }

    /// The problem.
    pub fn task(&self) -> &Arc<Task> {
        &self.seat.scene.task
    }

    /// Who takes it.
    pub fn seat(&self) -> &Arc<Seat> {
        &self.seat
    }

    /// What it may spend.
    pub fn allowance(&self) -> &Allowance {
        &self.allowance
    }

    /// All that had retired when the turn was issued.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// The name of this turn's message number `index`.
    pub fn message_id(&self, index: usize) -> MessageId {
        MessageId { seq: self.seq, index: u32::try_from(index).unwrap_or(u32::MAX) }
    }

    /// The seat's model, metered; `None` for a role without one.
    pub fn model(&self) -> Option<Metered<'_>> {
        self.seat.model.as_ref().map(|model| Metered::new(self, model.as_ref()))
    }

    /// Fires when the conversation is ending and nobody waits for the turn any more.
    pub fn cancelled(&self) -> &CancellationToken {
        &self.cancel
    }

    /// Random numbers of this turn: ChaCha8 keyed by the run's seed, task, sample, purpose and turn.
    pub fn rng(&self, purpose: &str) -> ChaCha8Rng {
        ChaCha8Rng::from_seed(*self.key(purpose, u64::from(self.seq)).finalize().as_bytes())
    }

    /// The seed of a model request: drafts are keyed by their draw, so that they do not depend on who asks or when.
    pub(super) fn request_seed(&self, purpose: Purpose, ordinal: u32) -> u64 {
        let place = match purpose {
            Purpose::Draft => self.allowance.draw,
            Purpose::Diagnose | Purpose::Repair | Purpose::Judge | Purpose::Plan | Purpose::Test => self.seq,
        };
        let key = self.key(purpose.name(), (u64::from(place) << 16) | u64::from(ordinal));
        // 53 bits: exact in every JSON reader.
        number(&key) >> 11
    }

    fn key(&self, purpose: &str, place: u64) -> blake3::Hasher {
        let scene = &self.seat.scene;
        keyed(scene.seed, scene.sample, Some(place), &[&scene.task.dataset, &scene.task.id.0, purpose])
    }

    /// Notes an attribute of the turn's span, under the prefix `rolecall.`.
    pub fn note(&self, key: &str, value: NoteValue) {
        self.log().notes.push(Note { key: key.to_owned(), value });
    }

    /// Runs a program against tests that roles may see.
    ///
    /// # Errors
    /// [`Fault::Infrastructure`] where our machine failed.
    pub async fn execute(&self, program: &Arc<Program>, suite: &Arc<TestSuite>) -> Result<Judgement, Fault> {
        let scene = &self.seat.scene;
        let job = Job::of(&scene.task, program.clone(), suite.clone());
        let started_ns = now_unix_nanos();
        let result = scene.sandbox.judge(&job, &self.cancel).await;
        let (verdict, cpu_ms) =
            result.as_ref().map_or((None, 0), |judgement| (Some(judgement.verdict), judgement.cpu_ms));
        self.log_execution("run_tests", verdict, cpu_ms, result.as_ref().err(), started_ns);
        result.map_err(fault_of)
    }

    /// What a program does while the tests that feed back run; asked for once a program and conversation.
    ///
    /// # Errors
    /// [`Fault::Infrastructure`] where our machine failed.
    pub async fn profile(&self, program: &Arc<Program>) -> Result<Arc<Profile>, Fault> {
        let scene = &self.seat.scene;
        let hash = program.hash();
        let known = lock(&scene.profiles).get(&hash).cloned();
        if let Some(profile) = known {
            return Ok(profile);
        }
        let job = Job::of(&scene.task, program.clone(), scene.task.feedback.clone());
        let started_ns = now_unix_nanos();
        let result = scene.sandbox.profile(&job, &self.cancel).await;
        self.log_execution("profile", None, 0, result.as_ref().err(), started_ns);
        let profile = Arc::new(result.map_err(fault_of)?);
        self.remember_profile(hash, &profile);
        Ok(profile)
    }

    fn remember_profile(&self, hash: ProgramHash, profile: &Arc<Profile>) {
        let mut profiles: MutexGuard<'_, BTreeMap<_, _>> = lock(&self.seat.scene.profiles);
        profiles.insert(hash, profile.clone());
    }

    fn log_execution(
        &self,
        what: &str,
        verdict: Option<crate::domain::Verdict>,
        cpu_ms: u64,
        error: Option<&SandboxError>,
        started_ns: u64,
    ) {
        self.log().executions.push(ExecutionRecord {
            what: what.to_owned(),
            verdict,
            cpu_ms,
            error: error.map(ToString::to_string),
            started_ns,
            ended_ns: now_unix_nanos(),
        });
    }

    pub(super) fn log(&self) -> MutexGuard<'_, TurnLog> {
        lock(&self.log)
    }

    pub(super) fn log_handle(&self) -> Arc<Mutex<TurnLog>> {
        self.log.clone()
    }
}

fn fault_of(error: SandboxError) -> Fault {
    match error {
        SandboxError::Cancelled => Fault::Cancelled,
        other => Fault::Infrastructure(other.to_string()),
    }
}

/// A panic while one of these locks is held loses nothing: they guard appends and inserts only.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
