//! Prompt rendering (minijinja) and code extraction from replies.

mod assembly;
mod extract;
mod fences;
mod python;
mod unfenced;

pub use assembly::assemble;
pub use extract::extract_program;
