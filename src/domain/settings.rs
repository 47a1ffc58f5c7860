use serde::{Deserialize, Serialize};

/// How many programs a writing turn wants to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Slots {
    /// This many in one turn.
    Fixed(u32),
    /// One a turn, turn after turn, while the program budget lasts.
    Budget,
}
