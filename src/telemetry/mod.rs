//! Traces: a projection of what a conversation's turns wrote down. No span is open while code runs.
