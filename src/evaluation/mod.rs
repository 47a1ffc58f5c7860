//! Runs of many conversations: what is held, in which order, at most how many at once; limits measured before; what
//! their results prove.

pub mod bundle;
mod calibration;
mod placebos;
pub mod records;
mod runner;
mod shard;
pub mod statistics;

pub use calibration::{calibrate, uncalibrated};
pub use placebos::{PlaceboError, placebos};
pub use runner::{RunError, Selection, run_all};
pub use shard::{Shard, ShardError};
