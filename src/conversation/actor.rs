//! The post office: hosts a ledger, delivers what it commands, and tells it what came back. Peers never hold each
//! other's addresses: a role emits, the ledger routes, and this actor delivers through the receiver's typed inlet.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use actix::{Actor, ActorContext, ActorFutureExt, AsyncContext, Context, Handler, WrapFuture};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::{
    CallsInDoubt, Company, ConversationHead, StopReason,
    ledger::{Command, Delivery, Ending, Event, Ledger, Opening},
};
use crate::{
    agents,
    ids::Seq,
    messages::{Assessment, Candidate, Diagnosis, ExecutionReport, Kind, Message, TaskMessage},
    runtime::{
        CallInDoubt, Cast, Envelope, Fault, Finished, Routed, Seat, Settled, Ticket, Turn, TurnLog, TurnRecord,
        now_unix_nanos,
    },
};

/// What a conversation leaves behind when it is over.
pub(super) struct Left {
    pub(super) turns: Vec<Arc<TurnRecord>>,
    pub(super) ending: Ending,
}

/// Stops a conversation from outside.
#[derive(actix::Message)]
#[rtype(result = "()")]
pub(super) struct StopNow(pub(super) StopReason);

pub(super) struct Conversation {
    pub(super) company: Arc<Company>,
    pub(super) head: Arc<ConversationHead>,
    pub(super) seats: Vec<Arc<Seat>>,
    pub(super) opening: Option<Opening>,
    pub(super) cancel: CancellationToken,
    pub(super) leave: Option<oneshot::Sender<Left>>,
    ledger: Ledger,
    cast: Vec<Result<Cast, Fault>>,
    stored: BTreeMap<(Seq, u8), Finished>,
    in_doubt: BTreeMap<(Seq, u8), Vec<CallInDoubt>>,
    turns: Vec<Arc<TurnRecord>>,
}

impl Conversation {
    pub(super) fn new(
        company: Arc<Company>,
        head: Arc<ConversationHead>,
        seats: Vec<Arc<Seat>>,
        opening: Opening,
        known: (Vec<Finished>, CallsInDoubt),
        cancel: CancellationToken,
        leave: oneshot::Sender<Left>,
    ) -> Self {
        let ledger = Ledger::new(company.plan.clone());
        let (rows, doubts) = known;
        let mut in_doubt: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (place, call) in doubts {
            in_doubt.entry(place).or_default().push(call);
        }
        Self {
            company,
            head,
            seats,
            opening: Some(opening),
            cancel,
            leave: Some(leave),
            ledger,
            cast: Vec::new(),
            stored: rows.into_iter().map(|row| ((row.seq, row.attempt), row)).collect(),
            in_doubt,
            turns: Vec::new(),
        }
    }

    /// Gives an event to the ledger and does what follows. A turn that the journal holds already is not taken again.
    fn happen(&mut self, event: Event, context: &mut Context<Self>) {
        let mut events = VecDeque::from([event]);
        while let Some(event) = events.pop_front() {
            for command in self.ledger.apply(event) {
                match command {
                    Command::Start(delivery) => match self.stored.remove(&(delivery.seq, delivery.attempt)) {
                        Some(finished) => events.push_back(Event::Settled(finished)),
                        None => self.deliver(*delivery, context),
                    },
                    Command::Retired(record) => {
                        self.company.observer.retired(&self.head, &record);
                        self.turns.push(record);
                    }
                    Command::End(ending) => self.end(*ending, context),
                }
            }
        }
    }

    /// What cannot be written down must not be bought: the conversation stops as if it had been interrupted, and goes on
    /// another time from what is stored.
    fn break_off(&mut self, mut finished: Finished, context: &mut Context<Self>) {
        finished.result = Err(Fault::Cancelled);
        self.happen(Event::Stop(StopReason::Cancelled), context);
        self.cancel.cancel();
        self.happen(Event::Settled(finished), context);
    }

