//! What differs from language to language: one file each.

pub(super) mod python;
