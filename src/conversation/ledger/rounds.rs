//! How a round begins: which of the judged programs become parents, and in which order their children are written.

use std::collections::BTreeMap;

use super::{
    Ledger,
    state::{Load, Part},
};
use crate::{
    domain::Slots,
    ids::{Generation, MessageId, number},
    messages::Kind,
    topology::{ChildOrder, Parents, StopOn},
};

impl Ledger {
    /// Whether messages of this kind to this actor wait for their round and are dealt out: their order or number follows
    /// from all of them.
    pub(super) fn deals(&self, to: usize, kind: Kind) -> bool {
        let node = &self.plan.nodes[to];
        let in_turn = self.plan.search.child_order == ChildOrder::RoundRobin;
        !node.gathers && kind != Kind::Task && node.spec.writes(kind) && (in_turn || node.shares.contains(&kind))
    }

    /// The parents of a round, of the judged programs that it could begin from. Programs that pass are none, and duplicates
    /// only where there is nothing else. Where every program passes and the conversation goes on all the same, the parents
    /// of the round before are asked again.
    pub(super) fn choose(&mut self, actor: usize, generation: Generation, parts: Vec<Part>) -> Vec<Part> {
        let failing =
            parts.into_iter().filter(|part| part.message.judged().is_none_or(|report| !report.judgement.passed()));
        let (twins, fresh): (Vec<Part>, Vec<Part>) =
            failing.partition(|part| part.message.judged().is_some_and(|report| report.duplicate_of.is_some()));
        let mut round = if fresh.is_empty() { twins } else { fresh };
        let mut chosen = match self.plan.search.parents {
            Parents::Beam | Parents::Failing => round,
            Parents::Last => round.pop().into_iter().collect(),
            Parents::Best => self.best_failing.iter().map(|(_, part)| part.clone()).collect(),
            Parents::Random => self.random_failing(&[1, u64::from(generation), actor as u64]).into_iter().collect(),
        };
        if chosen.is_empty() && self.plan.stop.on == StopOn::Budget {
            chosen = self.last_parents.get(&actor).cloned().unwrap_or_default();
        }
        self.last_parents.insert(actor, chosen.clone());
        chosen
    }

    /// One of all failing programs so far.
    pub(super) fn random_failing(&self, key: &[u64]) -> Option<Part> {
        self.dice(key, self.failing.len()).and_then(|place| self.failing.get(place)).cloned()
    }

    /// A number below `sides` that follows from the conversation's seed and `key`.
    pub(super) fn dice(&self, key: &[u64], sides: usize) -> Option<usize> {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.seed.to_le_bytes());
        for part in key {
            hasher.update(&part.to_le_bytes());
        }
        number(&hasher).checked_rem(sides as u64).and_then(|place| usize::try_from(place).ok())
    }

    /// Hands the messages of a round to a writer: each with the number of programs that it may lead to, in the order in
    /// which the children are to be written.
    pub(super) fn deal(&mut self, to: usize, generation: Generation, parts: Vec<Part>) {
        let numbers = self.numbers_of_children(to, generation, &parts);
        let loads: Vec<(Part, u32)> = match self.plan.search.child_order {
            ChildOrder::ParentMajor => parts.into_iter().zip(numbers).collect(),
            ChildOrder::RoundRobin => in_turn(parts, &numbers),
        };
        for (part, wanted) in loads.into_iter().filter(|(_, wanted)| *wanted > 0) {
            self.release(to, generation, Load { wanted: Some(wanted), ..Load::from(part) });
        }
    }

    /// The actor's own number for each message, or an equal share of the round's width, the first ones one more.
    fn numbers_of_children(&self, to: usize, generation: Generation, parts: &[Part]) -> Vec<u32> {
        let node = &self.plan.nodes[to];
        let shared = parts.first().is_some_and(|part| node.shares.contains(&part.message.kind()));
        let count = u32::try_from(parts.len()).unwrap_or(u32::MAX).max(1);
        match self.plan.search.width(generation).filter(|_| shared) {
            Some(width) => (0..count).map(|place| width / count + u32::from(place < width % count)).collect(),
            None => {
                let own = |part: &Part| match node.slots.get(&part.message.kind()) {
                    Some(Slots::Fixed(number)) => *number,
                    Some(Slots::Budget) | None => 1,
                };
                parts.iter().map(own).collect()
            }
        }
    }
}

/// One child of each parent after the other, each parent's own in the order of its messages.
fn in_turn(parts: Vec<Part>, numbers: &[u32]) -> Vec<(Part, u32)> {
    let mut order: Vec<Option<MessageId>> = Vec::new();
    let mut children: BTreeMap<Option<MessageId>, Vec<Part>> = BTreeMap::new();
    for (part, number) in parts.into_iter().zip(numbers) {
        let parent = part.message.candidate().map(|candidate| candidate.id);
        if !order.contains(&parent) {
            order.push(parent);
        }
        children.entry(parent).or_default().extend(std::iter::repeat_n(part, *number as usize));
    }
    let mut lines: Vec<_> = order.iter().filter_map(|parent| children.remove(parent)).map(Vec::into_iter).collect();
    let mut all = Vec::new();
    loop {
        let before = all.len();
        all.extend(lines.iter_mut().filter_map(Iterator::next).map(|part| (part, 1)));
        if all.len() == before {
            return all;
        }
    }
}
