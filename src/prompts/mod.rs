//! Prompts: their files, their rendering (minijinja), and the extraction of programs from replies.

mod assembly;
mod braces;
mod data;
mod error;
mod extract;
mod feedback;
mod fences;
mod fit;
mod names;
mod parts;
mod preamble;
mod prompt;
mod python;
mod reader;
mod report;
mod template;
mod unfenced;

pub use assembly::assemble;
pub use data::{Attempt, AttemptResult, FaultyLine, PromptData, SolvedTask, TaskData};
pub use error::PromptError;
pub use extract::{extract_program, extract_program_of_cut};
pub use feedback::{ExecutionFeedback, Remembered, ReportForm, ShownTests};
pub use fit::{Fitting, fit};
pub use prompt::{Prompt, PromptHash};
pub use report::{FailingTest, ReportData, SuspiciousLine, VariableValues};
