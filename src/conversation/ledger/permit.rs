//! Which turns may start. Everything read here is a function of what has retired and of what was started before.

use super::{
    Command, Delivery, Ledger,
    spending::Calls,
    state::{Done, Queued, Running},
};
use crate::{
    budget::{BudgetKind, Grant, Meter},
    domain::Slots,
    ids::{Generation, MessageId, Seq},
    messages::{Kind, Message},
    runtime::Allowance,
    topology::Parents,
};

/// Whether the turn at the front of the queue may start.
enum Permit {
    Start(Allowance),
    Wait,
    Skip,
    /// Skip, and start no other turn that asks a model either: none of the actor where its own budget is spent, else none.
    Close {
        own: bool,
    },
}

impl Ledger {
    /// Starts turns from the front of the queue. A permitted turn will run to its end and count.
    pub(super) fn permit(&mut self, commands: &mut Vec<Command>) {
        if self.ending.is_some() {
            self.drop_queue();
            return;
        }
        while self.queue.front().is_some_and(|front| front.seq < self.retired.saturating_add(self.plan.parallel_turns))
        {
            let Some(front) = self.queue.front() else { return };
            match self.look_at(front) {
                Permit::Wait => return,
                Permit::Skip => self.skip(),
                Permit::Close { own } => {
                    let place = (front.seq, front.to);
                    self.close(BudgetKind::ModelCalls, own, None, place);
                    self.skip();
                }
                Permit::Start(allowance) => {
                    if let Some(front) = self.queue.pop_front() {
                        let delivery = self.start(front, allowance);
                        commands.push(Command::Start(Box::new(delivery.clone())));
                        self.running.insert(delivery.seq, Running { delivery, failed: Vec::new() });
                    }
                }
            }
        }
    }

    fn skip(&mut self) {
        if let Some(skipped) = self.queue.pop_front() {
            self.executions_open -= u32::from(self.plan.nodes[skipped.to].spec.evaluates);
            self.done.insert(skipped.seq, Done::Skipped(skipped.generation));
        }
    }

    fn drop_queue(&mut self) {
        for dropped in self.queue.drain(..) {
            if let Some(open) = self.open.get_mut(&dropped.generation) {
                *open -= 1;
            }
        }
        self.executions_open = 0;
        self.gathers.clear();
        self.held.clear();
    }

    fn look_at(&self, front: &Queued) -> Permit {
        let node = &self.plan.nodes[front.to];
        let Some(kind) = front.inbox.first().map(Message::kind) else { return Permit::Skip };
        let asks = self.most_calls.get(&(front.to, kind));
        // A diagnosis is of no use when no program can follow.
        let spent = self.programs.is_exhausted() || self.widths.get(&front.generation).is_some_and(Meter::is_exhausted);
        let in_vain = node.spec.emits.contains(&Kind::Diagnosis) && spent;
        let is_closed = self.closing.is_some() || self.closed.contains_key(&front.to);
        if (asks.is_some() && is_closed) || in_vain {
            return Permit::Skip;
        }
        if node.spec.evaluates && self.waits_for_twin(front) {
            return Permit::Wait;
        }
        let writes = node.spec.writes(kind);
        if writes && node.exclusive && self.exclusive_under_way {
            return Permit::Wait;
        }
        let mut allowance = Allowance { draw: self.draw(front.to, writes), ..Allowance::default() };
        if writes {
            match self.offer(front.generation, self.wanted(front, kind)) {
                Grant::Some(0) | Grant::Nothing => return Permit::Skip,
                Grant::Wait => return Permit::Wait,
                Grant::Some(programs) => allowance.programs = programs,
            }
        }
        if let Some(calls) = asks {
            let wanted = calls.saturating_mul(u32::try_from(front.inbox.len()).unwrap_or(u32::MAX));
            match self.spending.offer(front.to, wanted) {
                Calls::Wait => return Permit::Wait,
                Calls::Nothing { own } => return Permit::Close { own },
                Calls::Some(calls) => allowance.calls = Some(calls),
                Calls::Unlimited => {}
            }
            self.spending.allow(front.to, &mut allowance);
        }
        Permit::Start(allowance)
    }

