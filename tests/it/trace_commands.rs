//! `rolecall trace`: files written by hand-made and by real conversations, listed, shown, followed, compared, drawn,
//! pushed.

mod diff;
mod docs;
mod follow;
mod hostile;
mod lineage;
mod list;
mod push;
pub mod scene;
mod show;
