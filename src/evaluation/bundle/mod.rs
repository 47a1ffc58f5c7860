//! A run as one file: what it was asked to do, all that was said, and what came of it, so that others can make it again.

mod archive;
mod contents;
mod differences;

pub use archive::{Archive, ArchiveError};
pub use contents::{Bundle, BundleError, BundledConversation, FORMAT, Input, hash};
pub use differences::{Difference, compare};
