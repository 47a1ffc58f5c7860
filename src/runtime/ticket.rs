use std::sync::Arc;

use super::{Fault, Finished, Turn, now_unix_nanos};
use crate::{ids::Seq, messages::Body};

/// A delivery: messages of one kind (several only for a gathering actor), what the turn may do, and the duty to answer.
#[derive(actix::Message)]
#[rtype(result = "()")]
pub struct Envelope<M: Body> {
    /// What is delivered.
    pub inbox: Vec<Arc<M>>,
    /// The turn that it gives rise to.
    pub turn: Turn,
    /// Answers exactly once.
    pub ticket: Ticket,
}

/// That an attempt of a turn is over. Goes to the conversation.
#[derive(actix::Message, Debug)]
#[rtype(result = "()")]
pub struct Settled(pub Finished);

/// The duty to answer one delivery: exactly one [`Settled`] reaches the conversation, whatever happens to the task that
/// holds the ticket. Dropped, it says [`Fault::Lost`].
pub struct Ticket {
    seq: Seq,
    attempt: u8,
    started_ns: u64,
    to: Option<actix::Recipient<Settled>>,
}

impl Ticket {
    /// A ticket for one attempt of one turn.
    pub fn new(seq: Seq, attempt: u8, to: actix::Recipient<Settled>) -> Self {
        Self { seq, attempt, started_ns: now_unix_nanos(), to: Some(to) }
    }

    /// Which turn.
    pub fn seq(&self) -> Seq {
        self.seq
    }

    /// 0 for the first attempt, 1 for the second.
    pub fn attempt(&self) -> u8 {
        self.attempt
    }

    /// Answers.
    pub fn settle(mut self, finished: Finished) {
        if let Some(to) = self.to.take() {
            to.do_send(Settled(finished));
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if let Some(to) = self.to.take() {
            to.do_send(Settled(Finished {
                seq: self.seq,
                attempt: self.attempt,
                result: Err(Fault::Lost),
                log: super::TurnLog::default(),
                started_ns: self.started_ns,
                ended_ns: now_unix_nanos(),
            }));
        }
    }
}
