//! Defects that public implementations had: one test each, so that ours never have them.

mod prompts;
