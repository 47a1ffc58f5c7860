use std::collections::BTreeSet;

use super::Ledger;
use crate::{
    conversation::Outcome,
    topology::{Requires, Source},
};

impl Ledger {
    /// Delivers the waiting parts of the lowest generation, and of its actors the first in graph order, when nothing of
    /// that or an older generation is queued, running or waiting to retire.
    pub(super) fn gather(&mut self) {
        while self.ending.is_none() {
            let Some((&key, _)) = self.gathers.first_key_value() else { return };
            let (generation, _, actor) = key;
            if self.open.range(..=generation).any(|(_, open)| *open > 0) {
                return;
            }
            let Some(mut parts) = self.gathers.remove(&key) else { return };
            parts.sort_by_key(|part| part.id);
            let spoke: BTreeSet<usize> = parts.iter().map(|part| part.from).collect();
            let missing: Vec<usize> = self
                .plan
                .edges
                .iter()
                .filter(|edge| edge.to == actor)
                .filter_map(|edge| match edge.from {
                    Source::Actor(from) if !spoke.contains(&from) => Some(from),
                    _ => None,
                })
                .collect();
            let node = &self.plan.nodes[actor];
            if node.requires == Requires::All && !missing.is_empty() {
                let silent: Vec<&str> = missing.iter().map(|index| self.plan.nodes[*index].name.0.as_str()).collect();
                let detail = format!("{} missed {} in generation {generation}", node.name, silent.join(", "));
                self.end_as(Outcome::StarvedJoin, Some(detail));
                return;
            }
            let (causes, inbox) = parts.into_iter().map(|part| (part.id, part.message)).unzip();
            self.release(actor, generation, inbox, causes, missing);
        }
    }
}
