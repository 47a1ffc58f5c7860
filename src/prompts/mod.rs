//! Prompt rendering (minijinja) and code extraction from replies.