    fn end(&mut self, ending: Ending, context: &mut Context<Self>) {
        self.cast.clear();
        if let Some(leave) = self.leave.take() {
            // Nobody waits any more only when the whole run is being dropped.
            let _ = leave.send(Left { turns: std::mem::take(&mut self.turns), ending });
        }
        context.stop();
    }

    fn deliver(&mut self, delivery: Delivery, context: &mut Context<Self>) {
        let kind = delivery.inbox.first().map(Message::kind);
        match kind {
            Some(Kind::Task) => self.post::<TaskMessage>(delivery, context),
            Some(Kind::Candidate) => self.post::<Candidate>(delivery, context),
            Some(Kind::ExecutionReport) => self.post::<ExecutionReport>(delivery, context),
            Some(Kind::Assessment) => self.post::<Assessment>(delivery, context),
            Some(Kind::Diagnosis) => self.post::<Diagnosis>(delivery, context),
            None => {}
        }
    }

    fn post<M: Routed>(&mut self, delivery: Delivery, context: &mut Context<Self>) {
        let in_doubt = self.in_doubt.remove(&(delivery.seq, delivery.attempt)).unwrap_or_default();
        let (seq, attempt) = (delivery.seq, delivery.attempt);
        let address = context.address();
        let inlet = self.cast.get(delivery.to).map(|cast| cast.as_ref().map(|cast| cast.inlet::<M>().cloned()));
        let fault = match inlet {
            Some(Ok(Some(inlet))) => {
                let seat = self.seats[delivery.to].clone();
                let place = (seq, attempt, delivery.generation);
                let turn = Turn::new(seat, place, delivery.allowance, delivery.history, self.cancel.child_token())
                    .with_doubts(in_doubt);
                let inbox = delivery.inbox.iter().filter_map(M::from_message).collect();
                let ticket = Ticket::new(seq, attempt, address.recipient());
                inlet.do_send(Envelope { inbox, turn, ticket });
                return;
            }
            Some(Err(fault)) => fault.clone(),
            Some(Ok(None)) | None => Fault::Rule(format!("nobody accepts {} here", M::KIND)),
        };
        let now = now_unix_nanos();
        let log = TurnLog::default();
        address.do_send(Settled(Finished { seq, attempt, result: Err(fault), log, started_ns: now, ended_ns: now }));
    }
}

impl Actor for Conversation {
    type Context = Context<Self>;

    fn started(&mut self, context: &mut Context<Self>) {
        // Mail is bounded by the ledger: never more deliveries are under way than the arrangement allows.
        for (node, seat) in self.company.plan.nodes.iter().zip(&self.seats) {
            let cast = match agents::role(node.spec.name) {
                Some(role) => role.start(&node.settings, seat.clone()),
                None => Err(Fault::Setup(format!("there is no role `{}`", node.spec.name))),
            };
            self.cast.push(cast);
        }
        if let Some(opening) = self.opening.take() {
            self.happen(Event::Begin(opening), context);
        }
    }
}

impl Handler<Settled> for Conversation {
    type Result = ();

    fn handle(&mut self, Settled(finished): Settled, context: &mut Context<Self>) {
        match finished.result {
            // A turn that was cut off by a cancellation is not an answer: it is taken again when the conversation resumes.
            Err(Fault::Cancelled) => self.happen(Event::Settled(finished), context),
            Err(Fault::NotKept(_)) => self.break_off(finished, context),
            _ => {
                let finished = Arc::new(finished);
                let stored = self.company.journal.append(self.head.id, finished.clone());
                // It takes effect once it is stored.
                let then = stored.into_actor(self).map(|stored, conversation, context| {
                    let finished = Arc::unwrap_or_clone(finished);
                    match stored {
                        Ok(()) => conversation.happen(Event::Settled(finished), context),
                        Err(_) => conversation.break_off(finished, context),
                    }
                });
                context.spawn(then);
            }
        }
    }
}

impl Handler<StopNow> for Conversation {
    type Result = ();

    fn handle(&mut self, StopNow(reason): StopNow, context: &mut Context<Self>) {
        self.happen(Event::Stop(reason), context);
    }
}
