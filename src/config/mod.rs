//! Files that say how Rolecall works: what is embedded in the binary, and how references to files are followed.

mod embedded;
mod model_file;
mod prompt_file;
mod reference;

pub use embedded::{embedded_file, embedded_names};
pub use model_file::{ModelFileError, ModelFileMistake, load_model};
pub use prompt_file::{PromptFileError, load_prompt};
pub use reference::{FileKind, Followed, ReferenceError, follow};
