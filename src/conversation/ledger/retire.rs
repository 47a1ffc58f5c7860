//! How a turn takes effect: budgets are settled, the best is updated, stop rules are read, messages are routed.

use super::{
    Command, Delivery, Ledger,
    state::{Done, Load, Part},
};
use crate::{
    conversation::Outcome,
    domain::Slots,
    ids::{Generation, MessageId},
    messages::{Kind, Message},
    runtime::{Fault, Finished, TurnRecord},
    topology::{Source, StopOn, When},
};

impl Ledger {
    pub(super) fn retire(&mut self, done: Done, commands: &mut Vec<Command>) {
        match done {
            Done::Skipped(generation) => self.close_one(generation),
            Done::Taken(delivery, attempts) => {
                self.close_one(delivery.generation);
                let record = self.record(&delivery, attempts);
                self.settle_budgets(&delivery, &record);
                let messages = record.messages().to_vec();
                let fault = record.fault().cloned();
                self.write_down(delivery.to, record, commands);
                if let Some(fault) = fault {
                    self.fail(&delivery, &fault);
                }
                self.judge_all(&delivery, &messages);
                self.read_stop_rules();
                if self.ending.is_none() {
                    self.route_all(&delivery, messages);
                }
            }
        }
    }

    fn close_one(&mut self, generation: Generation) {
        if let Some(open) = self.open.get_mut(&generation) {
            *open -= 1;
            if *open == 0 {
                self.open.remove(&generation);
            }
        }
    }

    fn record(&mut self, delivery: &Delivery, attempts: Vec<Finished>) -> TurnRecord {
        let node = &self.plan.nodes[delivery.to];
        let mut record = TurnRecord {
            seq: delivery.seq,
            actor: node.name.clone(),
            role: node.spec.name.to_owned(),
            generation: delivery.generation,
            causes: delivery.causes.clone(),
            inbox: delivery.inbox.clone(),
            allowance: delivery.allowance,
            missing: delivery.missing.iter().map(|index| self.plan.nodes[*index].name.clone()).collect(),
            attempts,
            programs: Vec::new(),
        };
        let wrote = delivery.inbox.first().is_some_and(|message| node.spec.writes(message.kind()));
        if wrote {
            let ids: Vec<MessageId> =
                record.messages().iter().filter_map(Message::candidate).map(|candidate| candidate.id).collect();
            for id in ids {
                let number = u32::try_from(self.numbers.len()).unwrap_or(u32::MAX).saturating_add(1);
                self.numbers.insert(id, number);
                record.programs.push((id, number));
            }
        }
        record
    }

    fn settle_budgets(&mut self, delivery: &Delivery, record: &TurnRecord) {
        let node = &self.plan.nodes[delivery.to];
        let spend = record.spend();
        let written = u32::try_from(record.programs.len()).unwrap_or(u32::MAX);
        self.programs.settle(delivery.allowance.programs, written);
        if let Some(width) = self.widths.get_mut(&delivery.generation) {
            width.settle(delivery.allowance.programs, written);
        }
        for candidate in delivery.inbox.iter().filter_map(Message::candidate).filter(|_| node.spec.evaluates) {
            self.executing.remove(&candidate.id);
        }
        let refusal = record.attempts.last().and_then(|attempt| attempt.log.refused.clone());
        let refusal = refusal.map(|refusal| {
            let is_own = || self.spending.is_own(delivery.to, refusal.kind, &record.charge());
            (refusal.shared.is_none() && is_own(), refusal)
        });
        self.spending.settle(delivery.to, record);
        self.spend += spend;
        if delivery.inbox.first().is_some_and(|message| node.spec.writes(message.kind())) && node.exclusive {
            self.exclusive_under_way = false;
        }
        self.executions_open = self.executions_open.saturating_sub(u32::from(node.spec.evaluates));
        if let Some((own, refusal)) = refusal {
            self.close(refusal.kind, own, refusal.shared.as_deref(), (delivery.seq, delivery.to));
        }
    }

