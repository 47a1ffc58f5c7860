//! How an arrangement searches: which programs are repaired next, in which order, how many, and what ends it.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use crate::ids::Generation;

/// Which judged programs are handed to a role that diagnoses or writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Parents {
    /// Those that the edges bring: a ranker's beam; without a ranker every failing one.
    #[default]
    Beam,
    /// The last failing one of the round.
    Last,
    /// The best failing one so far: highest score or reward, earliest on ties, the starter included.
    Best,
    /// Every failing one of the round, in the order in which they were written.
    Failing,
    /// One of all failing ones so far, drawn at random from the run's seed.
    Random,
}

/// In which order the children of several parents are written, and therefore cut by a budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChildOrder {
    /// All children of the first parent, then all of the second.
    #[default]
    ParentMajor,
    /// The first child of each parent, then the second of each.
    RoundRobin,
}

/// What becomes of a program whose text was written before in the conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Duplicates {
    /// It is a program like any other.
    #[default]
    Count,
    /// It is spent but not executed: it takes the results of its twin, and is no parent where another is at hand.
    Skip,
}

/// The search of an arrangement.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Search {
    /// Who is repaired next.
    pub parents: Parents,
    /// Whether a role that opens a round waits until the round before it is over. A ranker waits in any case.
    pub barrier: bool,
    /// Order of the children.
    pub child_order: ChildOrder,
    /// Programs that were there before.
    pub duplicates: Duplicates,
    /// Programs written in each round; empty where only the actors' own numbers hold. The end of the list ends the
    /// conversation.
    pub widths: Vec<u32>,
    /// The round that the first width is of: 0 where somebody drafts, else 1.
    pub first_round: Generation,
}

impl Search {
    /// The programs that may be written in this round; `None` where no schedule says.
    pub fn width(&self, generation: Generation) -> Option<u32> {
        if self.widths.is_empty() {
            return None;
        }
        let place = generation.checked_sub(self.first_round).and_then(|place| usize::try_from(place).ok());
        Some(place.and_then(|place| self.widths.get(place)).copied().unwrap_or(0))
    }

    /// The last round of the schedule.
    pub fn last_round(&self) -> Option<Generation> {
        let rounds = u32::try_from(self.widths.len()).ok()?.checked_sub(1)?;
        Some(self.first_round.saturating_add(rounds))
    }
}

/// What ends a conversation before its budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopOn {
    /// A program that passes every test that feeds back.
    #[default]
    Solved,
    /// Nothing: every program of the budget is written, and all that pass are counted.
    Budget,
}

/// The stop rules of an arrangement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stop {
    /// Whether a program that passes ends it.
    pub on: StopOn,
    /// Rounds without a better program after which it ends.
    pub no_improvement: Option<NonZeroU32>,
}
