use super::{AnsweredFrom, CallRecord, Turn, charging::LOST, now_unix_nanos};
use crate::{
    budget::Reservation,
    llm::{ChatReply, ModelError},
};

/// A call that was sent, with what is held for it. It is written down and booked exactly once: with its answer, or, where the
/// turn ends before (a panic, a turn that is dropped), as lost and at its worst.
pub(super) struct UnderWay<'a> {
    turn: &'a Turn,
    open: Option<(CallRecord, Reservation)>,
}

impl<'a> UnderWay<'a> {
    pub(super) fn new(turn: &'a Turn, record: CallRecord, reservation: Reservation) -> Self {
        Self { turn, open: Some((record, reservation)) }
    }

    /// Its answer was not asked for just now.
    pub(super) fn from(mut self, from: AnsweredFrom) -> Self {
        if let Some((record, _)) = &mut self.open {
            record.answered_from = Some(from);
        }
        self
    }

    /// The call is over.
    pub(super) fn end(mut self, outcome: Result<ChatReply, ModelError>) -> Result<ChatReply, ModelError> {
        let Some((mut record, reservation)) = self.open.take() else { return outcome };
        match &outcome {
            Ok(reply) => {
                record.served_model = Some(reply.model.clone());
                record.response_id = reply.id.clone();
                record.choices = reply.choices.clone();
                record.usage = reply.usage;
                record.attempts = reply.attempts.clone();
            }
            Err(error) => {
                record.attempts = error.attempts().to_vec();
                record.error = Some((error.kind(), error.to_string()));
            }
        }
        self.book(record, reservation);
        outcome
    }

    fn book(&self, mut record: CallRecord, reservation: Reservation) {
        record.ended_ns = now_unix_nanos();
        reservation.settle(record.charge());
        self.turn.log().calls.push(record);
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        if let Some((mut record, reservation)) = self.open.take() {
            record.error = Some((LOST.to_owned(), "the turn ended while the call was under way".to_owned()));
            self.book(record, reservation);
        }
    }
}
