//! Files that say how Rolecall works: what is embedded in the binary, and how references to files are followed.

mod embedded;
mod prompt_file;

pub use embedded::{embedded_file, embedded_names};
pub use prompt_file::{PromptFileError, load_prompt};
