//! Prompts: their files, their rendering (minijinja), and the extraction of programs from replies.

mod assembly;
mod braces;
mod data;
mod error;
mod extract;
mod fences;
mod names;
mod parts;
mod preamble;
mod prompt;
mod python;
mod reader;
mod template;
mod unfenced;

pub use assembly::assemble;
pub use data::{FailingTest, FaultyLine, PromptData, ReportData, TaskData};
pub use error::PromptError;
pub use extract::extract_program;
pub use prompt::{Prompt, PromptHash};
