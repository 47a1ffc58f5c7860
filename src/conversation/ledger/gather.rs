//! Messages that wait until their round is over, and what happens to them then.

use std::collections::BTreeSet;

use super::{
    Ledger,
    state::{Load, Part},
};
use crate::{
    conversation::Outcome,
    ids::Generation,
    messages::Kind,
    topology::{Requires, Source},
};

impl Ledger {
    /// Delivers the waiting parts of the lowest generation, and of its actors the first in graph order that none of the others
    /// can still send to, when nothing of that or an older generation is queued, running or waiting to retire.
    pub(super) fn gather(&mut self) {
        while self.ending.is_none() {
            let Some((&first, _)) = self.gathers.first_key_value() else { return };
            if self.open.range(..=first.0).any(|(_, open)| *open > 0) {
                return;
            }
            let round: Vec<_> = self.gathers.keys().copied().take_while(|key| key.0 == first.0).collect();
            let is_last = |key: &&(_, _, usize)| !round.iter().any(|other| self.leads_within(other.2, key.2));
            let key = round.iter().find(is_last).copied().unwrap_or(first);
            let (generation, _, actor) = key;
            let Some(mut parts) = self.gathers.remove(&key) else { return };
            parts.sort_by_key(|part| part.id);
            self.hand_out(actor, generation, parts);
        }
    }

    /// Whether messages lead from one actor to another without a new generation.
    fn leads_within(&self, from: usize, to: usize) -> bool {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
        while let Some(at) = open.pop() {
            for edge in self.plan.edges_from(Source::Actor(at)) {
                let (source, target) = (&self.plan.nodes[at].spec, &self.plan.nodes[edge.to].spec);
                let mut kinds = source.emits.iter().filter(|kind| target.accepts.contains(kind));
                if kinds.any(|kind| !target.opens_generation(*kind)) && seen.insert(edge.to) {
                    open.push(edge.to);
                }
            }
        }
        from != to && seen.contains(&to)
    }

    fn hand_out(&mut self, actor: usize, generation: Generation, parts: Vec<Part>) {
        let plan = self.plan.clone();
        let node = &plan.nodes[actor];
        let spoke: BTreeSet<usize> = parts.iter().map(|part| part.from).collect();
        for (kind, parts) in by_kind(parts) {
            let opens = node.spec.opens_generation(kind);
            if opens && self.ends_without_improvement(generation.saturating_sub(1)) {
                return;
            }
            let parts = if opens && plan.search.barrier { self.choose(actor, generation, parts) } else { parts };
            if parts.is_empty() {
                continue;
            }
            if node.gathers {
                let missing = self.silent_sources(actor, &spoke);
                if node.requires == Requires::All && !missing.is_empty() {
                    let silent: Vec<&str> = missing.iter().map(|index| plan.nodes[*index].name.0.as_str()).collect();
                    let detail = format!("{} missed {} in generation {generation}", node.name, silent.join(", "));
                    return self.end_as(Outcome::StarvedJoin, Some(detail));
                }
                let (causes, inbox) = parts.into_iter().map(|part| (part.id, part.message)).unzip();
                self.release(actor, generation, Load { inbox, causes, missing, wanted: None });
            } else if self.deals(actor, kind) {
                self.deal(actor, generation, parts);
            } else {
                parts.into_iter().for_each(|part| self.release(actor, generation, Load::from(part)));
            }
        }
    }

    /// The sources of an actor that are not among those that spoke.
    fn silent_sources(&self, actor: usize, spoke: &BTreeSet<usize>) -> Vec<usize> {
        let into = self.plan.edges.iter().filter(|edge| edge.to == actor);
        into.filter_map(|edge| match edge.from {
            Source::Actor(from) if !spoke.contains(&from) => Some(from),
            _ => None,
        })
        .collect()
    }
}

/// The parts by kind, since a turn takes messages of one kind, in the order of the first of each.
fn by_kind(parts: Vec<Part>) -> Vec<(Kind, Vec<Part>)> {
    let mut kinds: Vec<(Kind, Vec<Part>)> = Vec::new();
    for part in parts {
        let kind = part.message.kind();
        match kinds.iter_mut().find(|(other, _)| *other == kind) {
            Some((_, same)) => same.push(part),
            None => kinds.push((kind, vec![part])),
        }
    }
    kinds
}
