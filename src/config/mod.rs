//! Configuration files: where their text comes from, and mistakes that know their place.
//!
//! A file is read as a tree that keeps the place of every key and value ([`Document`]). Whoever gives meaning to it
//! collects [`Mistake`]s rather than stopping at the first.

mod document;
mod embedded;
mod file;
mod item;
mod key;
mod mistake;
mod model_file;
mod model_keys;
mod names;
pub mod parameters;
mod place;
mod reference;

pub use document::Document;
pub use embedded::{embedded_file, embedded_names};
pub use file::{ConfigPath, MAX_FILE_BYTES};
pub use item::{Content, Field, Item};
pub use key::{Form, Key, find_key, is_section, names_below};
pub use mistake::{Mistake, Mistakes};
pub use model_file::{ModelFileError, load_model, model_capabilities};
pub use model_keys::MODEL_KEYS;
pub use names::{did_you_mean, listed, quoted};
pub use place::{Located, Medium, Place, TextSource};
pub use reference::{FileKind, Followed, ReferenceError, follow};
