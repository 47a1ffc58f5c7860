//! An interval, and how sure one wants to be of it.

use super::{StatisticsError, checks::inner_share};

/// From `low` to `high`, both included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// A level of confidence between 0 and 1, such as 0.95.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level(f64);

impl Level {
    /// What reports use unless told otherwise.
    pub const PERCENT_95: Self = Self(0.95);

    /// A level; it must be between 0 and 1.
    pub fn new(level: f64) -> Result<Self, StatisticsError> {
        inner_share("confidence level", level).map(Self)
    }

    /// The level as a number.
    pub fn get(self) -> f64 {
        self.0
    }

    /// What an interval leaves out on each of its sides.
    pub(super) fn tail(self) -> f64 {
        (1.0 - self.0) / 2.0
    }
}