    fn fail(&mut self, delivery: &Delivery, fault: &Fault) {
        if self.ending.is_some() {
            return;
        }
        let name = &self.plan.nodes[delivery.to].name;
        let outcome = if *fault == Fault::Cancelled { Outcome::Cancelled } else { Outcome::Failed };
        let often = if self.panics_too_often(delivery.to) { " (too many panics)" } else { "" };
        self.end_as(outcome, Some(format!("{name}, turn {}{often}: {fault}", delivery.seq)));
        if let Some(ending) = &mut self.ending {
            ending.infrastructure_error = matches!(fault, Fault::Infrastructure(_));
            ending.refused = fault.is_refusal();
            ending.deterministic = false;
        }
    }

    /// All programs of the budget have been executed: there is nothing that a further turn could lead to. Where a critic
    /// says which is the best, it has its say on the last ones first; the silence after that is the end.
    fn read_stop_rules(&mut self) {
        if self.plan.rewards() {
            return;
        }
        if self.ending.is_none() && self.programs.is_exhausted() && self.executions_open == 0 {
            let unrouted = self.done.values().next().is_some();
            if !unrouted && self.running.is_empty() && self.numbers.len() == self.executed.len() {
                self.end_as(Outcome::BudgetPrograms, self.programs_limit());
            }
        }
    }

    fn route_all(&mut self, delivery: &Delivery, messages: Vec<Message>) {
        let is_task = delivery.inbox.first().is_some_and(|message| message.kind() == Kind::Task);
        let silent = messages.is_empty();
        let is_starter = delivery.inbox.iter().filter_map(Message::candidate).any(|one| one.id == MessageId::STARTER)
            && delivery.causes.is_empty();
        for (index, message) in messages.into_iter().enumerate() {
            let id = MessageId { seq: delivery.seq, index: u32::try_from(index).unwrap_or(u32::MAX) };
            self.route(delivery, id, &message);
        }
        if is_starter {
            self.starter_open = self.starter_open.saturating_sub(1);
            if self.starter_open == 0 {
                self.release_held();
            }
        }
        let drafts_on = self.plan.nodes[delivery.to].slots.get(&Kind::Task) == Some(&Slots::Budget);
        if is_task && drafts_on && !silent && !self.programs.is_exhausted() {
            self.release(delivery.to, 0, Load { inbox: delivery.inbox.clone(), ..Load::default() });
        }
    }

    fn route(&mut self, delivery: &Delivery, id: MessageId, message: &Message) {
        let plan = self.plan.clone();
        let kind = message.kind();
        for edge in plan.edges_from(Source::Actor(delivery.to)) {
            let target = &plan.nodes[edge.to];
            if !target.spec.accepts.contains(&kind) {
                continue;
            }
            let opens = target.spec.opens_generation(kind);
            let waits = opens && plan.search.barrier;
            let carries = carries(edge.when, message);
            // Where a program that passes does not end the conversation, a round in which every program passes still
            // leads to the next one.
            let keeps_round = waits && !carries && edge.when == When::Failed && plan.stop.on == StopOn::Budget;
            if !carries && !keeps_round {
                continue;
            }
            let generation = delivery.generation + u32::from(opens);
            let most = [plan.budget.generations, plan.search.last_round()].into_iter().flatten().min();
            if most.is_some_and(|most| generation > most) {
                self.cut_by_generations = true;
                continue;
            }
            let is_over = || self.open.range(..=delivery.generation).all(|(_, open)| *open == 0);
            if opens && !waits && is_over() && self.ends_without_improvement(delivery.generation) {
                return;
            }
            let Some(message) = self.carried(edge, message) else { continue };
            let part = Part { from: delivery.to, id, message };
            if target.gathers || waits || self.deals(edge.to, kind) {
                self.gathers.entry((generation, target.rank, edge.to)).or_default().push(part);
            } else {
                self.release(edge.to, generation, Load::from(part));
            }
        }
    }
}

fn carries(when: When, message: &Message) -> bool {
    match (when, message.judged()) {
        (When::Always, _) | (_, None) => true,
        (When::Failed, Some(report)) => !report.judgement.passed(),
        (When::Passed, Some(report)) => report.judgement.passed(),
    }
}
