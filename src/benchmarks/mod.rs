//! Problems from files: our own task format and public data sets, one file per format.
//!
//! Loaders parse, they never run anything. Whatever is wrong with a file is said with its line, and column or field.

mod assertions;
mod benchmark;
mod data_file;
mod error;
mod feedback;
mod guessed;
mod humaneval;
mod humaneval_x;
mod humanevalfix;
mod joined;
mod json_array;
mod known_faults;
mod mbpp;
mod mistake;
mod names;
mod output_rule;
mod prompt_head;
mod python_syntax;
mod quixbugs;
mod records;
mod samples;
mod suites;
mod table_tests;
mod task_file;
mod task_folder;
mod text_file;
mod toml_section;
mod unchecked;

pub use assertions::assertions;
pub use benchmark::{BENCHMARKS, Benchmark, benchmark};
pub use error::BenchmarkError;
pub use feedback::FeedbackSet;
pub use guessed::guessed_tests;
pub use mistake::{Mistake, Mistakes, Place};
pub use samples::{Sample, SampleText, load_samples};
pub use suites::listed_assertions;
pub use task_file::load_task;
pub use task_folder::load_dir;