    /// Whether a program of the same text is being executed whose results this one is to take.
    fn waits_for_twin(&self, front: &Queued) -> bool {
        let history = self.history.snapshot();
        let candidates = front.inbox.iter().filter_map(Message::candidate);
        candidates.filter_map(|candidate| history.twin_of(candidate)).any(|twin| self.executing.contains(&twin))
    }

    /// What is left of the budget, and of the round's width where a schedule gives one.
    fn offer(&self, generation: Generation, wanted: u32) -> Grant {
        let programs = self.programs.offer(wanted);
        let fresh = || self.plan.search.width(generation).map(|width| Meter::new(Some(width)));
        let Some(width) = self.widths.get(&generation).copied().or_else(fresh) else { return programs };
        match (programs, width.offer(wanted)) {
            (Grant::Nothing, _) | (_, Grant::Nothing) => Grant::Nothing,
            (Grant::Wait, _) | (_, Grant::Wait) => Grant::Wait,
            (Grant::Some(programs), Grant::Some(width)) => Grant::Some(programs.min(width)),
        }
    }

    /// How many programs a writing turn wants, for each message that it gathered; the starter takes the place of one
    /// first draft.
    fn wanted(&self, front: &Queued, kind: Kind) -> u32 {
        if let Some(wanted) = front.wanted {
            return wanted;
        }
        let parts = u32::try_from(front.inbox.len()).unwrap_or(u32::MAX);
        let replaced = match front.inbox.first() {
            Some(Message::Task(task)) => u32::from(task.starter.is_some()),
            _ => 0,
        };
        let node = &self.plan.nodes[front.to];
        if let Some(width) = self.plan.search.width(front.generation).filter(|_| node.shares.contains(&kind)) {
            return width.saturating_sub(replaced);
        }
        match node.slots.get(&kind) {
            Some(Slots::Fixed(number)) => number.saturating_sub(replaced).saturating_mul(parts),
            Some(Slots::Budget) | None => 1,
        }
    }

    fn draw(&self, actor: usize, writes: bool) -> u32 {
        if writes { self.slots_reserved } else { self.starts.get(&actor).copied().unwrap_or(0) }
    }

    fn start(&mut self, front: Queued, allowance: Allowance) -> Delivery {
        let node = &self.plan.nodes[front.to];
        let kind = front.inbox.first().map(Message::kind);
        self.programs.reserve(allowance.programs);
        if let Some(width) = self.plan.search.width(front.generation) {
            let meter = self.widths.entry(front.generation).or_insert_with(|| Meter::new(Some(width)));
            meter.reserve(allowance.programs);
        }
        self.slots_reserved += allowance.programs;
        self.spending.reserve(front.to, allowance.calls.unwrap_or(0));
        *self.starts.entry(front.to).or_default() += 1;
        if kind.is_some_and(|kind| node.spec.writes(kind)) {
            self.exclusive_under_way |= node.exclusive;
        }
        if node.spec.evaluates {
            for candidate in front.inbox.iter().filter_map(Message::candidate) {
                self.executing.insert(candidate.id);
                if candidate.id != MessageId::STARTER && self.executed.insert(candidate.id) {
                    self.spend.programs += 1;
                }
            }
        }
        let (inbox, causes) = self.with_parent((front.seq, front.to), front.inbox, front.causes);
        Delivery {
            seq: front.seq,
            attempt: 0,
            to: front.to,
            generation: front.generation,
            inbox,
            causes,
            allowance,
            history: self.history.snapshot(),
            missing: front.missing,
        }
    }

    /// Without a barrier each report opens a round: of the best so far, or of a random one, where the arrangement says so.
    fn with_parent(
        &self,
        (seq, to): (Seq, usize),
        inbox: Vec<Message>,
        causes: Vec<MessageId>,
    ) -> (Vec<Message>, Vec<MessageId>) {
        let opens = inbox.first().is_some_and(|message| self.plan.nodes[to].spec.opens_generation(message.kind()));
        let instead = match self.plan.search.parents {
            _ if !opens || self.plan.search.barrier => None,
            Parents::Best => self.best_failing.as_ref().map(|(_, part)| part.clone()),
            Parents::Random => self.random_failing(&[2, u64::from(seq)]),
            Parents::Beam | Parents::Last | Parents::Failing => None,
        };
        instead.map_or((inbox, causes), |part| (vec![part.message], vec![part.id]))
    }
}
