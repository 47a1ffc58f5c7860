use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use super::{Command, Event, Ledger, Opening};
use crate::{
    ids::Seq,
    runtime::{Finished, TurnRecord},
    topology::Plan,
};

/// The turns of a conversation that was held before, from its finished attempts alone: nobody takes a turn. `None` where
/// these do not lead to its end.
pub fn recall(plan: Arc<Plan>, opening: Opening, rows: Vec<Finished>) -> Option<Vec<Arc<TurnRecord>>> {
    let mut stored: BTreeMap<(Seq, u8), Finished> = rows.into_iter().map(|row| ((row.seq, row.attempt), row)).collect();
    let mut ledger = Ledger::new(plan);
    let mut turns = Vec::new();
    let mut events = VecDeque::from([Event::Begin(opening)]);
    while let Some(event) = events.pop_front() {
        for command in ledger.apply(event) {
            match command {
                Command::Start(delivery) => {
                    events.push_back(Event::Settled(stored.remove(&(delivery.seq, delivery.attempt))?));
                }
                Command::Retired(record) => turns.push(record),
                Command::End(_) => return Some(turns),
            }
        }
    }
    None
}
