//! Canned replies for tests: text, usage, delay, faults, panics.
